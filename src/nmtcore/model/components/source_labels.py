"""Label ids of the source tokens: the annotated label of a token's word, or an id for `</s>` or a prefix.

Ids 0 to L-1 are those of the label vocabulary (`NO_LABEL`, `UNKNOWN_LABEL`...), L is `</s>`, and L+1 is any prefix.
"""

from collections.abc import Sequence

import numpy as np

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import BatchArrays
from nmtcore.model.components.base import LabelVocabularies

SYMBOLS = 2
"""Number of ids after those of the vocabulary: `</s>`, prefix."""


def label_vocabulary(labels: LabelVocabularies | None, label_column: str, *, name: str) -> Sequence[str]:
    """Return the source's label vocabulary of a column of the feature files ("deprel"...).

    `name` is the component's. Raises UserError if the vocabulary is missing or empty.
    """
    vocabulary = (labels or {}).get("source", {}).get(label_column, ())
    if len(vocabulary) > len(LABEL_SPECIALS):
        return vocabulary
    fault = "is empty" if len(vocabulary) else "is missing"
    raise UserError(
        f"{name} reads the {label_column} of the source's words, but the vocabulary of those labels {fault}. Name an "
        "annotator that provides them in `syntax` of the data set, and run the workflow again."
    )


def token_label_ids(
    arrays: BatchArrays, examples: Examples, label_column: str, *, label_count: int, name: str
) -> np.ndarray:
    """Return the label id of every token of `arrays.source_BS`: (B, S), int64, `NO_LABEL` for padding.

    Every subword of a word has the word's label. `label_count` is L. Raises ValueError if the examples have no such
    labels.
    """
    word_labels = examples.source.features.get(label_column)
    if word_labels is None:
        raise ValueError(f"{name} reads the {label_column} of the source's words, but the examples have none")
    ids_BS = np.full(arrays.source_BS.shape, NO_LABEL, dtype=np.int64)
    ids_BS[:, : arrays.offset] = label_count + 1
    rows_J, columns_J, words_J = arrays.subwords
    ids_BS[rows_J, columns_J] = word_labels.values[word_labels.offsets[rows_J] + words_J]
    ids_BS[np.arange(len(ids_BS)), arrays.offset + arrays.source.ids.lengths] = label_count
    return ids_BS
