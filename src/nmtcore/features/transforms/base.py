"""What a transform of examples may do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from nmtcore.features.examples import Examples
from nmtcore.features.linearised_parses import LinearisedParses


class Transform(ABC):
    """Changes whole examples before a model sees them, and undoes it in what the model puts out.

    What it gives is a pure function of its arguments, and leaves these as they are. New examples know their lengths, by
    which batches are planned; a row is told by its `id`.
    """

    tags: Mapping[str, Sequence[str]]
    """The tags that it puts among the subwords of each side: entries that the run's vocabulary has, and no text."""

    @abstractmethod
    def for_training(self, pairs: Examples, linearised_parses: LinearisedParses | None) -> Examples:
        """Give what is trained on (and validated with) instead of `pairs`, some of a split's.

        What a pair becomes depends on no other pair: a split is transformed block by block.
        `linearised_parses` holds the parses of the pairs' sources, where the settings ask for them.
        """

    @abstractmethod
    def for_translation(self, examples: Examples) -> Examples:
        """Give what is translated instead of `examples`: row by row, with targets or without."""

    @abstractmethod
    def text_words(self, words_BS: np.ndarray) -> np.ndarray:
        """Number the words of the text alone, given the word of each place in B sources of `translation`.

        `NO_WORD` stands for places without a word, before and after.
        """

    @abstractmethod
    def strip(self, entries: Sequence[str]) -> list[str]:
        """Take what belongs to the transform out of the entries of an output."""
