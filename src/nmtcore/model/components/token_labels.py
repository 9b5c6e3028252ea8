"""Label ids of the tokens of one side: the annotated label of a token's word, or an id for `</s>` or a prefix.

Ids 0 to L-1 are those of the label vocabulary (`NO_LABEL`, `UNKNOWN_LABEL`...), L is `</s>`, and L+1 is any prefix.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL
from nmtcore.errors import UserError
from nmtcore.model.arrays import SideArrays
from nmtcore.model.components.base import LabelVocabularies

SYMBOLS = 2
"""Number of ids after those of the vocabulary: `</s>`, prefix."""


def label_vocabulary(
    labels: LabelVocabularies | None, label_column: str, *, name: str, side: Literal["source", "target"] = "source"
) -> Sequence[str]:
    """Return the label vocabulary of one side's column of the feature files ("deprel"...).

    `name` is the component's. Raises UserError if the vocabulary is missing or empty.
    """
    vocabulary = (labels or {}).get(side, {}).get(label_column, ())
    if len(vocabulary) > len(LABEL_SPECIALS):
        return vocabulary
    fault = "is empty" if len(vocabulary) else "is missing"
    raise UserError(
        f"{name} reads the {label_column} of the {side}'s words, but the vocabulary of those labels {fault}. Name an "
        "annotator that provides them in `syntax` of the data set, and run the workflow again."
    )


def token_label_ids(side: SideArrays, label_column: str, *, label_count: int, name: str) -> np.ndarray:
    """Return the label id of every token of `side.tokens_BS`: (B, S), int64, `NO_LABEL` for padding.

    Every subword of a word has the word's label. `label_count` is L. Raises ValueError if the examples have no such
    labels.
    """
    word_labels = side.examples.features.get(label_column)
    if word_labels is None:
        raise ValueError(f"{name} reads the {label_column} of words, but the examples have none")
    ids_BS = np.full(side.tokens_BS.shape, NO_LABEL, dtype=np.int64)
    ids_BS[:, : side.offset] = label_count + 1
    rows_J, columns_J, words_J = side.subwords
    ids_BS[rows_J, columns_J] = word_labels.values[word_labels.offsets[rows_J] + words_J]
    ids_BS[np.arange(len(ids_BS)), side.ends_B] = label_count
    return ids_BS
