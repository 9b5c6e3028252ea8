"""A line with a bar per stage: redrawn in place on a terminal, printed once the stage has ended elsewhere."""

import os
import shutil
from collections.abc import Sequence
from typing import TextIO

from nmtcore.console.stages import Stage

BAR = 20
"""Characters of a bar."""

NAMES = 22
"""Columns of names, at least, so that the bars of one screen after the other are aligned."""

_UP, _CLEAR = "\x1b[{}A", "\x1b[2K"


class StageScreen:
    """Shows stages on a stream, with a line about all of them below.

    If the stream is no terminal, or one that cannot move its cursor or is too low for all lines, each stage is printed
    when it has ended.
    """

    def __init__(self, stages: Sequence[Stage], stream: TextIO) -> None:
        self._stages, self._stream = stages, stream
        self._in_place = can_redraw(stream, lines=len(stages) + 1)
        self._drawn = 0
        self._printed: set[str] = set()

    def show(self, now: float, below: str = "") -> None:
        """Show the stages as they are at a time; `below` is the last line, on terminals only."""
        if self._in_place:
            self._draw([*stage_lines(self._stages, now, blocks=_has_blocks(self._stream)), below])
            return
        for stage in self._stages:
            if stage.name not in self._printed and (stage.ended is not None or (stage.began is None and stage.share)):
                self._printed.add(stage.name)
                self._write(f"{stage.name}: {stage.status(now)}\n")

    def _draw(self, lines: Sequence[str]) -> None:
        width = shutil.get_terminal_size().columns - 1
        lines = [line[:width] for line in lines]
        up = _UP.format(self._drawn) if self._drawn else ""
        shown = lines if lines[-1] else lines[:-1]
        self._write("\r" + up + "".join(f"{_CLEAR}{line}\n" for line in shown) + "\x1b[J")
        self._drawn = len(shown)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def can_redraw(stream: TextIO, *, lines: int) -> bool:
    """Return whether a stream is a terminal on which a number of lines can be drawn again in place."""
    if not stream.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return shutil.get_terminal_size().lines > lines


def stage_lines(stages: Sequence[Stage], now: float, *, blocks: bool = True) -> list[str]:
    """Make a line per stage: its name, a bar of `blocks` or plain characters, and how far it is."""
    width = max([NAMES, *(len(stage.name) for stage in stages)])
    return [
        f"{stage.name:{width}}  {bar(stage.share, blocks=blocks)}  {stage.status(now)}".rstrip() for stage in stages
    ]


def bar(share: float, *, blocks: bool = True) -> str:
    """Draw a share from 0 to 1; the bar is full only if all is done."""
    full = int(BAR * share)
    done, left = "█░" if blocks else "#."
    return done * full + left * (BAR - full)


def _has_blocks(stream: TextIO) -> bool:
    """Return whether a stream can show the characters of bars."""
    try:
        "█░".encode(stream.encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True
