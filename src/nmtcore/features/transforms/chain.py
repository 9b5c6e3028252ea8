"""The transforms of a run, one after the other, and the vocabularies that they extend."""

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
    """Transforms in the order of the system; none of them leaves everything as it is. See `Transform`."""

    def __init__(self, transforms: Sequence[Transform] = ()) -> None:
        self._transforms = tuple(transforms)

    @classmethod
    def of(cls, run: RunSettings, vocabularies: Mapping[str, Vocabulary]) -> "Transforms":
        """Make the transforms of a run; `vocabularies` are its own (`run_vocabularies`)."""
        return cls([_class_of(settings)(settings, vocabularies) for settings in run.transforms.values()])

    def for_training(self, pairs: Examples, linearised_parses: LinearisedParses | None = None) -> Examples:
        """Give the examples to train on instead of `pairs`; only the first transform may read `linearised_parses`."""
        for transform in self._transforms:
            pairs, linearised_parses = transform.for_training(pairs, linearised_parses), None
        return pairs

    def for_translation(self, examples: Examples) -> Examples:
        """Give what is translated instead of `examples`, row by row."""
        for transform in self._transforms:
            examples = transform.for_translation(examples)
        return examples

    def text_words(self, words_BS: np.ndarray) -> np.ndarray:
        """Number the words of the text alone, given the word of each place in the sources of `translation`."""
        for transform in reversed(self._transforms):
            words_BS = transform.text_words(words_BS)
        return words_BS

    def strip(self, entries: Sequence[str]) -> list[str]:
        """Take what belongs to the transforms out of the entries of an output: what is left are subwords of a text."""
        for transform in reversed(self._transforms):
            entries = transform.strip(entries)
        return list(entries)

    def words(self, tokens: Sequence[int], vocabulary: Vocabulary, segmenter: Segmenter) -> list[str]:
        """Put the words of an output's text together from its ids."""
        return segmenter.join(self.strip(vocabulary.tokens(tokens)))


def run_vocabularies(run: RunSettings, segmentation: Path) -> dict[str, Vocabulary]:
    """Give the vocabularies of a run by side: those stored in `segmentation`, then the tags of the run's transforms.

    Both sides have the tags of either where they share a vocabulary.
    """
    vocabularies = {side: Vocabulary.load(Path(segmentation) / file_name("vocabulary", side=side)) for side in SIDES}
    for settings in run.transforms.values():
        for side, tags in _class_of(settings).tags.items():
            for shared in SIDES if run.segmentation.joint else (side,):
                vocabularies[shared] = vocabularies[shared].extended(tags)
    return vocabularies


def _class_of(settings: TransformSettings) -> type[Transform]:
    module = TRANSFORMS.module(TRANSFORMS.name_of(settings))
    return getattr(module, type(settings).__name__.removesuffix("Settings"))
