"""The training log and TensorBoard's curves after a run has been resumed."""

import json
import logging
import math

import pytest

from nmtcore.errors import LineError
from nmtcore.training.log import TrainingLog, read_history


def training_line(update, loss):
    return {"update": update, "updates": 1, "loss": loss, "nll": math.nan, "seconds": 2.0 * update}


def write(folder, updates, *, after, attempt):
    """Write the lines of an attempt that resumes from the checkpoint of update `after`."""
    history = TrainingLog(folder, update=after)
    for update in updates:
        history.write(training_line(update, update + 0.5 * attempt))
        if update % 2 == 0:
            history.write({"update": update, "validation": {"bleu": float(attempt)}, "best": True, "seconds": 9.0})
    history.close()


def load(folder):
    event_accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    board = event_accumulator.EventAccumulator(str(folder / "tensorboard"))
    board.Reload()
    return board


def points(board, name):
    return [(point.step, point.value) for point in board.Scalars(name)]


def test_tensorboard_shows_every_update_of_a_resumed_run_once(tmp_path, caplog):
    write(tmp_path, range(1, 8), after=0, attempt=1)
    write(tmp_path, range(5, 10), after=4, attempt=2)
    write(tmp_path, [], after=9, attempt=3)
    lines = [json.loads(text) for text in (tmp_path / "training.jsonl").read_text().splitlines()]
    with caplog.at_level(logging.INFO, logger="tensorboard"):
        board = load(tmp_path)
    assert "urging" not in caplog.text
    assert points(board, "training/loss") == [(x["update"], x["loss"]) for x in lines if "loss" in x]
    assert points(board, "training/loss") == [
        *((u, u + 0.5) for u in range(1, 5)),
        *((u, u + 1.0) for u in range(5, 10)),
    ]
    assert points(board, "validation/bleu") == [(2, 1.0), (4, 1.0), (6, 2.0), (8, 2.0)]
    assert set(board.Tags()["scalars"]) == {"training/loss", "validation/bleu"}, (
        "values that are not finite have no points"
    )
    times = [point.wall_time for point in board.Scalars("training/loss")]
    assert [time - times[0] for time in times] == pytest.approx([2.0 * u for u in range(9)], abs=1e-3)


@pytest.mark.parametrize("line", ["{", "9" * 5000, "[" * 100_000])
def test_a_line_that_is_not_json_raises(line, tmp_path):
    (tmp_path / "training.jsonl").write_text(f"{{}}\n{line}\n")
    with pytest.raises(LineError, match="line 2: this is not JSON: delete the file"):
        list(read_history(tmp_path / "training.jsonl"))


def test_a_running_tensorboard_replaces_the_points_of_the_earlier_attempt(tmp_path):
    write(tmp_path, range(1, 8), after=0, attempt=1)
    (events,) = (tmp_path / "tensorboard").iterdir()
    events.rename(events.with_name("events.out.tfevents.0000000001"))  # TensorBoard reads files in the order of seconds
    board = load(tmp_path)
    write(tmp_path, range(5, 7), after=4, attempt=2)
    board.Reload()
    assert points(board, "training/loss") == [*((u, u + 0.5) for u in range(1, 5)), (5, 6.0), (6, 7.0)]


@pytest.mark.parametrize("line", ['{"update": 2, "sec', "[1]", '{"update": "2", "seconds": 1}', '{"update": 2}', "\xff",
                                  '{"update": 2, "seconds": 1, "loss": "x"}', "[" * 100_000])  # fmt: skip
def test_damaged_lines_are_dropped_and_counted(tmp_path, line):
    good = ['{"update": 1, "seconds": 1.0, "loss": null}', '{"update": 3, "seconds": 3.0, "validation": {"nll": 2.5}}']
    path, messages = tmp_path / "training.jsonl", []
    path.write_bytes("\n".join([good[0], line, good[1], '{"update": 4, "sec']).encode("latin-1"))
    TrainingLog(tmp_path, update=9, log=messages.append).close()
    assert path.read_text().splitlines() == good
    assert messages == [f"{path} is damaged: 1 of its 4 lines cannot be read and are dropped."]
