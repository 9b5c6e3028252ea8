"""Stages on terminals, which are played by a small one of our own, and on other streams."""

import io
import os
import re

import pytest

from nmtcore.console.screen import BAR, NAMES, StageScreen, bar, stage_lines
from nmtcore.console.stages import Stage


class Terminal(io.StringIO):
    """A stream that is a terminal; `lines` shows its screen."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """Play what was written: line ends, moves up, and deleted lines."""
        lines, row = [""], 0
        for text in re.findall(r"\x1b\[\d*[AJK]|\n|\r|[^\x1b\n\r]+", self.getvalue()):
            if text == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif text.endswith("A") and text.startswith("\x1b"):
                row -= int(text[2:-1])
                assert row >= 0
            elif text == "\x1b[2K":
                lines[row] = ""
            elif text == "\x1b[J":
                del lines[row + 1 :]
                lines[row] = ""
            elif text != "\r":
                assert lines[row] == "", "a line is deleted before it is drawn again"
                lines[row] = text
        return lines


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("shutil.get_terminal_size", lambda fallback=None: os.terminal_size((60, 24)))
    return Terminal()


@pytest.fixture
def stages():
    return [Stage(name="first", expected=1.0), Stage(name="second one", expected=1.0)]


def play(stages, screen):
    """Run both stages, and show them at each step."""
    screen.show(0.0, "two left")
    stages[0].begin(0.0)
    stages[0].report(0.5, "a detail that is longer than what is left of the line")
    screen.show(1.0, "one left")
    stages[0].end(2.0)
    stages[1].begin(2.0)
    screen.show(2.0)
    stages[1].end(5.0)
    screen.show(5.0)


def test_a_terminal_shows_each_stage_once(terminal, stages):
    terminal.write("before\n")
    screen = StageScreen(stages, terminal)
    play(stages, screen)
    full = "█" * BAR
    assert terminal.lines == [
        "before",
        f"{'first':{NAMES}}  {full}  2.0 s",
        f"{'second one':{NAMES}}  {full}  3.0 s",
        "",
    ]


def test_a_terminal_shows_the_last_line_and_cuts_long_lines(terminal, stages):
    screen = StageScreen(stages, terminal)
    stages[0].begin(0.0)
    stages[0].report(0.5, "a detail that is longer than what is left of the line")
    screen.show(1.0, "about 9 s left")
    first, second, below, rest = terminal.lines
    assert first == f"{'first':{NAMES}}  {'█' * (BAR // 2)}{'░' * (BAR // 2)}  a detail that"
    assert len(first) == 59
    assert second == f"{'second one':{NAMES}}  {'░' * BAR}"
    assert (below, rest) == ("about 9 s left", "")


def test_elsewhere_each_stage_is_a_line_when_it_ends(stages):
    stream = io.StringIO()
    play(stages, StageScreen(stages, stream))
    assert stream.getvalue() == "first: 2.0 s\nsecond one: 3.0 s\n"


def test_elsewhere_failed_and_earlier_stages_are_lines_too(stages):
    stream = io.StringIO()
    screen = StageScreen(stages, stream)
    stages[0].share = 1.0
    stages[1].begin(0.0)
    stages[1].end(3.0, failed=True)
    for _ in range(2):
        screen.show(4.0)
    assert stream.getvalue() == "first: finished earlier\nsecond one: failed after 3.0 s\n"


@pytest.mark.parametrize("reason", ["dumb", "low"])
def test_a_terminal_that_cannot_be_drawn_on_again_gets_plain_lines(terminal, stages, monkeypatch, reason):
    if reason == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    else:
        monkeypatch.setattr("shutil.get_terminal_size", lambda fallback=None: os.terminal_size((50, 3)))
    play(stages, StageScreen(stages, terminal))
    assert "\x1b" not in terminal.getvalue()
    assert terminal.getvalue() == "first: 2.0 s\nsecond one: 3.0 s\n"


def test_bars_are_full_only_at_the_end_and_need_no_unicode(terminal, stages):
    assert [bar(share, blocks=False).count("#") for share in (0.0, 0.5, 0.999, 1.0)] == [0, BAR // 2, BAR - 1, BAR]
    terminal.encoding = "ascii"
    stages[0].begin(0.0)
    stages[0].report(0.5)
    StageScreen(stages, terminal).show(0.0)
    assert terminal.lines[0] == f"{'first':{NAMES}}  {'#' * (BAR // 2)}{'.' * (BAR // 2)}  running"
    assert stage_lines([], 0.0) == []
