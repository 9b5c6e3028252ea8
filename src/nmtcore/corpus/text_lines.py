"""Lines of plain text files of a user, decoded and checked."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from nmtcore.config.datasets import MAX_LINE_BYTES
from nmtcore.corpus.encodings import SAMPLE, convert_advice, wide_encoding
from nmtcore.errors import LineError, UserError, explain_os_errors

_TOO_LONG = f"the line has more than {MAX_LINE_BYTES:,} bytes: is it text, with one sentence per line? Split the line."


def read_text_lines(path: str | Path) -> list[str]:
    """Read the lines of a text file; raises the errors of `clean_lines`."""
    with explain_os_errors(path), open(path, "rb") as file:
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

    Of an open file, hardly more than `MAX_LINE_BYTES` are read for a line. Raises `LineError` for a longer line and for
    one that is not UTF-8 or contains a NUL, and `UserError` for a text in UTF-16 or UTF-32.
    """
    lines = _lines_read(lines)
    start = b""
    for number, line in enumerate(lines, start=1):
        try:
            if isinstance(line, bytes):
                start += line[: SAMPLE - len(start)]
                if len(line) > MAX_LINE_BYTES and len(line.rstrip(b"\r\n")) > MAX_LINE_BYTES:
                    raise LineError(where, number, _TOO_LONG)
                line = _decode(line, number, where)
            if "\0" in line:
                raise LineError(where, number, "the line contains a NUL character, so this is not a text file.")
        except LineError as error:
            raise _encoding_error(start, lines, where) or error from error.__cause__
        yield (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")


def _lines_read(lines: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """Yield lines; a line of an open file that is too long is cut where that shows."""
    if not hasattr(lines, "readline"):
        yield from lines
        return
    while line := lines.readline(MAX_LINE_BYTES + len("\r\n")):
        yield line


def _decode(line: bytes, number: int, where: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} is not UTF-8; convert the text (see `iconv`)."
        raise LineError(where, number, problem) from error


def _encoding_error(start: bytes, rest: Iterator[bytes], where: str) -> UserError | None:
    """Return an error that names the encoding of a text that begins with `start`, if it is UTF-16 or UTF-32."""
    # A short line may not show the encoding.
    while b"\0" in start and len(start) < SAMPLE and (line := next(rest, None)):
        start += line
    encoding = wide_encoding(start)
    return UserError(f"{where} {convert_advice(encoding)}.") if encoding else None
