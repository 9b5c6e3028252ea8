"""Tags among the words of one side: before the first subword of every word, its tag (Aycock 2021, section 3).

Shapes: B sentences, J subwords.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL, UNKNOWN_LABEL
from nmtcore.config.features import FEATURES, InterleaveSettings
from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import NO_WORD, Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.features.transforms.base import Labels, Transform
from nmtcore.segmentation.vocabulary import Vocabulary, tag_entry


class Interleave(Transform):
    r"""Puts a tag before every word of one side; sentences without tags stay as they are.

    On the target side, the model predicts tags and words alternately (aycock2021, equations 3.29 and 3.30), here with
    the tag t before the subwords of each of the n words y:

    .. math::

        y' = t_1, y_1, \ldots, t_n, y_n, \qquad
        p(y' \mid x) = \prod_{i} p(y'_i \mid y'_{<i}, x)

    On the source side, the model reads them alternately.
    """

    def __init__(self, settings: InterleaveSettings, vocabularies: Mapping[str, Vocabulary], labels: Labels) -> None:
        self._side, self._column = settings.side, _column_of(settings)
        entries = [tag_entry(tag) for tag in self.tags(settings, labels)[settings.side]]
        self.tag_entries = frozenset(entries)
        ids = vocabularies[settings.side].ids(entries)
        # The tags are those of the labels from `UNKNOWN_LABEL` on; a word without a label has an unknown one.
        self._tag_of_label = np.array([ids[0], *ids], np.int32)

    @staticmethod
    def tags(settings: InterleaveSettings, labels: Labels) -> Mapping[str, Sequence[str]]:
        """Return the labels of the side's words, with `<unk>` for unknown ones.

        Raises UserError if the vocabulary of these labels is missing or empty.
        """
        side, column = settings.side, _column_of(settings)
        vocabulary = labels.get(side, {}).get(column, ())
        if len(vocabulary) <= len(LABEL_SPECIALS):
            fault = "is empty" if len(vocabulary) else "is missing"
            raise UserError(
                f"The transform interleave reads the {column} of the {side}'s words, but the vocabulary of those "
                f"labels {fault}. Name an annotator that provides them in `syntax` of the data set, and run the "
                "workflow again."
            )
        return {side: vocabulary[UNKNOWN_LABEL:]}

    @property
    def target_tags(self) -> frozenset[str]:
        """The entries of the tags, if targets have them."""
        return self.tag_entries if self._side == "target" else frozenset()

    def for_translation(self, examples: Examples) -> Examples:
        """Interleave the side, unless the examples have no targets and these are to get tags."""
        side = getattr(examples, self._side)
        if side is None:
            return examples
        return replace(examples, **{self._side: interleave_tags(side, side.features[self._column], self._tag_of_label)})

    def search_settings(self, settings: DecodingSettings) -> DecodingSettings:
        """Double the limits of the length of a translation if targets have tags."""
        if self._side == "source":
            return settings
        names = ("min_length", "max_length", "max_length_ratio", "max_length_extra")
        limits = {name: getattr(settings, name) for name in names}
        return replace(settings, **{name: 2 * limit for name, limit in limits.items() if limit is not None})


def interleave_tags(side: SideExamples, labels: Ragged, tag_of_label: np.ndarray) -> SideExamples:
    """Put a tag before every word of the sentences in which any word has a label; tags have no word.

    `labels` has one label id per word, and `tag_of_label` the subword id of every label's tag, including `NO_LABEL`.
    """
    ids_J, words_J = (column.values.astype(np.int32) for column in (side.ids, side.word_of_subword))
    offsets = side.word_of_subword.offsets
    lengths_B = side.word_of_subword.lengths
    sentences = np.arange(len(side))
    has_labels_B = labels.count_other_values(NO_LABEL) > 0
    begins_word_J = np.diff(words_J, prepend=NO_WORD) != 0
    begins_word_J[offsets[:-1][lengths_B > 0]] = True
    places = np.flatnonzero(begins_word_J & np.repeat(has_labels_B, lengths_B))
    sentence_of_place = np.repeat(sentences, lengths_B)[places]
    tags = tag_of_label[labels.values[labels.offsets[sentence_of_place] + words_J[places]]]
    new_offsets = offsets + np.searchsorted(places, offsets)
    return replace(
        side,
        ids=Ragged(np.insert(ids_J, places, tags), new_offsets),
        word_of_subword=Ragged(np.insert(words_J, places, NO_WORD), new_offsets),
    )


def _column_of(settings: InterleaveSettings) -> str:
    """Return the column of the feature files that holds the tags' labels."""
    (column,) = FEATURES[settings.tags].labels
    return column
