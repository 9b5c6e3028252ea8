"""Fixtures: small models, and random sentence pairs with random trees."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

from nmtcore.config.components import COMPONENTS
from nmtcore.config.features import ComponentSettings
from nmtcore.features.examples import Examples
from nmtcore.features.ragged import Ragged
from nmtcore.model.base import TranslationModel
from nmtcore.model.testing import RANDOM_LABELS, random_examples, random_features, small_model

REQUIRED = {
    "depparse": {"layer": 1},
    "diagonalparse": {"layer": 1},
    "factors": {"columns": {"upos": 3, "deprel": 5}},
    "pascal": {"heads": 1},
    "tree_distance": {"maximum": 1},
}
"""Settings of components without a default."""

DROPOUTS = {"dropout": 0.5, "embedding_dropout": 0.4, "attention_dropout": 0.3, "activation_dropout": 0.2}
"""A different probability at each place."""


@pytest.fixture(scope="session")
def example() -> Callable[[str], ComponentSettings]:
    """example(name): settings of a registered component, with its defaults where possible."""
    return lambda name: COMPONENTS.build_named(name, REQUIRED.get(name, {}), where="test")


@pytest.fixture(scope="session")
def draw() -> Callable[..., Examples]:
    """draw(count, seed): random sentence pairs."""
    return random_examples


@pytest.fixture(scope="session")
def redraw() -> Callable[..., Examples]:
    """redraw(examples, seed): the same sentence pairs, with another annotation of the first source sentence."""

    def redrawn(examples: Examples, seed: int) -> Examples:
        side, features = examples.source, {}
        subword_counts = [np.bincount(words) for words in side.word_of_subword]
        for name, new in random_features(np.random.default_rng(seed), subword_counts).items():
            old = side.features[name]
            features[name] = Ragged.from_lists([new[0], *list(old)[1:]], old.values.dtype)
        return dataclasses.replace(examples, source=dataclasses.replace(side, features=features))

    return redrawn


@pytest.fixture(scope="session")
def labels() -> dict:
    """The label vocabularies of the examples of `draw`, for `build_components`."""
    return RANDOM_LABELS


@pytest.fixture(scope="session")
def make() -> Callable[..., TranslationModel]:
    """make(*component settings, extra_components=components, **settings): a small float64 model in evaluation mode.

    In training mode, it has dropout everywhere.
    """
    return lambda *components, **settings: small_model(*components, **DROPOUTS | settings)
