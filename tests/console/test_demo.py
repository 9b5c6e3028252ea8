"""The demo's process: it is followed to its end, its failures are sentences, and it is stopped as a user stops it."""

import io
import itertools
import signal
import time

import pytest

from nmtcore.config.own_project import project_of_folder
from nmtcore.console.demo import (
    below_stages,
    failure_sentence,
    follow,
    plan_stages,
    terminated_as_interrupted,
)
from nmtcore.console.demo_stages import DemoStages, Failure
from nmtcore.console.screen import StageScreen
from nmtcore.console.workflow import Workflow
from nmtcore.layout import Layout

NAMES = ["prepare data", "train base", "translate", "score"]


@pytest.fixture
def stages(tmp_path):
    layout = Layout(results=str(tmp_path / "results"))
    return DemoStages(layout=layout, updates={"base": 10}, expected=dict.fromkeys(NAMES, 1.0))


class Played:
    """A workflow and its events, which come one at a time; `KeyboardInterrupt` is raised."""

    def __init__(self, events, status=0):
        self.events, self.status, self.stopped = iter(events), status, False
        self.next = next(self.events, None)

    def wait(self, seconds):
        return self.status if self.next is None else None

    def read(self):
        event, self.next = self.next, next(self.events, None)
        if event is KeyboardInterrupt:
            raise event
        return [] if event is None else [event]

    def stop(self):
        self.stopped = True


PLAN = {"event": "plan", "jobs": [{"rule": "read_split", "wildcards": {}}, {"rule": "demo", "wildcards": {}}]}
STARTS = [{"event": "start", "job": n, "rule": rule, "wildcards": {}} for n, rule in ((1, "read_split"), (2, "demo"))]
FINISHES = [{"event": "finish", "job": n} for n in (1, 2)]


def test_a_workflow_is_followed_to_its_end(stages):
    played, stream = Played([PLAN, STARTS[0], FINISHES[0], STARTS[1], FINISHES[1]]), io.StringIO()
    clock = itertools.count()
    assert follow(played, played, stages, StageScreen(stages.stages, stream), now=lambda: float(next(clock))) == 0
    lines = stream.getvalue().splitlines()
    assert lines[:2] == ["train base: finished earlier", "translate: finished earlier"]
    assert [line.split(":")[0] for line in lines[2:]] == ["prepare data", "score"]


def test_an_interruption_stops_the_workflow_and_goes_on(stages):
    played = Played([PLAN, STARTS[0], KeyboardInterrupt])
    with pytest.raises(KeyboardInterrupt):
        follow(played, played, stages, StageScreen(stages.stages, io.StringIO()))
    assert played.stopped


def test_below_the_stages_is_the_time_left_or_a_failure(stages):
    assert below_stages(stages, 0.0) == "about 4.0 s left in all"
    stages.failures[3] = Failure("train base", [])
    assert below_stages(stages, 0.0) == "a job has failed: waiting for those that are running"


def test_a_failure_names_the_stage_the_reason_and_the_log(stages, tmp_path):
    log = tmp_path / "job.log"
    log.write_text("some output\nThe file x is broken: delete it.\n\n")
    stages.failures[3] = Failure("train base", [str(log)])
    sentence = failure_sentence(stages, tmp_path / "all.log", 1)
    expected = f"train base failed: The file x is broken: delete it. (log: {log}). The next call resumes."
    assert sentence == expected
    log.unlink()
    assert (
        failure_sentence(stages, tmp_path / "all.log", 1) == f"train base failed (log: {log}). The next call resumes."
    )


def test_without_a_failed_job_the_log_of_snakemake_says_why(stages, tmp_path):
    log = tmp_path / "all.log"
    log.write_text("Using profile x\nError: config.yaml: no key 'x'.\n")
    sentence = failure_sentence(stages, log, 1)
    assert sentence == f"Snakemake ended with status 1: Error: config.yaml: no key 'x'. (log: {log})"
    log.write_text("LockException:\nError: Directory cannot be locked.\nadvice\n")
    assert "snakemake --unlock" in failure_sentence(stages, log, 1)


def test_an_interrupted_workflow_ends_with_its_jobs(tmp_path, monkeypatch):
    """The command is played by a script that starts another process, as Snakemake does, and tells when it ends."""
    script = tmp_path / "snakemake.py"
    script.write_text(
        "import signal, subprocess, sys, time\n"
        "if sys.argv[1] == 'job':\n"
        "    signal.signal(signal.SIGINT, lambda *_: sys.exit(open('ended', 'w').close()))\n"
        "    open('started', 'w').close()\n"
        "    time.sleep(60)\n"
        "try:\n"
        "    subprocess.run([sys.executable, sys.argv[0], 'job'])\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(7)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    workflow = Workflow(["demo"], events=tmp_path / "events", log=tmp_path / "logs/all.log")
    while not (tmp_path / "started").exists():
        assert workflow.wait(0.05) is None
    workflow.stop()
    assert workflow.wait(0) == 7
    while not (tmp_path / "ended").exists():
        time.sleep(0.05)


def test_a_signal_that_ends_the_process_interrupts_it():
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), terminated_as_interrupted():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_training_is_expected_to_take_most_of_the_time(root, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    stages = plan_stages(project_of_folder(tmp_path))
    expected = {stage.name: stage.expected for stage in stages.stages}
    training = [seconds for name, seconds in expected.items() if name.startswith("train ")]
    assert len(training) == 3
    assert sum(training) > sum(expected.values()) / 2
    assert all(seconds > 0 for seconds in expected.values())
