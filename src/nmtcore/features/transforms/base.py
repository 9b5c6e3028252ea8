"""The base class of transforms of examples.

Shapes: B sentences, S source.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nmtcore.config.training import DecodingSettings
from nmtcore.features.examples import Examples, LinearisedParses

Labels = Mapping[str, Mapping[str, Sequence[str]]]
"""Label vocabularies by side and column."""


class Transform(ABC):
    """Changes examples before they reach the model, and undoes the change in the model's output.

    It is made from its settings, the run's vocabularies by side, and the label vocabularies by side and column. Its
    methods are pure functions that do not modify their arguments. Rows are identified by their `id`. Batches are
    planned by the lengths of the new examples; limits of length count subwords that have a word.
    """

    @staticmethod
    @abstractmethod
    def tags(settings: Any, labels: Labels) -> Mapping[str, Sequence[str]]:
        """Return the tags that it adds among the subwords of each side: entries of the run's vocabulary, never text."""

    tag_entries: frozenset[str]
    """The tags as entries of vocabularies."""

    @property
    def target_tags(self) -> frozenset[str]:
        """The entries of the tags that it puts before the words of targets."""
        return frozenset()

    @abstractmethod
    def for_translation(self, examples: Examples) -> Examples:
        """Return the examples for translation that replace `examples`, row by row, with or without targets."""

    def for_training(self, pairs: Examples, linearised_parses: LinearisedParses | None) -> Examples:
        """Return the examples for training (and validation) that replace `pairs`, a block of a split.

        A split is transformed block by block, so the examples of a pair must not depend on other pairs.
        `linearised_parses` are those of the pairs' sources, if the settings require them. By default, examples are
        those for translation.
        """
        return self.for_translation(pairs)

    def text_words(self, words_BS: np.ndarray) -> np.ndarray:
        """Renumber words so that only the text's words count, given the word of each position of translated sources.

        Positions without a word have `NO_WORD`, in the argument and in the result.
        """
        return words_BS

    def strip(self, entries: Sequence[str]) -> list[str]:
        """Remove the tags from the entries of an output, wherever they are: a decoder may generate any."""
        return [entry for entry in entries if entry not in self.tag_entries]

    def search_settings(self, settings: DecodingSettings) -> DecodingSettings:
        """Return the settings with which to search for its targets, if `settings` are those for text."""
        return settings
