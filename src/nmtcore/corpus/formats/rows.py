"""Building blocks of the formats: numbered lines, rows of parallel files, and faults of a row."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.corpus.encodings import SAMPLE, convert_advice, wide_encoding
from nmtcore.corpus.streams import open_stream
from nmtcore.errors import UserError

LONGEST_LINE = 1 << 26
"""Bytes; a longer line indicates that the file is not text."""
SEPARATORS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""The characters besides `\\n` that end a line for `str.splitlines` and many tools, but not here."""
_WHITE_SPACE = re.compile("[ \t\r\n]+")
_TO_SPACES = str.maketrans(dict.fromkeys(SEPARATORS, " "))


class Input(NamedTuple):
    """A file of a corpus, and the member to read if it is an archive."""

    path: Path
    member: str | None


class Piece(NamedTuple):
    """Consecutive lines of a file as raw bytes, and the number (from 1) of the first line."""

    path: str
    line: int
    data: bytes


class ReadingContext(NamedTuple):
    """The languages of both sides, and whether the rows are a gold treebank.

    The words of a treebank are the words of its trees, on both sides.
    """

    source: str
    target: str
    treebank: bool = False


Row = tuple[Any, ...]
"""The unparsed input for one pair: pieces of files (for the demo corpus: a finished pair)."""
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

    Raises `UserError` if the file is in UTF-16 or UTF-32, or if a line is longer than `LONGEST_LINE`.
    """
    path = str(file.path)
    with open_stream(file.path, file.member) as stream:
        if encoding := wide_encoding(stream.peek(SAMPLE)):
            member = f", member {file.member}," if file.member else ""
            raise UserError(f"{path}{member} {convert_advice(encoding)} and put the new file in its place.")
        number = 0
        while line := stream.readline(LONGEST_LINE):
            if number == 0:
                line = line.removeprefix(b"\xef\xbb\xbf")
            number += 1
            if len(line) == LONGEST_LINE:
                raise UserError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes: is this a text file?")
            yield Piece(path, number, line.removesuffix(b"\n").removesuffix(b"\r"))


def decode(piece: Piece) -> str:
    """Decode the text of a piece. Raises `BadRow` if it is not UTF-8 or contains a NUL byte."""
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
