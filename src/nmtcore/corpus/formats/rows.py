"""Building blocks of the formats: numbered lines, rows of parallel files, and faults of a row."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.datasets import MAX_LINE_BYTES
from nmtcore.corpus.encodings import SAMPLE, convert_advice, wide_encoding
from nmtcore.corpus.streams import open_stream
from nmtcore.errors import UserError, quoted

_REST = 1 << 16
"""Bytes of a long line that are read and dropped at a time."""
SEPARATORS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""The characters besides `\\n` that end a line for `str.splitlines` and many tools, but not here."""
_WHITE_SPACE = re.compile("[ \t\r\n]+")
_TO_SPACES = str.maketrans(dict.fromkeys(SEPARATORS, " "))


class Input(NamedTuple):
    """A file of a corpus, and the member to read if it is an archive."""

    path: Path
    member: str | None
    max_line_bytes: int = MAX_LINE_BYTES
    """The most bytes of a line, and of the lines of one sentence, segment or unit."""


class Piece(NamedTuple):
    """Consecutive lines of a file as raw bytes, and the number (from 1) of the first line."""

    path: str
    line: int
    data: bytes
    cut_at: int = 0
    """The `max_line_bytes` of the file if the lines have more; `data` is then empty. 0: they do not."""
    ids: tuple[str, ...] = ()
    """What identifies the lines in their file, such as a document and a segment; "" for an id that is not given."""


class ReadingContext(NamedTuple):
    """The languages of both sides, and whether the rows are a gold treebank.

    The words of a treebank are the words of its trees, on both sides.
    """

    source: str
    target: str
    treebank: bool = False


Row = tuple[Any, ...]
"""The unparsed input for one pair: pieces of files (for the demo corpus: a finished pair)."""


def row_bytes(row: Row) -> int:
    """Estimate the memory of a row's text, in bytes."""
    size = 0
    for part in row:
        if isinstance(part, Piece):
            size += len(part.data)
        elif isinstance(part, str):
            size += len(part)
        elif isinstance(part, tuple):
            size += row_bytes(part)
    return size


Inputs = Mapping[str, Sequence[Input]]
"""The files of a corpus by role."""


class BadRow(Exception):
    """A pair that cannot be read: where and why, and the `reason` under which reports count it."""

    def __init__(self, reason: str, piece: Piece, fault: str, *, line: int = 0) -> None:
        super().__init__(fault)
        self.reason = reason
        self.path = piece.path
        self.line = piece.line + line
        self.fault = fault


def lines(file: Input) -> Iterator[Piece]:
    """Yield each line without its end (`\\n` or `\\r\\n`) and without a byte order mark.

    A line of more than the file's `max_line_bytes` is cut. Raises `UserError` if the file is in UTF-16 or UTF-32.
    """
    path = str(file.path)
    with open_stream(file.path, file.member) as stream:
        if encoding := wide_encoding(stream.peek(SAMPLE)):
            member = f", member {file.member}," if file.member else ""
            raise UserError(f"{path}{member} {convert_advice(encoding)} and put the new file in its place.")
        number = 0
        while line := stream.readline(file.max_line_bytes + 2):  # with "\r\n"
            data = line.removesuffix(b"\n").removesuffix(b"\r")
            if number == 0:
                data = data.removeprefix(b"\xef\xbb\xbf")
            number += 1
            if len(data) <= file.max_line_bytes:
                yield Piece(path, number, data)
                continue
            while line and not line.endswith(b"\n"):
                line = stream.readline(_REST)
            yield Piece(path, number, b"", file.max_line_bytes)


def check_length(piece: Piece) -> None:
    """Raise `BadRow` if a piece was cut because it is too long."""
    if piece.cut_at:
        raise BadRow("too long", piece, too_long(piece.cut_at, "drop the pair (max_bad_lines)"))


def too_long(limit: int, remedy: str) -> str:
    """Say that something has more than `limit` bytes, and what else than a higher limit helps."""
    return f"has more than {limit:,} bytes: is it text? Correct the file, {remedy}, or raise max_line_bytes."


class IdsOfFile:
    """The ids of the pieces of a file, with marks where a damaged file lacks one or repeats one."""

    def __init__(self) -> None:
        self._level: tuple[str, ...] = ()
        self._seen: set[str] = set()
        self._has_ids = False

    def of(self, id_: str, *outer: str) -> tuple[str, ...]:
        """Return the ids of the next piece: those of what it is in (a document), and its own, which may be ""."""
        if outer != self._level:
            self._level = outer
            self._seen.clear()
        self._has_ids |= bool(id_)
        own = id_ or ("(no id)" if self._has_ids else "")
        if id_ and outer and id_ in self._seen:
            own = f"{id_} (again)"
        if outer:  # else the ids of a whole file would be kept
            self._seen.add(id_)
        return (*outer, own)


def check_same_ids(source: Piece, target: Piece) -> None:
    """Raise `BadRow` if two parallel pieces both have an id at some level and the ids differ."""
    if any(left and right and left != right for left, right in zip(source.ids, target.ids, strict=False)):
        left, right = (", ".join(id_ or "-" for id_ in piece.ids) for piece in (source, target))
        place = f"{target.path}, line {target.line}"
        fault = (
            f"has the id {quoted(left)}, but the other side ({place}) has {quoted(right)}: align the files, or raise "
            "max_bad_lines to drop the pair."
        )
        raise BadRow("ids differ", source, fault)


def decode(piece: Piece) -> str:
    """Decode the text of a piece. Raises `BadRow` if it is too long, not UTF-8, or contains a NUL byte."""
    check_length(piece)
    if b"\0" in piece.data:
        before = piece.data[: piece.data.index(b"\0")]
        raise BadRow(
            "nul byte",
            piece,
            "contains a NUL byte: correct the file, or raise max_bad_lines to drop the pair.",
            line=before.count(b"\n"),
        )
    try:
        return piece.data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = piece.data[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        fault = f"is not valid UTF-8 (byte {column}): convert the file, or raise max_bad_lines to drop the pair."
        raise BadRow("not utf-8", piece, fault, line=before.count(b"\n")) from error


def replace_separators(text: str) -> str:
    """Replace characters that other tools take for line ends by spaces."""
    return text.translate(_TO_SPACES)


def collapse_spaces(text: str) -> str:
    """Collapse XML white space into single spaces, and strip it from both ends."""
    return _WHITE_SPACE.sub(" ", text).strip(" ")


def pair_pieces(
    inputs: Inputs, readers: Mapping[str, Callable[[Input], Iterable[Piece]]], *, unit: str = "lines"
) -> Iterator[tuple[Piece, Piece]]:
    """Pair the pieces of the source files with those of the target files, file by file.

    Raises `UserError`, with both counts, if two parallel files differ in length.
    """
    sources, targets = inputs["source"], inputs["target"]
    if len(sources) != len(targets):
        raise UserError(
            f"The source has {len(sources)} files and the target {len(targets)}: list as many for each side."
        )
    for source, target in zip(sources, targets, strict=True):
        left, right = iter(readers["source"](source)), iter(readers["target"](target))
        for count, pair in enumerate(zip_longest(left, right)):
            if None in pair:
                counts = [
                    count + (piece is not None) + sum(1 for _ in rest)
                    for piece, rest in zip(pair, (left, right), strict=True)
                ]
                raise UserError(
                    f"{source.path} has {counts[0]} {unit}, but {target.path} has {counts[1]}: the files are not"
                    " parallel, so correct them."
                )
            yield pair
