"""Contrastive pairs: a source with a right translation and wrong ones, which differ from it in one phenomenon each.

A file of pairs is JSON in the form of LingEval97 (Sennrich 2017, "How Grammatical is Character-level Neural Machine
Translation? Assessing MT Quality with Contrastive Translation Pairs"), or lines with tabs below a header.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from nmtcore.corpus.formats.rows import BadRow, Input, Piece, decode, lines
from nmtcore.corpus.pairs import Side
from nmtcore.corpus.streams import open_stream
from nmtcore.errors import LineError, UserError, quoted
from nmtcore.files import parse_json

COLUMNS = ("source", "right", "wrong", "phenomenon", "distance")
"""The columns of a file with tabs, in any order; `distance` may be missing or empty, and others are ignored."""

_REQUIRED = COLUMNS[:-1]
_PHENOMENON = re.compile(r"\w[\w.+: -]*")
_JSON_STARTS = (b"[", b"{")


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
    """Where it is in its file: "line 2", or "entry 1" of a list of JSON."""

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


def contrast_rows(entries: Iterable[ContrastEntry]) -> Iterator[ContrastRows]:
    """Yield the rows of each wrong translation and of the right one, in the order of the entries."""
    first = 0
    for entry in entries:
        for row, wrong in enumerate(entry.wrong, start=first + 1):
            yield ContrastRows(first, row, wrong.phenomenon, wrong.distance)
        first += 1 + len(entry.wrong)


def read_contrasts(file: Input) -> Iterator[ContrastEntry]:
    """Yield the entries of a file of pairs that have wrong translations; see `COLUMNS` for a file with tabs.

    Consecutive lines with the same source and right translation are one entry. JSON is a list of objects with `source`,
    `reference` and `errors`, each with `contrastive`, `type` and perhaps `distance`. Raises `LineError` or, for JSON,
    `UserError` if an entry is broken or a text is empty, and `UserError` if there is no pair.
    """
    with open_stream(file.path, file.member) as stream:
        is_json = stream.peek(64)[:64].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(_JSON_STARTS)
    count = 0
    for entry in _json_entries(file) if is_json else _tab_entries(file):
        count += len(entry.wrong)
        if entry.wrong:
            yield entry
    if not count:
        raise UserError(f"{file.path} has no contrastive pairs: check the file.")


def _tab_entries(file: Input) -> Iterator[ContrastEntry]:
    rows = lines(file)
    header = next(rows, None)
    if header is None:
        return
    names = _decoded(header).split("\t")
    if missing := [name for name in _REQUIRED if names.count(name) != 1]:
        raise LineError(
            header.path,
            1,
            f"the header must name each of the columns {', '.join(_REQUIRED)} once, with tabs between them; "
            f"{missing[0]} is {'missing' if missing[0] not in names else 'there twice'}. (LingEval97's own file is "
            "JSON, a list of objects.)",
        )
    parsed = (_tab_row(piece, names) for piece in rows)
    for (source, right), group in groupby(parsed, key=lambda row: (row[1], row[2])):
        group = list(group)
        yield ContrastEntry(Side(text=source), Side(text=right), [row[3] for row in group], f"line {group[0][0]}")


def _tab_row(piece: Piece, names: Sequence[str]) -> tuple[int, str, str, WrongTranslation]:
    """Return the line's number, the source, the right translation and the wrong one."""
    cells = _decoded(piece).split("\t")
    try:
        if len(cells) != len(names):
            raise ValueError(f"there are {len(cells)} columns, but the header has {len(names)}")
        values = dict(zip(names, cells, strict=True))
        texts = [_text(values[name], name) for name in ("source", "right", "wrong")]
        distance = values.get("distance", "").strip()
        wrong = _wrong_translation(texts[2], values["phenomenon"], distance or None)
    except ValueError as error:
        raise LineError(piece.path, piece.line, f"{error}: correct the line.") from error
    return piece.line, texts[0], texts[1], wrong


def _json_entries(file: Input) -> Iterator[ContrastEntry]:
    with open_stream(file.path, file.member) as stream:
        values = parse_json(stream.read(), file.path)
    if not isinstance(values, list):
        raise UserError(f"{file.path} must be a list of objects with source, reference and errors, as in LingEval97.")
    for number, value in enumerate(values, start=1):
        try:
            yield _json_entry(value, number)
        except ValueError as error:
            raise UserError(f"{file.path}, entry {number}: {error}: correct the entry.") from error


def _json_entry(value: Any, number: int) -> ContrastEntry:
    source, right = (Side(text=_text(_member(value, name), name)) for name in ("source", "reference"))
    errors = _member(value, "errors")
    if not isinstance(errors, list):
        raise ValueError("errors is not a list")
    wrong = [
        _wrong_translation(
            _text(_member(error, "contrastive"), "contrastive"), _member(error, "type"), error.get("distance")
        )
        for error in errors
    ]
    return ContrastEntry(source, right, wrong, f"entry {number}")


def _member(value: Any, name: str) -> Any:
    if not isinstance(value, dict) or name not in value:
        raise ValueError(f"{name} is missing")
    return value[name]


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} is {'empty' if isinstance(value, str) else 'not a text'}")
    return " ".join(value.splitlines())


def _wrong_translation(text: str, phenomenon: Any, distance: Any) -> WrongTranslation:
    if not isinstance(phenomenon, str) or not _PHENOMENON.fullmatch(phenomenon.strip()):
        raise ValueError(f"the phenomenon {quoted(str(phenomenon))} is not a name of letters, digits and _ . + : -")
    return WrongTranslation(Side(text=text), phenomenon.strip(), _distance(distance))


def _distance(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not re.fullmatch("[0-9]{1,9}", str(value)):
        raise ValueError(f"the distance {quoted(str(value))} is not a whole number of words")
    return int(value)


def _decoded(piece: Piece) -> str:
    try:
        return decode(piece)
    except BadRow as error:
        raise LineError(error.path, error.line, error.fault) from error
