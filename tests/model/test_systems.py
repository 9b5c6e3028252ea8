"""Every system that the configuration names, and every pair of components that can stand together."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from factories import forced_logits
from named_components import by_name

from nmtcore.config.components import COMPONENTS, check_composition
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.transformer import TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch

PROJECT = Project.load(Path(__file__).parents[2] / "config")
SIZES = {"width": 32, "heads": 8, "encoder_layers": 6, "decoder_layers": 2}
"""Of models with any two components; systems have the heads and encoder layers that they are configured with."""


def run_of(system):
    """The run of a system on the first data set that has what it reads."""
    for dataset in sorted(PROJECT.dataset_files):
        try:
            return PROJECT.run(dataset, system, "paper", 1)
        except MissingAnnotation:
            continue
    raise AssertionError(f"no data set has what {system} reads")


def check(model, draw):
    """A batch of one equals a batch of many, decoding with cached keys equals decoding without, and it can learn."""
    examples = draw(5, seed=3)
    rows = np.array([3, 0, 4, 2])
    batch = make_batch(examples, rows, model.components)
    with torch.no_grad():
        full = forced_logits(model, batch)
        state = model.start(model.encode(batch))
        for t in range(full.size(1)):
            torch.testing.assert_close(model.step(batch.target_input_BT[:, t], state), full[:, t])
        for i, row in enumerate(rows):
            one = make_batch(examples, np.array([row]), model.components)
            logits = forced_logits(model, one)[0]
            torch.testing.assert_close(full[i, : len(logits)], logits)
    losses = model.train().loss(batch, label_smoothing=0.1)
    losses.objective().backward()
    assert all(torch.isfinite(part.sum) for part in losses.parts)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name


@pytest.mark.parametrize("system", sorted(PROJECT.system_entries))
def test_every_configured_system(system, make, draw):
    run = run_of(system)
    sizes = {"width": 4 * run.model.heads, "heads": run.model.heads, "encoder_layers": run.model.encoder_layers}
    check(make(*run.components.values(), **{**SIZES, **sizes}, norm=run.model.norm), draw)


def composition(first, second, example):
    components = (example(first), example(second))
    try:
        check_composition(by_name(*components), TransformerSettings(**SIZES), where="test")
    except UserError as error:
        clash = str(error)
    else:
        return components
    assert "both claim" in clash
    return None


@pytest.mark.parametrize(("first", "second"), list(combinations(sorted(COMPONENTS), 2)))
def test_every_pair_of_components(first, second, example, make, draw):
    for one, other in ((first, second), (second, first)):
        components = composition(one, other, example)
        if components is not None:
            check(make(*components, **SIZES), draw)
