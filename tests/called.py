"""`nmtcore` within the process of the tests, which saves its imports; its streams are those that a shell would give."""

import contextlib
import io
import os
import pty
import sys
from collections.abc import Iterator
from typing import NamedTuple

from nmtcore.cli import main


class Called(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    output: str
    errors: str


def call_nmtcore(*arguments: object, text: str | bytes | None = b"", terminal: bool = False) -> Called:
    """Run a command with `text` as its standard input (None: closed), its standard output in a file or a terminal."""
    errors = _text(b"")
    before, code = sys.stdin, 0
    sys.stdin = None if text is None else _text(text.encode() if isinstance(text, str) else text)
    try:
        with _terminal() if terminal else _file() as (output, written), contextlib.redirect_stdout(output):
            with contextlib.redirect_stderr(errors):
                try:
                    main([str(argument) for argument in arguments])
                except SystemExit as end:
                    code = end.code or 0
            output.flush()
            shown = written()
    finally:
        sys.stdin = before
    errors.flush()
    return Called(code, shown, errors.buffer.getvalue().decode())


def _text(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="\n")


@contextlib.contextmanager
def _file() -> Iterator[tuple]:
    output = _text(b"")
    yield output, lambda: output.buffer.getvalue().decode()


@contextlib.contextmanager
def _terminal() -> Iterator[tuple]:
    ours, terminal = pty.openpty()
    os.set_blocking(ours, False)

    def shown() -> str:
        try:
            return os.read(ours, 1 << 16).decode()
        except BlockingIOError:
            return ""

    with open(ours, "rb", buffering=0), open(terminal, "w", encoding="utf-8") as output:
        yield output, shown
