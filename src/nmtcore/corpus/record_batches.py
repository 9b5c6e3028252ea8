"""Turn a chunk of a corpus's rows into a record batch (`RAW_SCHEMA`): parse the rows, fix their words, check, count."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, NamedTuple

import pyarrow as pa

from nmtcore.config.formats import FORMATS, FormatOptions
from nmtcore.corpus.formats.rows import SEPARATORS, BadRow, ReadingContext, Row, replace_separators
from nmtcore.corpus.pairs import RAW_SCHEMA, SIDES, Side
from nmtcore.corpus.tokenisation import WordTokenizer
from nmtcore.corpus.writing_systems import count_unspaced
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import COLUMNS, Annotation, annotation_fault, failed
from nmtcore.syntax.trees import HEAD_OF_ROOT

SEGMENTED_BY_SPACES = ("spaces", "moses")
"""Kinds of words that do not segment scripts without spaces."""
WORDS_DIFFER = "the words are not those of the tree"
"""The reason for a missing annotation if tokenisation changed the words of a tree."""


@dataclass(frozen=True, kw_only=True)
class CorpusReader:
    """Everything that a worker process needs to turn the rows of a corpus into record batches."""

    corpus: str
    format: str
    options: FormatOptions
    context: ReadingContext
    tokenizers: dict[str, WordTokenizer]

    @property
    def module(self) -> ModuleType:
        """The module that reads the corpus's format."""
        return FORMATS.module(self.format)


class RowChunk(NamedTuple):
    """Rows of a corpus that one task reads."""

    reader: CorpusReader
    numbers: Sequence[int]
    """Numbers of the rows in the corpus (from 1, ascending)."""
    first_id: int
    """The `id` of the first row in the split."""
    rows: list[Row]


class BadPair(NamedTuple):
    """A pair that could not be read. It has the parts of a `LineError`, which cannot be pickled."""

    reason: str
    path: str
    line: int
    fault: str


@dataclass
class RawBatch:
    """The readable pairs of a chunk, its bad pairs and its counts."""

    corpus: str
    pairs: pa.RecordBatch
    bad: list[BadPair] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    """Counts by (name, side) or (name, side, reason)."""


def read_chunk(chunk: RowChunk) -> RawBatch:
    """Read all rows of a chunk. Raises `UserError` for faults that do not concern a single row."""
    reader, module = chunk.reader, chunk.reader.module
    columns: dict[str, list[Any]] = {name: [] for name in RAW_SCHEMA.names}
    bad, counts = [], Counter()
    for offset, row in enumerate(chunk.rows):
        try:
            sides = module.parse(row, reader.options, reader.context)
        except BadRow as error:
            bad.append(BadPair(error.reason, error.path, error.line, error.fault))
            continue
        if reader.context.treebank and all(side.words is None for side in sides):
            raise UserError(
                f"The corpus '{reader.corpus}' is used as a treebank (a split called gold_... or treebank_...), but its"
                f" format {reader.format} has no words: use {{format: conllu}} or {{format: czeng}}."
            )
        columns["id"].append(chunk.first_id + offset)
        columns["origin"].append(f"{reader.corpus}:{chunk.numbers[offset]}")
        for name, side in zip(SIDES, sides, strict=True):
            _append_side(columns, name, _with_words(side, reader, name, counts), counts)
    arrays = [pa.array(columns[name], type=RAW_SCHEMA.field(name).type) for name in RAW_SCHEMA.names]
    return RawBatch(reader.corpus, pa.RecordBatch.from_arrays(arrays, schema=RAW_SCHEMA), bad, counts)


def _with_words(side: Side, reader: CorpusReader, name: str, counts: Counter) -> Side:
    """Clean a side's text and fix its words. If its tree has other words, replace the tree by a reason.

    A treebank keeps the words of its format, even if the data set tokenises other text differently.
    """
    text, words, annotation = side.text, side.words, side.annotation
    if not text.isprintable() and any(separator in text for separator in SEPARATORS):
        counts["line_separators", name] += 1
        text = replace_separators(text)
    tokenizer = reader.tokenizers[name]
    words_kind = tokenizer.settings.kind
    if words_kind == "given" or (reader.context.treebank and words is not None):
        if words is None:
            raise UserError(
                f"The {name} side has `words: given`, but the format {reader.format} of corpus '{reader.corpus}' has no"
                " words: write `words: moses` or `spaces`."
            )
    else:
        format_words, words = words, tokenizer.split(text)
        if words_kind in SEGMENTED_BY_SPACES:
            count_unspaced(text, words, name, counts)
        if annotation is not None and annotation.reason is None and list(format_words or ()) != words:
            annotation = failed(WORDS_DIFFER)
    return replace(side, text=text, words=words, annotation=annotation)


def _append_side(columns: dict[str, list[Any]], name: str, side: Side, counts: Counter) -> None:
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
