"""Standard input and standard output of the commands."""

import io
import os
import sys
from typing import BinaryIO

from nmtcore.errors import UserError, explain_os_errors


def standard_input() -> BinaryIO:
    """Return the bytes of standard input. Raises `UserError` if it is closed."""
    if sys.stdin is None:
        raise UserError("standard input is closed: let it come from a file, a pipe or a terminal.")
    return sys.stdin.buffer


def escape_unprintable() -> None:
    """Let both standard streams write characters that the locale's encoding lacks as escapes (`\\u011b`)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not if it is closed, or a StringIO
            stream.reconfigure(errors="backslashreplace")


def prepare_output() -> None:
    """Let standard output write all that it is given, or raise an error. Raises `UserError` if it is closed.

    With PYTHONUNBUFFERED it writes to a raw stream, which may write less and only says so in its result.
    """
    if sys.stdout is None:
        raise UserError("standard output is closed: let it lead to a file, a terminal or /dev/null.")
    if isinstance(sys.stdout.buffer, io.RawIOBase):
        how = {"encoding": sys.stdout.encoding, "errors": sys.stdout.errors}
        sys.stdout = open(sys.stdout.fileno(), "w", buffering=1, closefd=False, **how)  # noqa: SIM115 (stays open)


def write_output(text: str) -> None:
    """Write text to standard output in UTF-8, whatever the locale; a terminal shows it at once.

    Bytes of a file name that are not UTF-8 are escaped; no sentence has any.

    Raises `UserError` if the disk is full or the file would become too large.
    """
    with explain_os_errors("the output"):
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        if sys.stdout.line_buffering:
            sys.stdout.buffer.flush()


def end_output() -> None:
    """Write what is left in the buffer after an error, or discard it: Python would try again, and print an error."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
