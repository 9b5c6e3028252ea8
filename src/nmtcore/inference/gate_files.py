"""Files of gate norms; no import of torch, since tables read them too."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from nmtcore.errors import UserError
from nmtcore.features.examples import NO_WORD, Examples, check_ids
from nmtcore.parquet import read_rows, write_rows
from nmtcore.segmentation.vocabulary import EOS, Vocabulary

GATES_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("pieces", pa.list_(pa.string())),
        ("words", pa.list_(pa.int32())),
        ("upos", pa.list_(pa.string())),
        ("norms", pa.list_(pa.float32())),
    ]
)
"""`gates/{split}.parquet`, one row per sentence pair in the split's order.

`pieces` are the vocabulary entries of the reference's subwords, and `</s>`; `words` the word of each (from 0, -1 for
`</s>` and interleaved tags), `upos` the tag of that word (null without a word; null for the sentence if it has no
tags), and `norms` the L2 norm of the gate with which the piece is predicted.
"""


class GatedSentence(NamedTuple):
    """A sentence pair with the gate norm of every subword of the target, without `</s>`; empty if a side is empty."""

    source: str
    pieces: list[str]
    norms: np.ndarray


def write_gates(
    path: Path,
    examples: Examples,
    norms: Sequence[np.ndarray],
    vocabulary: Vocabulary,
    *,
    tokens: Path,
    tags: Path | None = None,
) -> None:
    """Write the gate norms of sentence pairs as `GATES_SCHEMA`.

    `norms` has one array per pair, with `</s>`. `tokens` is the file of the targets' subwords, and `tags` the
    annotation of the target side, if there is any. Raises `UserError` if the annotation has other pairs, or another
    number of words.
    """
    tags_of_words = [None] * len(examples) if tags is None else read_tags(tags, examples, tokens=tokens)
    write_rows(path, GATES_SCHEMA, _rows(examples, norms, vocabulary, tags_of_words))


def _rows(
    examples: Examples, norms: Sequence[np.ndarray], vocabulary: Vocabulary, tags: Sequence[list[str] | None]
) -> Iterator[dict]:
    target = examples.target
    for id_, ids, words, upos, norms_T in zip(
        examples.id, target.ids, target.word_of_subword, tags, norms, strict=True
    ):
        yield {
            "id": int(id_),
            "pieces": vocabulary.tokens([*ids, EOS]),
            "words": [*words, NO_WORD],
            "upos": None if upos is None else [*(None if word == NO_WORD else upos[word] for word in words), None],
            "norms": norms_T,
        }


def read_tags(path: Path, examples: Examples, *, tokens: Path) -> list[list[str] | None]:
    """Read the UPOS tags of the target words of every pair; None for a sentence without tags.

    Raises `UserError` if the annotation has other pairs than `tokens`, or another number of words.
    """
    rows = list(read_rows(path, columns=["id", "upos"], stop=len(examples)))
    ids = np.array([row["id"] for row in rows], dtype=np.int64)
    check_ids(examples.id, ids, tokens, path)
    for row, words in zip(rows, examples.target.word_counts.tolist(), strict=True):
        if row["upos"] is not None and len(row["upos"]) != words:
            raise UserError(
                f"{path}: the row with id {row['id']} has {len(row['upos'])} tags, but {words} words: delete the file "
                "and run the workflow again."
            )
    return [row["upos"] for row in rows]
