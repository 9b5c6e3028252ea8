"""The label of every token of the source, as an id: what an annotator says of its word, or a symbol of its own.

Ids 0 to L-1 are those of the label vocabulary (`NO_LABEL`, `UNKNOWN_LABEL`...), L is `</s>`, and L+1 what stands
before the sentence. B batch, S source length, L labels.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays

SYMBOLS = 2
"""Ids beyond those of the vocabulary."""


def vocabulary(labels: Mapping | None, column: str, *, name: str) -> Sequence[str]:
    """Give the source's vocabulary of `column` ("deprel"...); none, or an empty one, is a `UserError`.

    `labels` is what `build_components` hands over; `name` is the component's.
    """
    found = (labels or {}).get("source", {}).get(column, ())
    if len(found) > len(LABEL_SPECIALS):
        return found
    what = "is empty" if len(found) else "is missing"
    raise UserError(
        f"{name} reads the {column} of the source's words, but the vocabulary of those labels {what}: "
        "name an annotator that gives them in `syntax` of the data set, and run the workflow again."
    )


def label_ids(arrays: Arrays, examples: Examples, column: str, *, labels: int, name: str) -> np.ndarray:
    """Lay the ids of a batch into (B, S), int64, beside `arrays.source_BS`; padding has `NO_LABEL`.

    Every piece of a word has the word's label. `labels` is L. Examples without such labels are a `ValueError`.
    """
    of_words = examples.source.features.get(column)
    if of_words is None:
        raise ValueError(f"{name} reads the {column} of the source's words, but the examples came without")
    ids_BS = np.full(arrays.source_BS.shape, NO_LABEL, dtype=np.int64)
    ids_BS[:, : arrays.offset] = labels + 1
    rows, columns, words = arrays.words
    ids_BS[rows, columns] = of_words.values[of_words.offsets[rows] + words]
    ids_BS[np.arange(len(ids_BS)), arrays.offset + arrays.source.ids.lengths] = labels
    return ids_BS
