"""The training log after a run has been resumed, lines of progress, and durations."""

import math

import pytest

from nmtcore.errors import LineError
from nmtcore.training.log import TrainingLog, duration, read_history


def training_line(update, loss):
    return {"update": update, "updates": 1, "loss": loss, "nll": math.nan, "seconds": 2.0 * update}


def write(folder, updates, *, after, attempt):
    """Write the lines of an attempt that resumes from the checkpoint of update `after`."""
    history = TrainingLog(folder, update=after, validated=after)
    for update in updates:
        history.write(training_line(update, update + 0.5 * attempt))
        if update % 2 == 0:
            history.write({"update": update, "validation": {"bleu": float(attempt)}, "best": True, "seconds": 9.0})
    history.close()


def test_a_resumed_run_has_every_update_and_validation_once(tmp_path):
    write(tmp_path, range(1, 8), after=0, attempt=1)
    write(tmp_path, range(5, 10), after=4, attempt=2)
    write(tmp_path, [], after=9, attempt=3)
    lines = list(read_history(tmp_path / "training.jsonl"))
    losses = [(line["update"], line["loss"]) for line in lines if "loss" in line]
    assert losses == [*((u, u + 0.5) for u in range(1, 5)), *((u, u + 1.0) for u in range(5, 10))]
    scores = [(line["update"], line["validation"]["bleu"]) for line in lines if "validation" in line]
    assert scores == [(2, 1.0), (4, 1.0), (6, 2.0), (8, 2.0)]
    assert {line["nll"] for line in lines if "nll" in line} == {None}, "numbers that are not finite are null"


@pytest.mark.parametrize("line", ["{", "[" * 100_000])
def test_a_line_that_is_not_json_raises(line, tmp_path):
    (tmp_path / "training.jsonl").write_text(f"{{}}\n{line}\n")
    with pytest.raises(LineError, match="line 2: this is not JSON: delete the file"):
        list(read_history(tmp_path / "training.jsonl"))


def test_lines_that_a_killed_process_has_cut_are_dropped(tmp_path):
    good = ['{"update": 1, "seconds": 1.0, "loss": null}', '{"update": 3, "seconds": 3.0, "validation": {"nll": 2.5}}']
    path = tmp_path / "training.jsonl"
    path.write_text("\n".join([good[0], '{"update": 2, "sec', good[1], '{"update": 4, "sec']))
    TrainingLog(tmp_path, update=9, validated=9).close()
    assert path.read_text().splitlines() == good


def test_every_ten_seconds_a_line_of_progress_is_logged(tmp_path, monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr("nmtcore.training.log.time.monotonic", lambda: now[0])
    history = TrainingLog(tmp_path, update=100, log=lines.append)
    history.total = 400
    for update in range(110, 210, 10):
        now[0] += 3
        record = {"update": update, "epoch": 2, "loss": 1.2345, "perplexity": 12.345, "seconds": now[0]}
        share = {"share_of_peak": 0.1263} if update > 150 else {}
        speed = {"tokens_per_second": 4321.0, "peak_memory_bytes": 612_000_000, **share}
        history.write_updates({**record, "tokens": 9, **speed})
    history.write_validation({"update": 200, "seconds": 1.0, "validation": {"perplexity": 12.3456}, "best": True})
    history.close()
    assert lines == [
        "update 140 of 400, epoch 2, perplexity 12.35, 4,321 tokens/s, 1 min 18 s left, 0.6 GB of memory",
        "update 180 of 400, epoch 2, perplexity 12.35, 4,321 tokens/s, 1 min 6 s left, 0.6 GB of memory, "
        "13 % of the GPU's peak",
        "validation at update 200: perplexity 12.35 (the best so far)",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (9.94, "9.9 s"), (9.96, "10 s"), (59.4, "59 s"), (59.6, "1 min"), (185, "3 min 5 s"), (599.6, "10 min"),
        (3569, "59 min"), (3571, "1 h"), (7500, "2 h 5 min"),
    ],
)  # fmt: skip
def test_durations_have_at_most_two_units(seconds, text):
    assert duration(seconds) == text
