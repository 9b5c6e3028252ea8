"""Tests of every configured system, and of every pair of components that can be combined."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from model.comparing import check_batching, check_steps
from named_components import by_name

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.components import COMPONENTS, check_composition
from nmtcore.config.project import Project
from nmtcore.config.training import BASES, TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.batch import make_batch
from nmtcore.model.linear import Linear

PROJECT = Project.load(Path(__file__).parents[2] / "config")
SYSTEMS = [
    name for name in PROJECT.system_entries if not {name, PROJECT.system(name).start_from} & {*PROJECT.systems.imported}
]
"""Those on a published model, which is not here, have components that others have, too."""
SIZES = {"width": 32, "heads": 8, "encoder_layers": 2, "decoder_layers": 1}
"""Sizes of the models; configured systems keep their numbers of heads and encoder layers."""


def run_of(system):
    """Return the run of a system on the first data set with the annotation that it needs."""
    for dataset in sorted(PROJECT.dataset_files):
        try:
            return PROJECT.run(dataset, system, "paper", 1)
        except MissingAnnotation:
            continue
    raise AssertionError(f"no data set has the annotation that {system} needs")


def check(model, draw):
    """Check linear layers, that outputs do not depend on batch size or caching, and that all gradients are finite."""
    layers = [module for module in model.modules() if isinstance(module, torch.nn.Linear)]
    assert all(isinstance(layer, Linear) for layer in layers), "a layer that oneDNN cannot compute"
    examples = draw(5, seed=3)
    check_batching(model, examples)
    check_steps(model, examples)
    batch = make_batch(examples, np.arange(5), model.components)
    losses = model.train().loss(batch, label_smoothing=0.1)
    losses.objective().backward()
    assert all(torch.isfinite(part.sum) for part in losses.parts)
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        # The bias of keys adds a constant to the scores of a query, so its gradient is zero except for rounding.
        assert parameter.grad.abs().max() > 1e-12 or name.endswith(".keys.bias"), name


@pytest.mark.parametrize("system", sorted(SYSTEMS))
def test_every_configured_system(system, make, draw):
    run = run_of(system)
    sizes = SIZES
    if run.base == "transformer":
        own = {"width": 4 * run.model.heads, "heads": run.model.heads, "encoder_layers": run.model.encoder_layers}
        sizes = {**SIZES, **own, "norm": run.model.norm}
    check(make(*run.components.values(), base=run.base, **sizes), draw)


def compatible_components(first, second, example):
    """Return the settings of two components in this order, or None if they need two bases or one part of the model."""
    components = (example(first), example(second))
    bases = [base for base in BASES if all(base in component.bases for component in components)]
    base, settings = (bases or ["transformer"])[0], TransformerSettings(**SIZES)
    try:
        check_composition(by_name(*components), base, settings, where="test")
    except UserError as error:
        clash = str(error)
    else:
        return components
    assert "both claim" in clash or (not bases and "needs the base" in clash)
    return None


@pytest.mark.parametrize(("first", "second"), list(combinations(sorted(COMPONENTS), 2)))
def test_every_pair_of_components(first, second, example, make, draw):
    for order in ((first, second), (second, first)):
        components = compatible_components(*order, example)
        if components is not None:
            check(make(*components, **SIZES), draw)
