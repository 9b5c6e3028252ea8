"""Annotated sentences of many shapes, and files that contain them."""

import numpy as np
import pyarrow as pa
from factories import side
from forests import forests
from hypothesis import strategies as st

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.features import LABEL_COLUMNS
from nmtcore.features.examples import TOKENS_SCHEMA
from nmtcore.features.ragged import Ragged
from nmtcore.features.syntax import AnnotatedWords
from nmtcore.files import write_json
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import Annotation, failed

LABELS = ("deprel", "upos", "xpos", "ccg")
TAGS = ["root", "obj", "nsubj:pass", "new"]
VOCABULARY = {column: list(LABEL_SPECIALS) for column in LABEL_COLUMNS} | {
    "deprel": [*LABEL_SPECIALS, "root", "obj"],
    "upos": [*LABEL_SPECIALS, "obj"],
    "dg_a": [*LABEL_SPECIALS, "root|root", "obj|root", "obj|nsubj:pass"],
    "dg_b": [*LABEL_SPECIALS, "root|R", "obj|L", "obj|R|L+R", "root"],
    "ccg": [*LABEL_SPECIALS, "root", "obj", "nsubj:pass"],
    "random": [*LABEL_SPECIALS, "root", "obj", "nsubj:pass"],
}


@st.composite
def annotated(draw, least=1):
    """Draw a sentence, as the number of subwords per word, and its annotation, possibly null or with null columns.

    The last word has a subword.
    """
    pieces = draw(st.lists(st.integers(least, 3) | st.just(30), max_size=6))
    pieces[-1:] = [max(1, count) for count in pieces[-1:]]
    n = len(pieces)
    if not n or draw(st.integers(0, 4)) == 0:
        return pieces, failed("why")
    heads = draw(st.none() | forests(n))
    words = st.lists(st.sampled_from(TAGS), min_size=n, max_size=n)
    return pieces, Annotation(head=heads, **{column: draw(st.none() | words) for column in LABELS})


def words_of(pieces):
    """Return the word of every subword."""
    return [word for word, count in enumerate(pieces) for _ in range(count)]


def annotated_words(sentences, *, ids=None, labels=VOCABULARY, name="source"):
    """Make the words of annotated sentences; `ids` default to 0, 1..."""
    ids = range(len(sentences)) if ids is None else ids
    rows = [annotation_row(id, annotation) for id, (_, annotation) in zip(ids, sentences, strict=True)]
    words = Ragged.from_lists([words_of(pieces) for pieces, _ in sentences], np.int32)
    annotation = pa.RecordBatch.from_pylist(rows, schema=ANNOTATION_SCHEMA)
    return AnnotatedWords(annotation=annotation, word_of_subword=words, labels=labels, side=name, where="file")


def write_features(folder, sentences, *, ids=None, annotation_ids=None):
    """Write the input files of `extract_syntax`; `sentences` are (pieces, annotation)."""
    ids = list(range(len(sentences))) if ids is None else ids
    rows = (
        {"id": id, "ids": [5] * sum(pieces), "word_of_subword": words_of(pieces)}
        for id, (pieces, _) in zip(ids, sentences, strict=True)
    )
    write_rows(folder / "train.source.parquet", TOKENS_SCHEMA, rows)
    annotations = [annotation for _, annotation in sentences]
    write_rows(folder / "trees", ANNOTATION_SCHEMA, map(annotation_row, annotation_ids or ids, annotations))
    write_json(folder / "labels", VOCABULARY)


def lists_of(ragged):
    """Return the rows as lists."""
    return [row.tolist() for row in ragged]


def side_of_words(sentences, labels=None, column="ccg"):
    """Make one side of sentences, which are lists of words, which are lists of subwords; words may have labels."""
    ids = [[piece for word in sentence for piece in word] for sentence in sentences]
    numbers = [[number for number, word in enumerate(sentence) for _ in word] for sentence in sentences]
    return side(ids, numbers, {} if labels is None else {column: labels})


def ids_and_words(one_side):
    """Return the subwords of each sentence, and their words."""
    return lists_of(one_side.ids), lists_of(one_side.word_of_subword)
