"""What models make of sentences, as rows of files; no import of torch, since scoring and tables read them too."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pyarrow as pa

from nmtcore.parquet import read_rows, write_rows

ParseMethod = Literal["argmax", "one_root", "many_roots"]
"""A way to decode scores into heads: a field of `Parse`."""

PARSE_METHODS: tuple[ParseMethod, ...] = get_args(ParseMethod)

TREE_METHODS: dict[str, ParseMethod] = {"one": "one_root", "many": "many_roots"}
"""The method for each choice of the setting `roots`."""

PARSE_SCHEMA = pa.schema([("id", pa.int64()), *((name, pa.list_(pa.int32())) for name in PARSE_METHODS)])
"""`hypotheses/{split}.parquet` and `gold/{split}.parquet`, one row per sentence in the split's order."""


@dataclass(frozen=True, kw_only=True)
class Parse:
    """Predicted heads of the words of one sentence, int64, 1-based; 0 is the root."""

    argmax: np.ndarray
    """The likeliest head of each word by itself: perhaps not a tree, perhaps the word itself."""
    one_root: np.ndarray | None = None
    """The maximum spanning tree with exactly one root. None if the model has no root (`diagonalparse`), or if the tree
    was not requested."""
    many_roots: np.ndarray | None = None
    """The maximum spanning tree with one or more roots; None as for `one_root`."""


def write_parses(path: Path, ids: np.ndarray, parses: Sequence[Parse]) -> None:
    """Write parses as `PARSE_SCHEMA`."""
    write_rows(path, PARSE_SCHEMA, ({"id": int(id), **vars(p)} for id, p in zip(ids, parses, strict=True)))


PREDICTED_TAGS_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("words", pa.list_(pa.string())),
        ("tags", pa.list_(pa.string())),
        ("probabilities", pa.list_(pa.float32())),
    ]
)
"""`hypotheses/{split}.tags.parquet` and the file of `nmtcore translate --tags`, one row per sentence or line, in order.

`words` are those of the best translation, as the model writes them; `tags` has the predicted tag of each, and
`probabilities` that of the tag. Both are null for a word without a tag.
"""


class TaggedWord(NamedTuple):
    """A word of a translation with its predicted tag; without one, tag and probability are None."""

    word: str
    tag: str | None
    probability: float | None


def tag_row(id: int, words: Iterable[TaggedWord]) -> dict[str, Any]:
    """Make a row of `PREDICTED_TAGS_SCHEMA`."""
    listed = list(words)
    return {
        "id": id,
        "words": [word.word for word in listed],
        "tags": [word.tag for word in listed],
        "probabilities": [word.probability for word in listed],
    }


def write_predicted_tags(path: Path, ids: Iterable[int], sentences: Iterable[Iterable[TaggedWord]]) -> None:
    """Write the tagged words of translations as `PREDICTED_TAGS_SCHEMA`."""
    rows = (tag_row(int(id), words) for id, words in zip(ids, sentences, strict=True))
    write_rows(path, PREDICTED_TAGS_SCHEMA, rows)


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


def shades(norms_T: np.ndarray) -> np.ndarray:
    """Scale the norms of a sentence to [0, 1]; all are 1 if they are equal."""
    if not len(norms_T):
        return norms_T
    lowest, highest = norms_T.min(), norms_T.max()
    return (norms_T - lowest) / (highest - lowest) if highest > lowest else np.ones_like(norms_T)


CONTRAST_SCORES_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("phenomenon", pa.string()),
        ("distance", pa.int64()),
        ("right", pa.float64()),
        ("wrong", pa.float64()),
        ("right_tokens", pa.int64()),
        ("wrong_tokens", pa.int64()),
        ("unknown", pa.int64()),
    ]
)
"""`contrast/{split}.parquet`, one row per pair, `id` counting them from 0: `ContrastScore`."""


class ContrastScore(NamedTuple):
    """The log-probabilities (natural) of a right and a wrong translation of the same source, whole sentences."""

    phenomenon: str
    distance: int | None
    right: float
    wrong: float
    right_tokens: int
    """Subwords of the right translation, and `</s>`."""
    wrong_tokens: int
    unknown: int
    """Subwords of both translations that the vocabulary lacks."""

    @property
    def prefers_right(self) -> bool:
        """Whether the right translation is the more probable one; it is not if both are equally probable."""
        return self.right > self.wrong

    @property
    def ties(self) -> bool:
        """Whether both are equally probable."""
        return self.right == self.wrong


def write_contrast_scores(path: Path, scores: Iterable[ContrastScore]) -> None:
    """Write scores as `CONTRAST_SCORES_SCHEMA`."""
    write_rows(path, CONTRAST_SCORES_SCHEMA, ({"id": n, **score._asdict()} for n, score in enumerate(scores)))


def read_contrast_scores(path: Path) -> Iterator[ContrastScore]:
    """Read the scores that `write_contrast_scores` wrote."""
    return (ContrastScore(**row) for row in read_rows(path, columns=list(ContrastScore._fields)))


ATTENTION_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("part", pa.int32()),
        ("attention", pa.string()),
        ("layer", pa.int32()),
        ("head", pa.int32()),
        ("queries", pa.list_(pa.string())),
        ("keys", pa.list_(pa.string())),
        ("key_words", pa.list_(pa.int32())),
        ("weights", pa.list_(pa.list_(pa.float32()))),
    ]
)
"""One row per sentence, layer and head. `id` is the line (from 0); `part` counts the parts of a very long line.
`attention` is "encoder" or "cross". `keys` are the source tokens, and `key_words` their words (from 0, -1 for none).
`weights` has one row per token of `queries` and one column per token of `keys`. The queries of "cross" are the target
tokens about to be generated. A recurrent model has no rows "encoder", and its decoder one layer and head.

A component with weights of its own (`Component.source_weights`) adds one row per sentence, where `attention` is its
name, `layer` and `head` are null, and the queries are the source tokens: for `head_selection` the dependents, whose
heads are the keys. A token's weight for itself is that of the root, and `</s>`, which has no head, has zeros.

A component with an attention of its own in a recurrent decoder (`Component.cross_weights`) also adds one row per
sentence that is like those of "cross": `attention` is the component's name, `layer` and `head` are 0, and the queries
are the target tokens. `head_selection` with `annotations: separate` has it, over the expected heads of the keys."""
