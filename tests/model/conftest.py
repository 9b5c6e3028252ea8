"""Fixtures: small models, and random sentence pairs with random trees."""

import dataclasses
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from factories import build_tiny_model, run_settings

from nmtcore.config.bases import BASES
from nmtcore.config.components import COMPONENTS, component_settings
from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.model.base import TranslationModel

VOCABULARY = 23
VALUES = {int: 1, float: 0.5, bool: True, str: "deprel"}
"""Values by type for component settings without a default."""
MAIN_LABELS = {
    "deprel": ["<none>", "<unk>", "nsubj", "obj", "root", "punct"],
    "upos": ["<none>", "<unk>", "NOUN", "VERB"],
    "xpos": ["<none>", "<unk>", "NNFS1-----A----", "VB-S---3P-AA---", "Z:-------------"],
}
LABEL_COLUMNS = [name for feature in FEATURES.values() for name in feature.labels]
SIDE_LABELS = MAIN_LABELS | {n: ["<none>", "<unk>", "a", "b", "c"] for n in LABEL_COLUMNS if n not in MAIN_LABELS}
LABELS = {"source": SIDE_LABELS, "target": SIDE_LABELS}
"""Label vocabularies of all columns of the feature files that have labels, by side."""


def _governors(random: np.random.Generator, words: int) -> list[int]:
    """Draw a random tree, often non-projective or with several roots; sometimes return no annotation."""
    if random.random() < 0.15:
        return [-2] * words
    order = random.permutation(words)
    governors = [0] * words
    for i, word in enumerate(order):
        governors[word] = int(order[random.integers(0, i)]) if i and random.random() < 0.8 else -1
    return governors


def _feature_columns(random: np.random.Generator, subword_counts: list[np.ndarray]) -> dict[str, Ragged]:
    """Draw the columns of a feature file, consistent with each other; `subword_counts` has the subwords per word."""
    columns: dict[str, list] = {name: [] for name in ("governor", "parent_position")}
    columns |= {name: [] for name in SIDE_LABELS}
    # Another generator, so that adding a column does not change the sentences.
    other = np.random.Generator(random.bit_generator.jumped())
    for counts in subword_counts:
        governors = _governors(random, len(counts))
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        parents = [word if governor < 0 else governor for word, governor in enumerate(governors)]
        columns["governor"].append(governors)
        columns["parent_position"].append((first + (counts - 1) / 2)[parents])
        annotated = governors[0] != -2
        for name, labels in SIDE_LABELS.items():
            generator = random if name in MAIN_LABELS else other
            columns[name].append(generator.integers(1, len(labels), len(counts)) * annotated)
    dtypes = {"parent_position": np.float32}
    return {name: Ragged.from_lists(lists, dtypes.get(name, np.int32)) for name, lists in columns.items()}


def _draw(count: int, seed: int, *, longest: int = 7) -> Examples:
    random = np.random.default_rng(seed)

    def side(feature_generator: np.random.Generator) -> SideExamples:
        subword_counts = [random.integers(1, 4, random.integers(1, longest + 1)) for _ in range(count)]
        words = [np.repeat(np.arange(len(counts)), counts) for counts in subword_counts]
        return SideExamples(
            ids=Ragged.from_lists([random.integers(5, VOCABULARY, len(w)) for w in words], np.int32),
            word_of_subword=Ragged.from_lists(words, np.int32),
            features=_feature_columns(feature_generator, subword_counts),
        )

    # The features of the targets have a generator of their own, so that they do not change the sentences.
    return Examples(id=np.arange(count), source=side(random), target=side(np.random.default_rng((seed, 1))))


def _make(
    *components: ComponentSettings,
    base: str | None = None,
    joint: bool = False,
    extra_components: tuple = (),
    seed: int = 0,
    **settings,
) -> TranslationModel:
    base = base or next(base for base in BASES if all(base in component.bases for component in components))
    sizes = {"width": 16, "feed_forward": 24, "heads": 4, "encoder_layers": 3, "decoder_layers": 2, "dropout": 0.0}
    if base == "recurrent":
        settings = {name: value for name, value in settings.items() if name in ("width", "layers", "dropout")}
        sizes = {"width": 16, "layers": 2, "dropout": 0.0}
    model = BASES[base](**{**sizes, **settings})
    segmentation = SegmentationSettings(kind="bpe", size=6, joint=joint)
    run = run_settings(*components, base=base, model=model, segmentation=segmentation)
    model = build_tiny_model(
        run, vocabulary=VOCABULARY, seed=seed, labels=LABELS, extra_components=extra_components
    ).double()
    # Move biases and norms away from 0 and 1, so that tests notice if one is ignored.
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter += 0.1 * torch.randn_like(parameter)
    return model.eval()


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
    return _draw


@pytest.fixture(scope="session")
def redraw() -> Callable[..., Examples]:
    """redraw(examples, seed): the same sentence pairs, with another annotation of the first source sentence."""

    def redrawn(examples: Examples, seed: int) -> Examples:
        side = examples.source
        subword_counts = [
            np.bincount(words) for words in np.split(side.word_of_subword.values, side.word_of_subword.offsets[1:-1])
        ]
        features = {}
        for name, new in _feature_columns(np.random.default_rng(seed), subword_counts).items():
            old = side.features[name]
            first_end = old.offsets[1]
            features[name] = Ragged(np.concatenate([new.values[:first_end], old.values[first_end:]]), old.offsets)
        return dataclasses.replace(examples, source=dataclasses.replace(side, features=features))

    return redrawn


@pytest.fixture(scope="session")
def labels() -> dict:
    """The label vocabularies of the examples of `draw`, for `build_components`."""
    return LABELS


@pytest.fixture(scope="session")
def make() -> Callable[..., TranslationModel]:
    """make(*component settings, extra_components=components, **settings): a small float64 model in evaluation mode."""
    return _make
