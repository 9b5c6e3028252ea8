"""Sources without words: they are translated, parsed, trained on and observed like others, in any batch."""

import numpy as np
import pytest
import torch
from factories import run_settings, side
from inference.tiny import RECURRENT, random_examples, write_bundle

from nmtcore.config.components.settings import HeadSelectionSettings, TreeHeadSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples
from nmtcore.inference.attention import attention_rows, load_observed_bundle
from nmtcore.inference.bundle import load_bundle
from nmtcore.inference.parse import parse_examples, translate_and_parse
from nmtcore.inference.search import translate_examples
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


def test_empty_sources_are_translated_and_parsed(folder):
    model, examples = load_bundle(folder).model, some_empty()
    translations, parses = translate_and_parse(model, examples, SETTINGS)
    empty = np.flatnonzero(examples.source.ids.lengths == 0)
    for rows in (np.arange(len(examples)), empty):
        again, _ = translate_and_parse(model, examples.take(rows), SETTINGS)
        assert [n_best[0].tokens for n_best in again] == [translations[row][0].tokens for row in rows]
    if model.parser is None:
        assert parses is None
        return
    assert [len(parse.argmax) for parse in parses] == [
        len(set(examples.source.word_of_subword[row].tolist())) for row in range(len(examples))
    ]
    assert [len(parse.one_root) for parse in parse_examples(model, examples.take(empty))] == [0] * len(empty)


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


def test_empty_sources_are_observed(folder):
    bundle, examples = load_observed_bundle(folder), some_empty()
    translations = [hypotheses[0].tokens for hypotheses in translate_examples(bundle.model, examples, SETTINGS)]
    (rows_of_examples,) = attention_rows(bundle, examples, translations)
    for words, rows in zip(examples.source.word_counts.tolist(), rows_of_examples, strict=True):
        for row in rows:
            assert np.isfinite(row["weights"]).all()
            if row["layer"] is None:
                assert row["weights"].sum(axis=1) == pytest.approx(
                    [float(word >= 0) for word in row["key_words"]], abs=1e-5
                )
                assert max(row["key_words"]) == words - 1
