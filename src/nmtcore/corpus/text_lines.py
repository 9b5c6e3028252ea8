"""Lines of text files, one sentence per line: as raw pieces for the corpus formats, or decoded and checked."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nmtcore.config.datasets import MAX_LINE_BYTES
from nmtcore.corpus.streams import open_stream
from nmtcore.errors import LineError, UserError

SAMPLE = 1 << 12
"""Bytes from which the format of a file is guessed."""
_BYTE_ORDER_MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_TOO_LONG = f"the line has more than {MAX_LINE_BYTES:,} bytes: is it text, with one sentence per line? Split the line."
_NOT_UTF_8 = "is not valid UTF-8"
_LONGEST_NUMBER = 18
"""Digits; Python refuses to read a number of 5,000."""


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


class BadRow(Exception):
    """A pair that cannot be read: where and why, and the `reason` under which reports count it.

    `fault` goes on after "FILE, line N: "; it has no full stop, since others add what to do.
    """

    def __init__(self, reason: str, piece: Piece, fault: str, *, line: int = 0) -> None:
        super().__init__(fault)
        self.reason = reason
        self.path = piece.path
        self.line = piece.line + line
        self.fault = fault


def natural_number(text: str) -> int | None:
    """Read a number of up to 18 ASCII digits; None for anything else, such as a sign or a space."""
    return int(text) if len(text) <= _LONGEST_NUMBER and text.isascii() and text.isdecimal() else None


def lines(file: Input) -> Iterator[Piece]:
    """Yield each line without its end (`\\n` or `\\r\\n`) and without a byte order mark.

    A line of more than the file's `max_line_bytes` is cut. Raises `UserError` if the file is in UTF-16 or UTF-32, or if
    its lines end with `\\r` alone.
    """
    path = str(file.path)
    with open_stream(file.path, file.member) as stream:
        member = f", member {file.member}," if file.member else ""
        check_encoding(stream.peek(4), f"{path}{member}")
        yield from _pieces(stream, path, file.max_line_bytes)


def decode(piece: Piece) -> str:
    """Decode the text of a piece. Raises `BadRow` if it is too long, not UTF-8, or contains a NUL character."""
    check_length(piece)
    if (place := piece.data.find(b"\0")) >= 0:
        raise BadRow("nul byte", piece, "contains a NUL character", line=piece.data.count(b"\n", 0, place))
    try:
        return piece.data.decode("utf-8")
    except UnicodeDecodeError as error:
        column = error.start - piece.data.rfind(b"\n", 0, error.start)
        line = piece.data.count(b"\n", 0, error.start)
        raise BadRow("not utf-8", piece, f"{_NOT_UTF_8} (byte {column})", line=line) from error


def how_to_convert(fault: str) -> str:
    """Write a sentence, after one with a fault, that converts the most frequent other encoding; empty for others."""
    return " If it is Latin-1: iconv -f ISO-8859-1 -t UTF-8 OLD > NEW." if _NOT_UTF_8 in fault else ""


def check_length(piece: Piece) -> None:
    """Raise `BadRow` if a piece was cut because it is too long."""
    if piece.cut_at:
        raise BadRow("too long", piece, f"has more than the {piece.cut_at:,} bytes that max_line_bytes allows")


def read_text_lines(path: str | Path) -> list[str]:
    """Read the lines of a text file, which may be compressed; raises the errors of `clean_lines` and `open_stream`."""
    with open_stream(path) as file:
        return list(clean_lines(file, where=str(path)))


def read_aligned_lines(path: str | Path, *, count: int | None, split: str) -> list[str]:
    """Read a text with one line per pair of a split.

    `split` names the split in messages, and the file that says how many pairs it has. Raises `UserError` if there are
    not `count` lines (None: any number but 0), and the errors of `clean_lines`.
    """
    lines = read_text_lines(path)
    if not lines:
        raise UserError(f"{path} is empty: provide one line for each pair of {split}.")
    if count not in (None, len(lines)):
        raise UserError(
            f"{path} has {len(lines):,} lines, but {split} has {count:,} pairs: provide one line for each pair, empty "
            "lines included."
        )
    return lines


def clean_lines(lines: Iterable[str | bytes], *, where: str) -> Iterator[str]:
    """Decode lines, and strip line ends and a leading byte order mark.

    Raises `LineError` for a line that is longer than `MAX_LINE_BYTES`, is not UTF-8 or contains a NUL, and `UserError`
    for a text in UTF-16 or UTF-32, or whose lines end with `\\r` alone.
    """
    for piece in _pieces(lines, where, MAX_LINE_BYTES):
        try:
            if piece.line == 1:
                check_encoding(piece.data, where)
            yield decode(piece)
        except BadRow as error:
            fault = _TOO_LONG if piece.cut_at else f"{error.fault}: correct the text.{how_to_convert(error.fault)}"
            raise LineError(where, error.line, fault) from error


def _pieces(lines: Iterable[str | bytes], path: str, limit: int) -> Iterator[Piece]:
    """Yield lines without their ends and a leading byte order mark; those of more than `limit` bytes are cut."""
    for number, line in enumerate(lines, start=1):
        data = line.encode(errors="surrogatepass") if isinstance(line, str) else line
        if number == 1 and isinstance(line, bytes) and b"\n" not in data and b"\r" in data:
            raise UserError(f"{path} ends its lines with \\r alone: convert it (tr '\\r' '\\n' < OLD > NEW).")
        data = data.removesuffix(b"\n").removesuffix(b"\r")
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        yield Piece(path, number, data) if len(data) <= limit else Piece(path, number, b"", limit)


def check_encoding(start: bytes, name: str) -> None:
    """Raise `UserError` if a text that begins with `start` has the byte order mark of UTF-16 or UTF-32."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            raise UserError(f"{name} is {encoding}, not UTF-8: convert it (iconv -f {encoding} -t UTF-8 OLD > NEW).")
