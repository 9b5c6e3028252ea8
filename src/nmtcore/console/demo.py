"""The demo from start to end: the workflow with its stages on the screen, then the table and what it means."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TextIO

from nmtcore.config.own_project import REPOSITORY, project_of_folder
from nmtcore.config.project import Project
from nmtcore.config.speeds import read_speeds
from nmtcore.console.demo_stages import PREPARE, SCORE, TRANSLATE, DemoStages
from nmtcore.console.events import EventReader
from nmtcore.console.screen import StageScreen
from nmtcore.console.stages import time_left
from nmtcore.console.workflow import Workflow
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.planning.demo import DEMO_DATASET, DEMO_SCALE, DEMO_SYSTEMS
from nmtcore.planning.known_sizes import KnownSizes
from nmtcore.planning.run_costs import RunCosts
from nmtcore.reporting.demo_table import demo_text
from nmtcore.training.log import duration

JOBS = len(DEMO_SYSTEMS)
"""Jobs at a time: all systems are trained side by side, also on fewer cores, so that none is ever idle."""

TICK = 0.5
"""Seconds between two looks at the events."""

EXPECTED = {PREPARE: 20.0, TRANSLATE: 6.0, SCORE: 8.0}
"""Seconds that the stages without training take on two cores, as measured in November 2026."""

INTERRUPTED = "Interrupted: the next call goes on from here."
"""What is said last to a user who has interrupted the demo."""


def run_demo(stream: TextIO | None = None) -> None:
    """Run the demo in the working directory; print the stages and then the tables to `stream`.

    Raises `UserError` if the package is not used from the repository, if a job fails or if the workflow cannot start,
    and `KeyboardInterrupt` if the user interrupts it: what is finished stays, and the next call goes on from there.
    """
    stream = stream or sys.stdout
    project = project_of_folder(Path())
    layout, log = project.layout, Path(project.layout.path("demo_output"))
    stages = plan_stages(project)
    stream.write(f"Logs: {log}, {layout.results}/logs, {layout.root(DEMO_SCALE)}/logs\n")
    with TemporaryDirectory() as folder, terminated_as_interrupted():
        events = Path(folder, "events.jsonl")
        arguments = ["--snakefile", str(REPOSITORY / "Snakefile"), "--cores", str(JOBS), "demo"]
        workflow = Workflow(arguments, events=events, log=log)
        status = follow(workflow, EventReader(events), stages, StageScreen(stages.stages, stream))
    if status:
        raise UserError(failure_sentence(stages, log, status))
    stream.write("\n" + demo_text(read_json(Path(layout.path("demo_json"))), folder=layout.results))


def plan_stages(project: Project) -> DemoStages:
    """Return the stages of the demo, with the time that each is expected to take."""
    speeds = read_speeds(project.folders)
    costs = RunCosts(project, speeds.devices[speeds.cpu], KnownSizes(project, speeds.subwords_per_sentence))
    cores = min(JOBS, len(os.sched_getaffinity(0)))
    updates, expected = {}, dict(EXPECTED)
    for system in DEMO_SYSTEMS:
        seeds = project.seeds(DEMO_DATASET, system)
        run = project.run(DEMO_DATASET, system, DEMO_SCALE, seeds[0])
        updates[system] = run.training.max_updates or 0
        expected[f"train {system}"] = (costs.of(run).training_hours.value or 0.0) * 3600 * len(seeds) / cores
    return DemoStages(layout=project.layout, updates=updates, expected=expected)


def follow(
    workflow: Workflow,
    events: EventReader,
    stages: DemoStages,
    screen: StageScreen,
    *,
    now: Callable[[], float] = time.monotonic,
) -> int:
    """Show the stages until the workflow ends; return its exit status. An interruption stops it first."""
    try:
        status = None
        while status is None:
            status = workflow.wait(TICK)
            for event in events.read():
                stages.take(event, now(), clock=time.time())
            stages.read_training_logs()
            screen.show(now(), below_stages(stages, now()) if status is None else "")
    except KeyboardInterrupt:
        screen.show(now(), "stopping: training writes checkpoints")
        workflow.stop()
        screen.show(now(), INTERRUPTED)
        raise
    return status


def below_stages(stages: DemoStages, now: float) -> str:
    """Say how long all stages will still take or, after a failure, what they are waiting for."""
    if stages.failures:
        return "a job has failed: waiting for those that are running"
    return f"about {duration(max(1.0, round(time_left(stages.stages, now))))} left in all"


def failure_sentence(stages: DemoStages, log: Path, status: int) -> str:
    """Say what has failed, by the first failure or, without any, by the workflow's log."""
    for failure in stages.failures.values():
        where = failure.logs[0] if failure.logs else log
        reason = last_line(Path(where))
        return f"{failure.stage} failed{': ' if reason else ''}{reason} (log: {where}). The next call resumes."
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    if "LockException" in text:
        return (
            "The folder is locked: another Snakemake is running here, or one was killed. In the second case, type "
            "`.venv/bin/snakemake --unlock`, then start again."
        )
    return f"Snakemake ended with status {status}: {last_line(log)} (log: {log})"


def last_line(path: Path) -> str:
    """Return the last line of a log that is not empty."""
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n") if path.exists() else []
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Treat signals that end the process, in this block, as if the user interrupted it."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
