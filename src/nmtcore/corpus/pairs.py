"""The sides of sentence pairs, as readers yield them, and the schemas of the corpus stage's files."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from nmtcore.syntax.annotation import Annotation

SIDES = ("source", "target")


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One side of a pair: the raw text, its words where the format fixes them, and the trees that came with it."""

    text: str
    words: Sequence[str] | None = None
    annotation: Annotation | None = None


WORDS = pa.list_(pa.string())
ANNOTATION_FIELDS = [
    pa.field("lemma", WORDS),
    pa.field("upos", WORDS),
    pa.field("xpos", WORDS),
    pa.field("feats", WORDS),
    pa.field("head", pa.list_(pa.int32())),
    pa.field("deprel", WORDS),
    pa.field("ccg", WORDS),
    pa.field("constituency", pa.string()),
    pa.field("reason", pa.string()),
]

PAIR_FIELDS = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("source", pa.string(), nullable=False),
    pa.field("target", pa.string(), nullable=False),
    pa.field("source_words", WORDS, nullable=False),
    pa.field("target_words", WORDS, nullable=False),
    pa.field("origin", pa.string(), nullable=False),
]
PAIR_SCHEMA = pa.schema(PAIR_FIELDS)
"""`corpus/{split}.parquet`: the pairs that the filters kept; `id` counts the lines of the split, dropped ones too.

`origin` is "corpus:line" (the line of the file, or the sentence of a treebank).
"""

RAW_SCHEMA = pa.schema(
    [
        *PAIR_FIELDS,
        *(pa.field(f"{side}_annotation", pa.struct(ANNOTATION_FIELDS)) for side in SIDES),
    ]
)
"""`corpus/raw/{split}.parquet`: every pair of the split, before any filter, with the trees that came with it."""
