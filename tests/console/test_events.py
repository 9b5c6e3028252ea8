"""Events of a workflow, written by Snakemake's logger and read by another process."""

import json
import logging
from types import SimpleNamespace

import pytest

from nmtcore.console.events import EVENTS, EventReader, record_events, record_jobs


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv(EVENTS, str(tmp_path / "events"))
    return tmp_path / "events"


@pytest.fixture
def logger():
    made = logging.Logger("test", logging.INFO)
    record_events(made)
    return made


def test_jobs_are_written_as_they_start_finish_and_fail(path, logger):
    logger.info("a", extra={"event": "job_info", "jobid": 3, "rule_name": "demo", "wildcards": {"seed": "1"}})
    logger.info("b", extra={"event": "progress", "done": 1, "total": 2})
    logger.info("no event")
    logger.info("c", extra={"event": "job_finished", "job_id": 3})
    logger.error("d", extra={"event": "job_error", "jobid": 4, "rule_name": "train_model", "log": ["a.log"]})
    assert EventReader(path).read() == [
        {"event": "start", "job": 3, "rule": "demo", "wildcards": {"seed": "1"}},
        {"event": "finish", "job": 3},
        {"event": "fail", "job": 4, "rule": "train_model", "logs": ["a.log"]},
    ]


def test_a_plan_lists_its_jobs(path):
    job = SimpleNamespace(rule=SimpleNamespace(name="train_model"), wildcards_dict={"system": "s"})
    record_jobs([job])
    record_jobs([])
    plans = [{"event": "plan", "jobs": [{"rule": "train_model", "wildcards": {"system": "s"}}]}]
    assert EventReader(path).read() == [*plans, {"event": "plan", "jobs": []}]


def test_without_the_variable_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.delenv(EVENTS, raising=False)
    logger = logging.Logger("test")
    record_events(logger)
    record_jobs([])
    assert not logger.handlers


def test_only_complete_lines_are_read_and_each_once(tmp_path):
    path = tmp_path / "events"
    reader = EventReader(path)
    assert reader.read() == [], "the file is not there yet"
    lines = [json.dumps({"event": "finish", "job": number}) + "\n" for number in range(3)]
    path.write_text(lines[0] + lines[1][:9])
    assert [event["job"] for event in reader.read()] == [0]
    assert reader.read() == []
    path.write_text("".join(lines))
    assert [event["job"] for event in reader.read()] == [1, 2]
    assert reader.read() == []
