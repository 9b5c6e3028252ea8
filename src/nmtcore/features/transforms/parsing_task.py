"""Training on a second task: from the source to its linearised parse (Currey and Heafield 2019, section 3).

A tag before and after each source names the task; the tasks share everything else.

Shapes: B sentences, S source.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from nmtcore.annotation.labels import NO_LABEL
from nmtcore.config.features import ParsingTaskSettings
from nmtcore.features.examples import NO_WORD, Examples, LinearisedParses, SideExamples, concatenate
from nmtcore.features.ragged import Ragged
from nmtcore.features.transforms.base import Labels, Transform
from nmtcore.segmentation.vocabulary import Vocabulary, tag_entry

TRANSLATE, PARSE = "<TR>", "<PA>"
TAG_ENTRIES = tuple(map(tag_entry, (TRANSLATE, PARSE)))


class ParsingTask(Transform):
    r"""Adds a row after each pair whose source has a parse: the source, with its linearised parse as the target.

    The source x with the translation y and the parse b becomes two pairs (Currey and Heafield 2019, section 3, which
    has no equation):

    .. math::

        (x, y, b) \to (\text{<TR>}\, x\, \text{<TR>},\ y), \quad (\text{<PA>}\, x\, \text{<PA>},\ b)
    """

    tag_entries = frozenset(TAG_ENTRIES)

    def __init__(self, settings: ParsingTaskSettings, vocabularies: Mapping[str, Vocabulary], labels: Labels) -> None:
        self._translate, self._parse = vocabularies["source"].ids(TAG_ENTRIES)

    @staticmethod
    def tags(settings: ParsingTaskSettings, labels: Labels) -> Mapping[str, Sequence[str]]:
        """Return the tags of the two tasks."""
        return {"source": (TRANSLATE, PARSE)}

    def for_training(self, pairs: Examples, linearised_parses: LinearisedParses) -> Examples:
        """Return the rows of every pair, one after the other; the id of an added row is `-1 - id`.

        If targets have tags, the words of the linearised parses have none (`NO_LABEL`).
        """
        parsed = np.flatnonzero(linearised_parses.available)
        parses = _without_labels(linearised_parses.target, pairs.target.features)
        added = replace(pairs, id=-1 - pairs.id, target=parses).take(parsed)
        order = np.argsort(np.concatenate([np.arange(len(pairs)), parsed]), kind="stable")
        both = concatenate([pairs, added]).take(order)
        return replace(both, source=_enclose(both.source, np.where(both.id < 0, self._parse, self._translate)))

    def for_translation(self, examples: Examples) -> Examples:
        """Enclose every source in the tag of translation."""
        return replace(examples, source=_enclose(examples.source, self._translate))

    def text_words(self, words_BS: np.ndarray) -> np.ndarray:
        """Renumber the words between the first and the last, which are tags."""
        inner_BS = (words_BS > 0) & (words_BS < words_BS.max(axis=1, keepdims=True))
        return np.where(inner_BS, words_BS - 1, NO_WORD)


def _without_labels(side: SideExamples, columns: Mapping[str, Ragged]) -> SideExamples:
    """Add columns like `columns`, in which no word has a label."""
    lengths = side.word_counts
    return replace(
        side,
        features={
            name: Ragged.from_lengths(np.full(int(lengths.sum()), NO_LABEL, column.values.dtype), lengths)
            for name, column in columns.items()
        },
    )


def _enclose(side: SideExamples, tag: np.ndarray | int) -> SideExamples:
    """Add a tag before and after every sentence, each counted as a word; `tag` is one id, or (B,)."""
    words = Ragged(side.word_of_subword.values + np.int32(1), side.word_of_subword.offsets)
    return SideExamples(ids=side.ids.enclosed(tag, tag), word_of_subword=words.enclosed(0, side.word_counts + 1))
