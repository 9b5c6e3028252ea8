"""The stages of the demo, followed by the events of its workflow and the logs of training."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nmtcore.console.stages import Stage
from nmtcore.layout import Layout, file_name

PREPARE, TRANSLATE, SCORE = "prepare data", "translate", "score"
"""Names of stages; the others are `train SYSTEM`."""

SCORING = ("score_tests", "summarise_seeds", "demo")
"""The rules of the last stage; those before training prepare data."""

_TAIL = 4096
"""Bytes at the end of a training log that hold its last line."""


@dataclass(frozen=True)
class Failure:
    """A job that has failed."""

    stage: str
    logs: Sequence[str]


@dataclass(kw_only=True)
class DemoStages:
    """The stages, as far as events tell."""

    layout: Layout
    updates: Mapping[str, int]
    """The updates of each system's training; systems are shown in this order."""
    expected: Mapping[str, float]
    """The seconds that each stage is expected to add to the whole, by name."""
    failures: dict[int, Failure] = field(default_factory=dict)
    """The jobs that have failed and were not tried again, by number."""

    def __post_init__(self) -> None:
        names = [PREPARE, *(f"train {system}" for system in self.updates), TRANSLATE, SCORE]
        self.stages = [Stage(name=name, expected=self.expected[name]) for name in names]
        self._by_name = {stage.name: stage for stage in self.stages}
        self._planned = dict.fromkeys(names, 0)
        self._finished = dict.fromkeys(names, 0)
        self._stage_of_job: dict[int, str] = {}
        self._training: dict[int, _Training] = {}

    def take(self, event: Mapping[str, Any], now: float, *, clock: float) -> None:
        """Take an event that has happened at the time `now`; `clock` is the time as that of files."""
        match event["event"]:
            case "plan":
                self._plan(event["jobs"])
            case "start":
                self._start(event, now, clock)
            case "finish" if event["job"] in self._stage_of_job:
                self._finish(event["job"], now)
            case "fail":
                name = self._stage_of_job.get(event["job"], PREPARE)
                self._training.pop(event["job"], None)
                self.failures[event["job"]] = Failure(name, event["logs"])
                self._by_name[name].end(now, failed=True)

    def _plan(self, jobs: Sequence[Mapping[str, Any]]) -> None:
        for job in jobs:
            self._planned[stage_name(job["rule"], job["wildcards"])] += 1
        for name, count in self._planned.items():
            if not count:
                self._by_name[name].share = 1.0

    def _start(self, event: Mapping[str, Any], now: float, clock: float) -> None:
        name = stage_name(event["rule"], event["wildcards"])
        self._stage_of_job[event["job"]] = name
        self.failures.pop(event["job"], None)
        stage = self._by_name[name]
        stage.begin(now)
        if event["rule"] == "train_model":
            self._training[event["job"]] = _Training(name, event["wildcards"], clock)
        else:
            self._report(name)

    def _finish(self, job: int, now: float) -> None:
        name = self._stage_of_job[job]
        self._finished[name] += 1
        self._training.pop(job, None)
        if self._finished[name] >= self._planned[name]:
            self._by_name[name].end(now)
        else:
            self._report(name)

    def _report(self, name: str, *, running: float = 0.0, detail: str = "") -> None:
        """Report the jobs that are finished, and the sum of the shares of those that are `running`."""
        planned = max(self._planned[name], self._finished[name] + 1)
        self._by_name[name].report((self._finished[name] + running) / planned, detail)

    def read_training_logs(self) -> None:
        """Read how far each training is, from the log of its newest attempt."""
        by_stage: dict[str, list[tuple[int, int]]] = {}
        for training in self._training.values():
            folder = Path(self.layout.pattern("checkpoints").format(**training.wildcards))
            logs = [path for path in folder.glob(f"*/{file_name('history')}") if path.stat().st_mtime >= training.since]
            update = last_update(max(logs, key=lambda path: path.stat().st_mtime)) if logs else None
            if update is not None:
                total = self.updates[training.wildcards["system"]]
                by_stage.setdefault(training.stage, []).append((update, total))
        for name, positions in by_stage.items():
            update, total = positions[-1]
            detail = f"update {update:,} of {total:,}" if update < total else "validating"
            # The bar is full when the model has been written.
            self._report(name, running=sum(min(done / of, 0.99) for done, of in positions), detail=detail)


@dataclass(frozen=True)
class _Training:
    """A training job that is running."""

    stage: str
    wildcards: Mapping[str, str]
    since: float
    """When it began, as times of files."""


def stage_name(rule: str, wildcards: Mapping[str, str]) -> str:
    """Return the name of the stage that a job of the demo belongs to."""
    if rule == "train_model":
        return f"train {wildcards['system']}"
    if rule == "translate_tests":
        return TRANSLATE
    return SCORE if rule in SCORING else PREPARE


def last_update(path: Path) -> int | None:
    """Return the update of the last complete line of a training log; None if it has none."""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        lines = file.read().rpartition(b"\n")[0].splitlines()
    try:
        return json.loads(lines[-1])["update"] if lines else None
    except (ValueError, KeyError, TypeError):
        return None
