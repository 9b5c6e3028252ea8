"""The sequence of a run's transforms, and the vocabularies that they extend."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from nmtcore.config.corpora import SIDES
from nmtcore.config.runs import RunSettings
from nmtcore.config.transforms import TRANSFORMS, TransformSettings
from nmtcore.features.examples import Examples
from nmtcore.features.linearised_parses import LinearisedParses
from nmtcore.features.transforms.base import Transform
from nmtcore.layout import file_name
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


class Transforms:
    """Transforms in the system's order; see `Transform`. Without transforms, nothing is changed."""

    def __init__(self, transforms: Sequence[Transform] = ()) -> None:
        self._transforms = tuple(transforms)

    @classmethod
    def of(cls, run: RunSettings, vocabularies: Mapping[str, Vocabulary]) -> "Transforms":
        """Make the transforms of a run; `vocabularies` come from `run_vocabularies`."""
        return cls([_class_of(settings)(settings, vocabularies) for settings in run.transforms.values()])

    def for_training(self, pairs: Examples, linearised_parses: LinearisedParses | None = None) -> Examples:
        """Return the examples for training that replace `pairs`; only the first transform reads `linearised_parses`."""
        for transform in self._transforms:
            pairs, linearised_parses = transform.for_training(pairs, linearised_parses), None
        return pairs

    def for_translation(self, examples: Examples) -> Examples:
        """Return the examples for translation that replace `examples`, row by row."""
        for transform in self._transforms:
            examples = transform.for_translation(examples)
        return examples

    def text_words(self, words_BS: np.ndarray) -> np.ndarray:
        """Renumber words so that only the text's words count, given the word of each position of translated sources."""
        for transform in reversed(self._transforms):
            words_BS = transform.text_words(words_BS)
        return words_BS

    def strip(self, entries: Sequence[str]) -> list[str]:
        """Remove the transforms' additions from the entries of an output; only subwords of text remain."""
        for transform in reversed(self._transforms):
            entries = transform.strip(entries)
        return list(entries)

    def words(self, tokens: Sequence[int], vocabulary: Vocabulary, segmenter: Segmenter) -> list[str]:
        """Return the words of an output, given its ids."""
        return segmenter.join(self.strip(vocabulary.tokens(tokens)))


def run_vocabularies(run: RunSettings, segmentation: Path) -> dict[str, Vocabulary]:
    """Load the vocabularies stored in `segmentation`, by side, and append the tags of the run's transforms.

    If the sides share a vocabulary, both get the tags of either side.
    """
    vocabularies = {side: Vocabulary.load(Path(segmentation) / file_name("vocabulary", side=side)) for side in SIDES}
    for settings in run.transforms.values():
        for side, tags in _class_of(settings).tags.items():
            for extended in SIDES if run.segmentation.joint else (side,):
                vocabularies[extended] = vocabularies[extended].extended(tags)
    return vocabularies


def _class_of(settings: TransformSettings) -> type[Transform]:
    module = TRANSFORMS.module(TRANSFORMS.name_of(settings))
    return getattr(module, type(settings).__name__.removesuffix("Settings"))
