"""Fixtures: small models, and random sentence pairs with random trees."""

import dataclasses
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from nmtcore.config.components import COMPONENTS, component_settings
from nmtcore.config.components.base import ComponentSettings
from nmtcore.features.examples import Examples
from nmtcore.features.ragged import Ragged
from nmtcore.model.base import TranslationModel
from nmtcore.model.testing import RANDOM_LABELS, random_examples, random_features, small_model

VALUES = {int: 1, float: 0.5, bool: True, str: "deprel"}
"""Values by type for component settings without a default."""


def _example(name: str) -> ComponentSettings:
    cls = COMPONENTS[name]
    hints = typing.get_type_hints(cls)
    required = [f for f in dataclasses.fields(cls) if f.default is f.default_factory is dataclasses.MISSING]
    return component_settings(name, {f.name: _value(hints[f.name]) for f in required}, where="test")


def _value(hint: Any) -> Any:
    """Return a value of a type that occurs in settings."""
    first = next(iter(typing.get_args(hint)), None)
    if typing.get_origin(hint) is typing.Literal:
        return first
    if typing.get_origin(hint) is tuple:
        return [_value(first)]
    return VALUES[hint if first is None else first]


@pytest.fixture(scope="session")
def example() -> Callable[[str], ComponentSettings]:
    """example(name): settings of a registered component, with its defaults where possible."""
    return _example


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def draw() -> Callable[..., Examples]:
    """draw(count, seed): random sentence pairs."""
    return random_examples


@pytest.fixture(scope="session")
def redraw() -> Callable[..., Examples]:
    """redraw(examples, seed): the same sentence pairs, with another annotation of the first source sentence."""

    def redrawn(examples: Examples, seed: int) -> Examples:
        side = examples.source
        subword_counts = [
            np.bincount(words) for words in np.split(side.word_of_subword.values, side.word_of_subword.offsets[1:-1])
        ]
        features = {}
        for name, new in random_features(np.random.default_rng(seed), subword_counts).items():
            old = side.features[name]
            first_end = old.offsets[1]
            features[name] = Ragged(np.concatenate([new.values[:first_end], old.values[first_end:]]), old.offsets)
        return dataclasses.replace(examples, source=dataclasses.replace(side, features=features))

    return redrawn


@pytest.fixture(scope="session")
def labels() -> dict:
    """The label vocabularies of the examples of `draw`, for `build_components`."""
    return RANDOM_LABELS


@pytest.fixture(scope="session")
def make() -> Callable[..., TranslationModel]:
    """make(*component settings, extra_components=components, **settings): a small float64 model in evaluation mode."""
    return small_model
