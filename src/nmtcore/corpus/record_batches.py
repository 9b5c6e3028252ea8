"""From a chunk of rows to a record batch of `RAW_SCHEMA`: parse, fix the words, check, count."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, NamedTuple

import pyarrow as pa

from nmtcore.config.formats import FORMATS, FormatOptions
from nmtcore.corpus.formats.rows import SEPARATORS, BadRow, ReadingContext, Row, clean
from nmtcore.corpus.pairs import RAW_SCHEMA, SIDES, Side
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.writing_systems import count_unspaced
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import COLUMNS, Annotation, annotation_fault, failed
from nmtcore.syntax.trees import HEAD_OF_ROOT

CUT_AT_SPACES = ("spaces", "moses")
"""Kinds of words that leave a text in one piece where its script has no spaces."""
WORDS_DIFFER = "the words are not those of the tree"


@dataclass(frozen=True, kw_only=True)
class CorpusReader:
    """All that a process needs to know to turn rows into batches."""

    corpus: str
    format: str
    options: FormatOptions
    context: ReadingContext
    words: dict[str, WordTokenizer]

    @property
    def module(self) -> ModuleType:
        """The format's reader."""
        return FORMATS.module(self.format)


class RowChunk(NamedTuple):
    """Rows of a corpus: `numbers` are theirs in the corpus (from 1, ascending), `id` is the first row's id."""

    reader: CorpusReader
    numbers: Sequence[int]
    id: int
    rows: list[Row]


class BadPair(NamedTuple):
    """A pair that was left out; the parts of a `LineError`, which cannot travel between processes itself."""

    reason: str
    path: str
    line: int
    what: str


@dataclass
class RawBatch:
    """The pairs of a chunk that could be read, and what was seen on the way."""

    corpus: str
    pairs: pa.RecordBatch
    bad: list[BadPair] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    """Of (what, side) or (what, side, reason)."""


def read_chunk(chunk: RowChunk) -> RawBatch:
    """Read every row of a chunk. Raises `UserError` only for faults that no single row is guilty of."""
    reader, module = chunk.reader, chunk.reader.module
    columns: dict[str, list[Any]] = {name: [] for name in RAW_SCHEMA.names}
    bad, counts = [], Counter()
    for offset, row in enumerate(chunk.rows):
        try:
            sides = module.parse(row, reader.options, reader.context)
        except BadRow as error:
            bad.append(BadPair(error.reason, error.path, error.line, error.what))
            continue
        if reader.context.treebank and all(side.words is None for side in sides):
            raise UserError(
                f"The corpus '{reader.corpus}' stands in a treebank (a split called gold_... or treebank_...), but its "
                f"format {reader.format} gives no words: a treebank is {{format: conllu}} or {{format: czeng}}."
            )
        columns["id"].append(chunk.id + offset)
        columns["origin"].append(f"{reader.corpus}:{chunk.numbers[offset]}")
        for name, side in zip(SIDES, sides, strict=True):
            _add(columns, name, _finished(side, reader, name, counts), counts)
    arrays = [pa.array(columns[name], type=RAW_SCHEMA.field(name).type) for name in RAW_SCHEMA.names]
    return RawBatch(reader.corpus, pa.RecordBatch.from_arrays(arrays, schema=RAW_SCHEMA), bad, counts)


def _finished(side: Side, reader: CorpusReader, name: str, counts: Counter) -> Side:
    """Clean a side's text and fix its words; a tree that speaks of other words becomes null with a reason.

    In a treebank the words that the format gives are kept, however the data set fixes its words elsewhere.
    """
    text, words, annotation = side.text, side.words, side.annotation
    if not text.isprintable() and any(mark in text for mark in SEPARATORS):
        counts["line_separators", name] += 1
        text = clean(text)
    fixer = reader.words[name]
    if fixer.kind == "given" or (reader.context.treebank and words is not None):
        if words is None:
            raise UserError(
                f"The words of the {name} side are to be as given, but the format {reader.format} of corpus "
                f"'{reader.corpus}' gives none: write `words: moses` or `spaces`."
            )
    else:
        given, words = words, fixer.split(text)
        if fixer.kind in CUT_AT_SPACES:
            count_unspaced(text, words, name, counts)
        if annotation is not None and annotation.reason is None and list(given or ()) != words:
            annotation = failed(WORDS_DIFFER)
    return replace(side, text=text, words=words, annotation=annotation)


def _add(columns: dict[str, list[Any]], name: str, side: Side, counts: Counter) -> None:
    columns[name].append(side.text)
    columns[f"{name}_words"].append(side.words)
    annotation = side.annotation
    columns[f"{name}_annotation"].append(annotation and {column: getattr(annotation, column) for column in COLUMNS})
    counts["words", name] += len(side.words)
    counts["empty", name] += not side.words
    if annotation is not None:
        _count_tree(annotation, name, len(side.words), counts)


def _count_tree(annotation: Annotation, name: str, words: int, counts: Counter) -> None:
    fault = annotation_fault(annotation, words)
    assert fault is None, fault
    if annotation.reason is not None:
        counts["null_annotations", name, annotation.reason] += 1
    elif annotation.head is not None:
        counts["several_roots", name] += sum(head == HEAD_OF_ROOT for head in annotation.head) > 1
