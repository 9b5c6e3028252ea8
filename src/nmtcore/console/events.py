"""What happens in a workflow, as lines of JSON that another process reads while it runs."""

import json
import logging
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

EVENTS = "NMTCORE_EVENTS"
"""The environment variable with the path of the file of events; without it, none are written."""


class EventWriter(logging.Handler):
    """Writes the jobs that Snakemake logs as started, finished or failed."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line if the record is about a job."""
        match str(getattr(record, "event", "")):
            case "job_info":
                self.write(event="start", job=record.jobid, rule=record.rule_name, wildcards=dict(record.wildcards))
            case "job_finished":
                self.write(event="finish", job=record.job_id)
            case "job_error":
                logs = [str(log) for log in record.log]
                self.write(event="fail", job=record.jobid, rule=record.rule_name, logs=logs)

    def write(self, **event: Any) -> None:
        """Write one event."""
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(event, default=str) + "\n")


def record_events(logger: logging.Logger) -> None:
    """Write the events of Snakemake's logger to the file that the environment names, if it names one."""
    if path := os.environ.get(EVENTS):
        logger.addHandler(EventWriter(Path(path)))


def record_jobs(jobs: Iterable[Any]) -> None:
    """Write the jobs of a plan, Snakemake's objects, to the file that the environment names, if it names one."""
    if path := os.environ.get(EVENTS):
        listed = [{"rule": job.rule.name, "wildcards": dict(job.wildcards_dict)} for job in jobs]
        EventWriter(Path(path)).write(event="plan", jobs=listed)


class EventReader:
    """Reads the events of a file that grows; the file may be missing at first."""

    def __init__(self, path: Path) -> None:
        self._path, self._position = path, 0

    def read(self) -> list[dict[str, Any]]:
        """Return the new events whose lines are complete."""
        if not self._path.exists():
            return []
        with open(self._path, "rb") as file:
            file.seek(self._position)
            lines = file.read().rpartition(b"\n")[0]
        self._position += len(lines) + bool(lines)
        return [json.loads(line) for line in lines.splitlines()]
