"""Every source a second time, to be parsed into its constituents (Currey and Heafield 2019, section 3).

A source stands between two tags that say what is to be made of it; both tasks share everything else.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from nmtcore.config.transforms import ParsingTaskSettings
from nmtcore.features.examples import NO_WORD, Examples, SideExamples
from nmtcore.features.linearised_parses import LinearisedParses
from nmtcore.features.ragged import Ragged
from nmtcore.features.transforms.base import Transform
from nmtcore.segmentation.vocabulary import Vocabulary, tag_entry

TRANSLATE, PARSE = "<TR>", "<PA>"
NO_SYNTAX = "tags have no syntax: planning should have refused this system"
ENTRIES = tuple(map(tag_entry, (TRANSLATE, PARSE)))


class ParsingTask(Transform):
    """A pair becomes two rows: its translation, then, where its source has a parse, the source with that as target."""

    tags = MappingProxyType({"source": (TRANSLATE, PARSE)})

    def __init__(self, settings: ParsingTaskSettings, vocabularies: Mapping[str, Vocabulary]) -> None:
        self._translate, self._parse = vocabularies["source"].ids(ENTRIES)

    def for_training(self, pairs: Examples, linearised_parses: LinearisedParses) -> Examples:
        """Give both rows of every pair, one after the other; the id of the second is `-1 - id`."""
        ids = np.repeat(pairs.id, 1 + linearised_parses.known)
        second = np.diff(np.repeat(np.arange(len(pairs)), 1 + linearised_parses.known), prepend=-1) == 0
        target = _interleaved(pairs.target, linearised_parses.target, linearised_parses.known, second)
        source = _interleaved(pairs.source, pairs.source, linearised_parses.known, second)
        source = _wrapped(source, np.where(second, self._parse, self._translate))
        return Examples(id=np.where(second, -1 - ids, ids), source=source, target=target)

    def for_translation(self, examples: Examples) -> Examples:
        """Wrap every source in the tag of translation."""
        source = _wrapped(examples.source, np.full(len(examples), self._translate))
        return Examples(id=examples.id, source=source, target=examples.target)

    def text_words(self, words_BS: np.ndarray) -> np.ndarray:
        """Count the words between the first and the last, which are tags."""
        inner_BS = (words_BS > 0) & (words_BS < words_BS.max(axis=1, keepdims=True))
        return np.where(inner_BS, words_BS - 1, NO_WORD)

    def strip(self, entries: Sequence[str]) -> list[str]:
        """Leave the tags out, which a joint vocabulary lets a decoder write."""
        return [entry for entry in entries if entry not in ENTRIES]


def _interleaved(first: SideExamples, second: SideExamples, known: np.ndarray, turns: np.ndarray) -> SideExamples:
    """Put the sentences of `first` and the `known` ones of `second` into one, the latter where `turns` is True."""
    if first.features:
        raise ValueError(NO_SYNTAX)
    return SideExamples(
        ids=Ragged.interleaved(first.ids, second.ids.select(known), turns),
        word_of_subword=Ragged.interleaved(first.word_of_subword, second.word_of_subword.select(known), turns),
    )


def _wrapped(side: SideExamples, tags: np.ndarray) -> SideExamples:
    """Put a tag before and after every sentence; `tags` has its id for each. It counts as a word in both places."""
    if side.features:
        raise ValueError(NO_SYNTAX)
    words = Ragged(side.word_of_subword.values + 1, side.word_of_subword.offsets)
    return SideExamples(ids=side.ids.enclosed(tags, tags), word_of_subword=words.enclosed(0, side.word_counts + 1))
