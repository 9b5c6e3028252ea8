"""The training time from a run's log."""

import json

import pytest

from nmtcore.errors import UserError
from nmtcore.evaluation.training_times import TrainingTime, training_time
from nmtcore.files import write_lines


def write_log(path, *records):
    write_lines(path, [json.dumps(record) for record in records])
    return path


def line(update, updates, seconds):
    return {"update": update, "updates": updates, "seconds": seconds}


def validation(update, seconds):
    return {"update": update, "validation": {"bleu": 1.0}, "seconds": seconds}


def test_times_of_updates_and_validations_are_medians(tmp_path):
    """A pause of the machine, here 100 seconds in the third line, does not count."""
    log = write_log(
        tmp_path / "training.jsonl",
        line(10, 10, 20.0),
        line(20, 10, 40.0),
        line(30, 10, 160.0),
        line(35, 5, 170.0),
        validation(35, 177.0),
        line(45, 10, 197.0),
        validation(45, 202.0),
    )
    time = training_time(log)
    assert time == TrainingTime(updates=45, seconds_per_update=2.0, validations=2, seconds_per_validation=6.0)
    assert time.seconds == 45 * 2 + 2 * 6
    assert time.seconds_per_update_with_validation == 102 / 45


def test_logs_without_times_are_refused(tmp_path):
    for record, sentence in (
        (validation(10, 2.0), "records no updates, so there is no training time"),
        ({"update": 10}, "has a line without seconds or updates: delete it and train again"),
    ):
        with pytest.raises(UserError, match=sentence):
            training_time(write_log(tmp_path / "training.jsonl", record))
