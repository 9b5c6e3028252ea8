"""Pairs whose source has no words are trained on like others; none is translated (`features.sources`)."""

import numpy as np
import pytest
import torch
from factories import run_settings, side
from inference.tiny import RECURRENT, random_examples, write_bundle

from nmtcore.config.components import HeadSelectionSettings, TreeHeadSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples
from nmtcore.inference.bundle import load_bundle
from nmtcore.model.batch import make_batch

SYSTEMS = {
    "nmt": [],
    "tree": [HeadSelectionSettings()],
    "separate": [HeadSelectionSettings(annotations="separate")],
    "hard": [HeadSelectionSettings(hard=True)],
    "one set": [HeadSelectionSettings(annotations="one_set")],
    "flat": [HeadSelectionSettings(weights="flat")],
    "transformer": [TreeHeadSettings()],
}
SETTINGS = DecodingSettings(beam=3, batch_sentences=4)


@pytest.fixture(params=SYSTEMS)
def folder(request, tmp_path):
    base = {} if request.param == "transformer" else RECURRENT
    return write_bundle(tmp_path / "model", run_settings(*SYSTEMS[request.param], **base))


def some_empty(count: int = 9) -> Examples:
    """Make examples some of whose sources are empty, and some of whose targets are."""
    examples = random_examples(count, seed=3, longest=4)
    assert 0 < (examples.source.ids.lengths == 0).sum() < count
    target = side([[5, 6, 7][: i % 4] for i in range(count)])
    return Examples(id=examples.id, source=examples.source, target=target)


def test_empty_sources_are_trained_on(folder):
    model, examples = load_bundle(folder).model.double().train(), some_empty()
    empty = np.flatnonzero(examples.source.ids.lengths == 0)
    for rows in (np.arange(len(examples)), empty):
        batch = make_batch(examples, rows, tuple(model.components))
        model.zero_grad()
        losses = model.loss(batch, label_smoothing=0.1)
        losses.objective().backward()
        gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
        assert all(torch.isfinite(gradient).all() for gradient in gradients)
        assert torch.isfinite(losses.nll_sum)
