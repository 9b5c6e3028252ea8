"""The sequence of a run's transforms, and the vocabularies that they extend.

Shapes: B sentences, S source.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nmtcore.config.corpora import SIDES
from nmtcore.config.features import TRANSFORMS, TransformSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples, LinearisedParses
from nmtcore.features.transforms.base import Labels, Transform
from nmtcore.layout import file_name
from nmtcore.segmentation.segmenter import Segmenter
from nmtcore.segmentation.vocabulary import Vocabulary


class LocatedWord(NamedTuple):
    """A word of an output, and positions among the output's ids."""

    word: str
    position: int
    """The position of its first subword."""
    tag_position: int | None
    """The position of the tag before it; None without a tag."""


class Transforms:
    """Transforms in the system's order; see `Transform`. Without transforms, nothing is changed."""

    def __init__(self, transforms: Sequence[Transform] = ()) -> None:
        self._transforms = tuple(transforms)

    @classmethod
    def of(cls, run: RunSettings, vocabularies: Mapping[str, Vocabulary], labels: Labels) -> "Transforms":
        """Make the transforms of a run; `vocabularies` come from `run_vocabularies`, which takes the same `labels`."""
        return cls([_class_of(settings)(settings, vocabularies, labels) for settings in run.transforms.values()])

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

    def locate_words(self, tokens: Sequence[int], vocabulary: Vocabulary, segmenter: Segmenter) -> list[LocatedWord]:
        """Return the words of an output as `words` does, each with its position and that of the tag before it."""
        tag_entries = frozenset[str]().union(*(transform.target_tags for transform in self._transforms))
        pieces: list[str] = []
        positions: list[tuple[int, int | None]] = []
        tag_position = None
        for position, entry in enumerate(vocabulary.tokens(tokens)):
            if entry in tag_entries:
                tag_position = position
            elif self.strip([entry]):
                pieces.append(entry)
                positions.append((position, tag_position))
                tag_position = None
        words, first_pieces = segmenter.join(pieces), segmenter.first_pieces(pieces)
        # A last piece without any letter is not a word.
        return [LocatedWord(word, *positions[first]) for word, first in zip(words, first_pieces, strict=False)]

    @property
    def tags_targets(self) -> bool:
        """Whether a transform puts tags before the words of targets."""
        return any(transform.target_tags for transform in self._transforms)

    def search_settings(self, settings: DecodingSettings) -> DecodingSettings:
        """Return the settings with which to search for outputs, if `settings` are those for text.

        The limits of length in `settings` do not count the tags of words.
        """
        for transform in self._transforms:
            settings = transform.search_settings(settings)
        return settings


def run_vocabularies(run: RunSettings, segmentation: Path, labels: Labels) -> dict[str, Vocabulary]:
    """Load the vocabularies stored in `segmentation`, by side, and append the tags of the run's transforms.

    `labels` are the label vocabularies of the run's features. If the sides share a vocabulary, both get the tags of
    either side; each tag has one entry.
    """
    vocabularies = {side: Vocabulary.load(Path(segmentation) / file_name("vocabulary", side=side)) for side in SIDES}
    return {side: vocabularies[side].extended(tags) for side, tags in run_tags(run, labels).items()}


def run_tags(run: RunSettings, labels: Labels) -> dict[str, list[str]]:
    """Return the tags of a run's transforms in the vocabulary of each side, in order."""
    tags: dict[str, dict[str, None]] = {side: {} for side in SIDES}
    for settings in run.transforms.values():
        for side, own_tags in _class_of(settings).tags(settings, labels).items():
            for extended in SIDES if run.segmentation.joint else (side,):
                tags[extended] |= dict.fromkeys(own_tags)
    return {side: list(own_tags) for side, own_tags in tags.items()}


def _class_of(settings: TransformSettings) -> type[Transform]:
    return TRANSFORMS.configured(TRANSFORMS.name_of(settings))
