"""What every format is built of: numbered lines, rows of aligned files, and the faults of a row."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from nmtcore.corpus.encodings import SAMPLE, convert_advice, wide_encoding
from nmtcore.corpus.streams import open_stream
from nmtcore.errors import UserError

LONGEST_LINE = 1 << 26
"""Bytes; a longer line is taken for a file that holds no lines at all."""
SEPARATORS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Besides `\\n`, whatever ends a line for `str.splitlines` and many tools, though not for us."""
_WHITE_SPACE = re.compile("[ \t\r\n]+")
_TO_SPACES = str.maketrans(dict.fromkeys(SEPARATORS, " "))


class Input(NamedTuple):
    """A file of a corpus, and the archive member to read."""

    path: Path
    member: str | None


class Piece(NamedTuple):
    """Some lines of a file as they stand there, and the number (from 1) of the first."""

    path: str
    line: int
    data: bytes


class ReadingContext(NamedTuple):
    """What rows are read for: the languages of both sides, and whether they are a gold treebank.

    The words of a treebank are those that its trees speak of, on both sides.
    """

    source: str
    target: str
    treebank: bool = False


Row = tuple[Any, ...]
"""What belongs to one pair before it is understood: pieces of files (the demo corpus: a finished pair)."""
Inputs = Mapping[str, Sequence[Input]]
"""A corpus's files by role."""


class BadRow(Exception):
    """A pair that cannot be read: the `reason` by which reports count it, and where and what it is."""

    def __init__(self, reason: str, piece: Piece, what: str, *, line: int = 0) -> None:
        super().__init__(what)
        self.reason = reason
        self.path = piece.path
        self.line = piece.line + line
        self.what = what


def lines(file: Input) -> Iterator[Piece]:
    """Yield every line without its end; only `\\n` (or `\\r\\n`) ends one. A byte order mark is taken off.

    Raises `UserError` for a file in UTF-16 or UTF-32.
    """
    path = str(file.path)
    with open_stream(file.path, file.member) as stream:
        if encoding := wide_encoding(stream.peek(SAMPLE)):
            of_member = f", member {file.member}," if file.member else ""
            raise UserError(f"{path}{of_member} {convert_advice(encoding)} and put the new file in its place.")
        number = 0
        while line := stream.readline(LONGEST_LINE):
            if number == 0:
                line = line.removeprefix(b"\xef\xbb\xbf")
            number += 1
            if len(line) == LONGEST_LINE:
                raise UserError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes. Is this a text file?")
            yield Piece(path, number, line.removesuffix(b"\n").removesuffix(b"\r"))


def decode(piece: Piece) -> str:
    """Give the text of a piece. Raises `BadRow` where it is not UTF-8 or holds a NUL byte."""
    if b"\0" in piece.data:
        before = piece.data[: piece.data.index(b"\0")]
        raise BadRow("nul byte", piece, "holds a NUL byte.", line=before.count(b"\n"))
    try:
        return piece.data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = piece.data[: error.start]
        column = error.start - (before.rfind(b"\n") + 1) + 1
        what = f"is not valid UTF-8 (byte {column}): convert the file, or raise max_bad_lines to leave the pair out."
        raise BadRow("not utf-8", piece, what, line=before.count(b"\n")) from error


def clean(text: str) -> str:
    """Put spaces where other tools would see the end of a line."""
    return text.translate(_TO_SPACES)


def spaced(text: str) -> str:
    """Make one space of what XML takes for white space, and none at the ends."""
    return _WHITE_SPACE.sub(" ", text).strip(" ")


def aligned(
    inputs: Inputs, readers: Mapping[str, Callable[[Input], Iterable[Piece]]], *, unit: str = "lines"
) -> Iterator[tuple[Piece, Piece]]:
    """Pair the pieces of the source's and the target's files, file by file.

    Raises `UserError` with both counts where two files that belong together are of unequal length.
    """
    sources, targets = inputs["source"], inputs["target"]
    if len(sources) != len(targets):
        raise UserError(f"The source has {len(sources)} files and the target {len(targets)}: they go in pairs.")
    for source, target in zip(sources, targets, strict=True):
        left, right = iter(readers["source"](source)), iter(readers["target"](target))
        for count, pair in enumerate(zip_longest(left, right)):
            if None in pair:
                _unequal(source, target, pair, left, right, count, unit)
            yield pair


def _unequal(
    source: Input, target: Input, pair: tuple, left: Iterator, right: Iterator, count: int, unit: str
) -> NoReturn:
    counts = [
        count + (piece is not None) + sum(1 for _ in rest) for piece, rest in zip(pair, (left, right), strict=True)
    ]
    raise UserError(
        f"{source.path} has {counts[0]} {unit}, but {target.path} has {counts[1]}: "
        "they are not translations of one another line by line."
    )
