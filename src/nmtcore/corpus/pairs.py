"""One side of a sentence pair, as readers yield it, and the schemas of the corpus stage's files."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from nmtcore.config.corpora import SIDES
from nmtcore.syntax.annotation import Annotation


@dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One side of a sentence pair: its raw text and, if the corpus format has them, its words and annotation."""

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
"""`corpus/{split}.parquet`: the pairs that the filters kept.

`id` counts the rows of the split, dropped rows included. `origin` is "corpus:row" (the line of the file, or the
sentence of the treebank).
"""

RAW_SCHEMA = pa.schema(
    [
        *PAIR_FIELDS,
        *(pa.field(f"{side}_annotation", pa.struct(ANNOTATION_FIELDS)) for side in SIDES),
    ]
)
"""`corpus/raw/{split}.parquet`: all pairs of the split, before filtering, with the corpus's own annotations."""
