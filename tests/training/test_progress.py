"""Lines of progress in a log and on a terminal, and durations."""

import io

import pytest

from nmtcore.training import log as training_log
from nmtcore.training.log import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def record(update):
    return {
        "update": update,
        "epoch": 2,
        "loss": 1.2345,
        "perplexity": 12.345,
        "tokens": 9,
        "tokens_per_second": 4321.0,
    }


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(training_log.time, "monotonic", lambda: now[0])
    return now


def test_a_log_gets_a_line_every_ten_seconds(clock):
    lines = []
    progress = Progress(done=100, log=lines.append, terminal=io.StringIO())
    progress.total = 400
    for update in range(110, 210, 10):
        clock[0] += 3
        progress.show(record(update))
    progress.close()
    assert lines == [
        "update 140 of 400, epoch 2, perplexity 12.35, 4,321 tokens/s, 1 min 18 s left",
        "update 180 of 400, epoch 2, perplexity 12.35, 4,321 tokens/s, 1 min 6 s left",
    ]


def test_training_whose_end_validations_decide_shows_the_time_to_the_next_one(clock):
    lines = []
    progress = Progress(done=100, log=lines.append, terminal=io.StringIO())
    progress.validation_every = 50
    for update in (120, 140, 150):
        clock[0] += 10
        progress.show(record(update))
    assert [line.partition("tokens/s")[2] for line in lines] == [
        ", 15 s to the next validation",
        ", 5.0 s to the next validation",
        ", 30 s to the next validation",
    ]
    assert lines[0].startswith("update 120, epoch 2")


def test_a_terminal_shows_the_line_of_progress_in_addition_to_the_log(clock):
    lines, terminal = [], Terminal()
    progress = Progress(done=100, log=lines.append, terminal=terminal)
    progress.total = 400
    clock[0] += 11
    progress.show(record(250))
    progress.write_line("a validation")
    progress.close()
    assert lines[0].startswith("update 250 of 400")
    assert lines[1] == "a validation"
    assert "update 250 of 400" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert "4,321 tokens/s" in terminal.getvalue()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (0.44, "0.4 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (38, "38 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (185, "3 min 5 s"),
        (599.4, "9 min 59 s"),
        (599.6, "10 min"),
        (14 * 60 + 20, "14 min"),
        (3569, "59 min"),
        (3571, "1 h"),
        (7500, "2 h 5 min"),
        (100 * 3600, "100 h"),
    ],
)
def test_durations_have_at_most_two_units(seconds, text):
    assert duration(seconds) == text
