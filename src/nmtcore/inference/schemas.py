"""What models make of sentences, as rows of files and on pages; no import of torch, since scoring and tables read them.

Every schema has one row per sentence, pair or line, in order, and its `id`, from 0.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict, get_args

import numpy as np
import pyarrow as pa

from nmtcore.parquet import read_rows, write_rows

ParseMethod = Literal["argmax", "one_root", "many_roots"]
"""A way to decode scores into heads: a field of `Parse`."""
PARSE_METHODS: tuple[ParseMethod, ...] = get_args(ParseMethod)
TREE_METHODS: dict[str, ParseMethod] = {"one": "one_root", "many": "many_roots"}
"""The method for each choice of the setting `roots`."""

_TEXTS, _INTEGERS, _NUMBERS = pa.list_(pa.string()), pa.list_(pa.int32()), pa.list_(pa.float32())

PARSE_SCHEMA = pa.schema({"id": pa.int64(), **dict.fromkeys(PARSE_METHODS, _INTEGERS)})
"""`hypotheses/{split}.parquet` and `gold/{split}.parquet`: `Parse`."""

PREDICTED_TAGS_SCHEMA = pa.schema({"id": pa.int64(), "words": _TEXTS, "tags": _TEXTS, "probabilities": _NUMBERS})
"""`hypotheses/{split}.tags.parquet` and the file of `nmtcore translate --tags`: the words of the best translation, as
the model writes them, the predicted tag of each, and its probability; both are null for a word without a tag."""

GATES_SCHEMA = pa.schema({"id": pa.int64(), "pieces": _TEXTS, "words": _INTEGERS, "upos": _TEXTS, "norms": _NUMBERS})
"""`gates/{split}.parquet`: `pieces` are the vocabulary entries of the reference's subwords, and `</s>`; `words` the
word of each (from 0, -1 for `</s>` and interleaved tags), `upos` the tag of that word (null without a word; null for
the sentence if it has no tags), and `norms` the L2 norm of the gate with which the piece is predicted."""

CONTRAST_SCORES_SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "phenomenon": pa.string(),
        "distance": pa.int64(),
        **dict.fromkeys(("right", "wrong"), pa.float64()),
        **dict.fromkeys(("right_tokens", "wrong_tokens", "unknown"), pa.int64()),
    }
)
"""`contrast/{split}.parquet`: `ContrastScore`."""

ATTENTION_SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "attention": pa.string(),
        **dict.fromkeys(("layer", "head"), pa.int32()),
        **dict.fromkeys(("queries", "keys"), _TEXTS),
        "key_words": _INTEGERS,
        "weights": pa.list_(_NUMBERS),
    }
)
"""A row for each layer and head of each sentence. `attention` is "encoder" or "cross". `keys` are the source tokens,
and `key_words` their words (from 0, -1 for none). `weights` has one row per token of `queries` and one column per token
of `keys`. The queries of "cross" are the target tokens about to be generated. A recurrent model has no rows "encoder",
and its decoder one layer and head.

A component of a recurrent model (`RecurrentNote.source_weights_BSS`) adds one row per sentence, where `attention` is
its name, `layer` and `head` are null, and the queries are the source tokens: for `head_selection` the dependents, whose
heads are the keys. A token's weight for itself is that of the root, and `</s>`, which has no head, has zeros.

One with an attention of its own in the decoder (`RecurrentNote.cross_weights_BTS`) also adds one row per sentence that
is like those of "cross": `attention` is the component's name, `layer` and `head` are 0, and the queries are the target
tokens. `head_selection` with `annotations: separate` has it, over the expected heads of the keys."""


class Parse(TypedDict, total=False):
    """Predicted heads of the words of one sentence, int64, 1-based; 0 is the root.

    There are no trees if the model has no root (`diagonalparse`), or if they were not requested.
    """

    argmax: np.ndarray
    """The likeliest head of each word by itself: perhaps not a tree, perhaps the word itself."""
    one_root: np.ndarray
    """The maximum spanning tree with exactly one root."""
    many_roots: np.ndarray
    """The maximum spanning tree with one or more roots."""


def write_parses(path: Path, ids: np.ndarray, parses: Sequence[Parse]) -> None:
    """Write parses as `PARSE_SCHEMA`."""
    write_rows(path, PARSE_SCHEMA, ({"id": int(id), **p} for id, p in zip(ids, parses, strict=True)))


class TaggedWord(NamedTuple):
    """A word of a translation with its predicted tag; without one, tag and probability are None."""

    word: str
    tag: str | None
    probability: float | None


def tag_row(id: int, words: Iterable[TaggedWord]) -> dict[str, Any]:
    """Make a row of `PREDICTED_TAGS_SCHEMA`."""
    columns = zip(*words, strict=True)
    return {"id": id, **{name: list(next(columns, ())) for name in PREDICTED_TAGS_SCHEMA.names[1:]}}


def write_predicted_tags(path: Path, ids: Iterable[int], sentences: Iterable[Iterable[TaggedWord]]) -> None:
    """Write the tagged words of translations as `PREDICTED_TAGS_SCHEMA`."""
    rows = (tag_row(int(id), words) for id, words in zip(ids, sentences, strict=True))
    write_rows(path, PREDICTED_TAGS_SCHEMA, rows)


class GatedSentence(NamedTuple):
    """The subwords of a target with their gate norms, without `</s>`; empty if a side of the pair is empty."""

    pieces: list[str]
    norms: np.ndarray


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


def write_contrast_scores(path: Path, scores: Iterable[ContrastScore]) -> None:
    """Write scores as `CONTRAST_SCORES_SCHEMA`."""
    write_rows(path, CONTRAST_SCORES_SCHEMA, ({"id": n, **score._asdict()} for n, score in enumerate(scores)))


def read_contrast_scores(path: Path) -> Iterator[ContrastScore]:
    """Read the scores that `write_contrast_scores` wrote."""
    return (ContrastScore(**row) for row in read_rows(path, columns=list(ContrastScore._fields)))


class AttentionHead(NamedTuple):
    """One of the attentions of a model, named as in `ATTENTION_SCHEMA`."""

    attention: str
    layer: int | None
    head: int | None
    component: str | None = None
    """The component that computes or trains this head."""


class LabelledTree(NamedTuple):
    """A tree with an entry per word."""

    heads: Sequence[int]
    """1-based, 0 = root."""
    labels: Sequence[str] | None


class AnalysedSentence(NamedTuple):
    """A source sentence, and all that a model makes of it."""

    number: int
    """Of the line, or of the treebank's sentence, from 1."""
    text: str
    words: Sequence[str]
    gold: LabelledTree | None
    gold_is_read: bool
    """Whether the system reads the gold tree, since it was trained on trees that came with its corpus."""
    annotations: dict[str, LabelledTree]
    """The other trees that the system reads, by the annotator that made them; it may fail."""
    parse: list[int] | None
    """The heads that the model predicts, 1-based, 0 = root; None if it does not parse."""
    translation: str
    tags: list[TaggedWord] | None
    """The words of the translation with their tags; None if the model predicts none."""
    gates: GatedSentence | None
    """The translation with its gate norms; None if the model has no gate in the decoder."""
    source_tokens: list[str]
    target_tokens: list[str]
    """The subwords, with `</s>`."""
    weights: list[np.ndarray]
    """A map per attention head, (Q, K), uint8, in percent. The keys are the source tokens, and the queries the target
    tokens if the attention is that of the decoder, else the source tokens."""
    head_trees: list[list[int]]
    """The tree of each attention head of the encoder, in the order of `AnalysedModel.heads`."""


class AnalysedModel(NamedTuple):
    """A model's settings that matter for what is shown, and sentences."""

    system: str
    dataset: str
    source: str
    target: str
    """The codes of the languages."""
    trees: str | None
    """What the trees of the model are compared with (`RunSettings.tree_comparison`); None if it does not parse."""
    heads: list[AttentionHead]
    """First those of the encoder."""
    sentences: list[AnalysedSentence]


def is_of_decoder(head: AttentionHead) -> bool:
    """Whether the queries of an attention are target tokens."""
    return head.attention != "encoder" and head.layer is not None
