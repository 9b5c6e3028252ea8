"""Contrastive pairs: a source with a right translation and wrong ones, which differ from it in one phenomenon each.

A file of pairs has lines with tabs below a header. Their sources stand there, or are sentences of a CoNLL-U file, with
their words and trees.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.formats.conllu import parse_sentence, sentences
from nmtcore.corpus.formats.rows import Format, Inputs, Row, replace_separators
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.read import open_corpus
from nmtcore.corpus.text_lines import BadRow, Input, Piece, decode, lines, natural_number
from nmtcore.errors import LineError, UserError, quoted
from nmtcore.parquet import read_rows, write_rows

COLUMNS = ("source", "right", "wrong", "phenomenon", "distance")
"""The columns of a file, in any order; `distance` may be missing or empty, and others are ignored.

If a CoNLL-U file has the sources, `sent_id` takes the place of `source`. `right_words` and `wrong_words` may give the
words of translations, with spaces between them.
"""
CONTRASTS_SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("entry", pa.int64()),
        ("right", pa.int64()),
        ("wrong", pa.int64()),
        ("phenomenon", pa.string()),
        ("distance", pa.int64()),
    ]
)
"""`corpus/{split}.contrasts.parquet`, one row per pair, `id` counting them from 0.

`entry` counts sources with their right translations; `right` and `wrong` are ids of sentence pairs of the split.
"""

_PHENOMENON = re.compile(r"\w[\w.+: -]*")


class WrongTranslation(NamedTuple):
    """A wrong translation."""

    side: Side
    phenomenon: str
    """What is wrong in it."""
    distance: int | None = None
    """The words between those that the phenomenon relates: 1 if they are neighbours. None: it relates no two words."""


class ContrastEntry(NamedTuple):
    """A source with its right translation and wrong ones."""

    source: Side
    right: Side
    wrong: Sequence[WrongTranslation]
    place: str = ""
    """Where it is in its file: "line 2"."""

    @property
    def pairs(self) -> Iterator[tuple[Side, Side]]:
        """The source with each translation, the right one first."""
        for target in (self.right, *(wrong.side for wrong in self.wrong)):
            yield self.source, target


class ContrastRows(NamedTuple):
    """A pair of translations of one source, as rows among all sentence pairs of the entries (`ContrastEntry.pairs`)."""

    right: int
    wrong: int
    phenomenon: str
    distance: int | None


class Contrastive(Format):
    """The format `contrastive`: each source with its right translation, and then with each wrong one."""

    def rows(self, inputs: Inputs) -> Iterator[Row]:
        """Yield finished pairs."""
        return (pair for entry in self.entries(inputs) for pair in entry.pairs)

    def entries(self, inputs: Inputs) -> Iterator[ContrastEntry]:
        """Yield the entries of all files, one after the other."""
        files = inputs.get("sentences")
        known = files and {id_: side for file in files for id_, side in _sentences_by_id(file)}
        return (entry for file in inputs["pairs"] for entry in read_contrasts(file, known))


def _sentences_by_id(file: Input) -> Iterator[tuple[str, Side]]:
    """Yield the sentences of a CoNLL-U file with their ids. Raises `LineError` for one that cannot be read."""
    for piece in sentences(file):
        try:
            yield piece.ids[0], parse_sentence(piece, surface=False)
        except BadRow as error:
            raise _line_error(error) from error


def contrast_rows(entries: Iterable[ContrastEntry]) -> Iterator[ContrastRows]:
    """Yield the rows of each wrong translation and of the right one, in the order of the entries."""
    return (rows for _, rows in _numbered_rows(entries))


def _numbered_rows(entries: Iterable[ContrastEntry]) -> Iterator[tuple[int, ContrastRows]]:
    first = 0
    for number, entry in enumerate(entries):
        for row, wrong in enumerate(entry.wrong, start=first + 1):
            yield number, ContrastRows(first, row, wrong.phenomenon, wrong.distance)
        first += 1 + len(entry.wrong)


def read_contrasts(file: Input, known: Mapping[str, Side] | None = None) -> Iterator[ContrastEntry]:
    """Yield the entries of a file of pairs (`COLUMNS`). `known` are sources by `sent_id`; None: the file has them.

    Consecutive lines with the same source and right translation are one entry. Raises `LineError` if a line is broken
    or a text is empty, and `UserError` if there is no pair.
    """
    table = map(_cells, lines(file))
    _, names = next(table, (0, []))
    if names and names[0].lstrip().startswith(("[", "{")):
        raise LineError(
            file.path,
            1,
            "JSON, the form of LingEval97, is not read any more: write one pair per line, with tabs between the "
            f"columns {', '.join(COLUMNS)}, below a line with these names.",
        )
    needed = ("source" if known is None else "sent_id", *COLUMNS[1:-1])
    if names and any(names.count(name) != 1 for name in needed):
        columns = ", ".join(needed)
        raise LineError(file.path, 1, f"the header must name each of the columns {columns} once, with tabs between.")
    is_empty = True
    pairs = ((number, *_pair(file.path, number, names, cells, known)) for number, cells in table)
    for (source, right), group in groupby(pairs, key=lambda row: (row[1], row[2])):
        is_empty = False
        places, _, _, wrong = zip(*group, strict=True)
        yield ContrastEntry(source, right, wrong, f"line {places[0]}")
    if is_empty:
        raise UserError(f"{file.path} has no contrastive pairs: check the file.")


def _cells(piece: Piece) -> tuple[int, list[str]]:
    """Return the number of a line and its cells."""
    try:
        return piece.line, decode(piece).split("\t")
    except BadRow as error:
        raise _line_error(error) from error


def _line_error(error: BadRow) -> LineError:
    return LineError(error.path, error.line, f"{error.fault}: correct the file.")


def _pair(
    path: Path, number: int, names: Sequence[str], cells: Sequence[str], known: Mapping[str, Side] | None
) -> tuple[Side, Side, WrongTranslation]:
    """Return the source, the right translation and the wrong one of a line."""
    values = {name: replace_separators(cell) for name, cell in zip(names, cells, strict=False)}
    fault, phenomenon, distance = None, values.get("phenomenon", "").strip(), values.get("distance", "").strip()
    source_column = "source" if known is None else "sent_id"
    if len(cells) != len(names):
        fault = f"there are {len(cells)} columns, but the header has {len(names)}"
    elif empty := [name for name in (source_column, "right", "wrong") if not values[name].strip()]:
        fault = f"{empty[0]} is empty"
    elif known is not None and values["sent_id"] not in known:
        fault = f"no sentence of the CoNLL-U file has the sent_id {quoted(values['sent_id'])}"
    elif other := [name for name in ("right", "wrong") if not _are_words_of(values, name)]:
        fault = f"{other[0]}_words differs from {other[0]} by more than white space"
    elif not _PHENOMENON.fullmatch(phenomenon):
        fault = f"the phenomenon {quoted(phenomenon)} is not a name of letters, digits and _ . + : -"
    elif distance and natural_number(distance) is None:
        fault = f"the distance {quoted(distance)} is not a whole number of words"
    if fault:
        raise LineError(path, number, f"{fault}: correct the line.")
    source = Side(text=values["source"]) if known is None else known[values["sent_id"]]
    wrong = WrongTranslation(_translation(values, "wrong"), phenomenon, natural_number(distance))
    return source, _translation(values, "right"), wrong


def _translation(values: Mapping[str, str], name: str) -> Side:
    """Return a translation, with its words if they are given; a no-break space is part of a word."""
    words = values.get(f"{name}_words")
    return Side(text=values[name], words=None if words is None else list(filter(None, words.split(" "))))


def _are_words_of(values: Mapping[str, str], name: str) -> bool:
    """Return whether the words of a column are those of its text; true if they are not given."""
    words = values.get(f"{name}_words", values[name])
    return "".join(words.split()) == "".join(values[name].split())


def list_contrasts(settings: ReadingSettings, *, dataset: str, downloads: Path, output: Path) -> None:
    """Write the contrastive pairs of a split, which consists of whole corpora, as `CONTRASTS_SCHEMA`.

    The settings are those of reading the split, and so are the errors.
    """
    corpora = (open_corpus(settings, part.corpus, dataset=dataset, downloads=downloads) for part in settings.parts)
    rows = _numbered_rows(entry for format, inputs in corpora for entry in format.entries(inputs))
    values = ({"id": id_, "entry": entry, **row._asdict()} for id_, (entry, row) in enumerate(rows))
    write_rows(output, CONTRASTS_SCHEMA, values)


def read_contrast_list(path: Path, *, entries: int | None = None) -> list[ContrastRows]:
    """Read the pairs of the first `entries` sources (None: all) of a file that `list_contrasts` wrote."""
    rows = read_rows(path, columns=["entry", *ContrastRows._fields])
    chosen = (row for row in rows if entries is None or row["entry"] < entries)
    return [ContrastRows(*(row[name] for name in ContrastRows._fields)) for row in chosen]
