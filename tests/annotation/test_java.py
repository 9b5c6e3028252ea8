"""Java processes: their failures, time limits and ends."""

import os
import signal
import subprocess
import sys

import pytest
from fake_java import alive, wait_until
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.annotation.base import NumberedSentence
from nmtcore.annotation.java import JavaAnnotator, find_java, run_java
from nmtcore.config.annotators import CoreNlpSettings
from nmtcore.errors import UserError
from nmtcore.syntax.annotation import Annotation

SLEEPER = "import os, subprocess, sys, time; print(os.getpid(), subprocess.Popen(['sleep', '600']).pid, flush=True); "


def run(code, folder, **options):
    settings = {"name": "Tool", "patience": 60, "progress": lambda: 0} | options
    return run_java([sys.executable, "-c", code], folder=folder, **settings)


def test_a_successful_command_writes_its_output_to_files(tmp_path):
    assert run("import sys; print('out'); print('err', file=sys.stderr); print(sys.stdin.read())", tmp_path) is None
    assert (tmp_path / "stdout").read_text() == "out\n\n"
    assert (tmp_path / "stderr").read_text() == "err\n"


def test_a_crash_is_reported_with_the_last_exceptions(tmp_path):
    code = "import sys; sys.exit('Exception in thread: bad\\n\\tat a.b.C(C.java:1)\\n\\t... 5 more\\nCaused by: worse')"
    assert run(code, tmp_path) == "Tool crashed: Exception in thread: bad / Caused by: worse"
    assert run("import sys; sys.exit(3)", tmp_path) == "Tool crashed: status 3"


def test_a_killed_process_is_reported(tmp_path):
    assert run("import os; os.kill(os.getpid(), 9)", tmp_path).startswith("Tool was killed (for want of memory?): ")


def test_a_process_without_progress_is_killed_with_its_children(tmp_path):
    failure = run(
        SLEEPER + "time.sleep(600)", tmp_path, patience=1.5, progress=lambda: (tmp_path / "stdout").stat().st_size
    )
    assert failure == "Tool took too long: nothing came for 2 seconds (see seconds_a_sentence)"
    pids = (tmp_path / "stdout").read_text().split()
    assert len(pids) == 2
    assert wait_until(lambda: not any(map(alive, pids)))


def test_progress_resets_the_time_limit(tmp_path):
    ticks = iter(range(1000))
    assert run("import time; time.sleep(1)", tmp_path, patience=0.5, progress=lambda: next(ticks)) is None


def test_an_interruption_kills_the_process(tmp_path):
    def interrupt():
        if (tmp_path / "stdout").stat().st_size:
            raise KeyboardInterrupt
        return 0

    with pytest.raises(KeyboardInterrupt):
        run(SLEEPER + "time.sleep(600)", tmp_path, progress=interrupt)
    pids = (tmp_path / "stdout").read_text().split()
    assert wait_until(lambda: not any(map(alive, pids)))


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_processes_and_files_vanish_with_the_parent_process(tmp_path, end):
    folder = tmp_path / "run's folder"
    folder.mkdir()
    pids_file = tmp_path / "pids"
    code = SLEEPER.replace("flush=True", f"file=open({str(pids_file)!r}, 'w'), flush=True") + "time.sleep(600)"
    parent = (
        "from pathlib import Path; from nmtcore.annotation.java import run_java; "
        f"run_java([{sys.executable!r}, '-c', {code!r}], folder=Path({str(folder)!r}), name='Tool', patience=600, "
        "progress=lambda: 0)"
    )
    process = subprocess.Popen([sys.executable, "-c", parent])
    try:
        assert wait_until(lambda: pids_file.exists() and len(pids_file.read_text().split()) == 2, 60)
        pids = pids_file.read_text().split()
        assert all(map(alive, pids))
        os.kill(process.pid, end)
    finally:
        process.kill() if process.poll() is None and not pids_file.exists() else process.wait()
    assert wait_until(lambda: not any(map(alive, pids)) and not folder.exists())


FAULTS = {
    "crash": "Tool crashed: x",
    "absent": "Tool gave no analysis",
    "wrong": "Tool wrote: x",
    "last": "Tool wrote: x",
}


class Simulated(JavaAnnotator):
    """A tool without processes: the first word of a sentence is its fault, the last word its analysis."""

    name = "Tool"
    starts = 0

    def command(self, portions, folder):
        raise AssertionError

    progress = command

    def _run(self, portions, folder):
        self.starts += 1
        faults = [self.fault(portion) for portion in portions]
        return "Tool crashed: x" if "crash" in faults else None

    def fault(self, portion):
        return next((words[0] for words in portion if words[0] in FAULTS), None)

    def read(self, portions, folder):
        for portion in portions:
            fault = self.fault(portion)
            if fault in ("crash", "absent"):
                return
            yield "Tool wrote: x" if fault else [Annotation(xpos=[words[-1]]) for words in portion]
            if fault == "last":
                return


@given(
    faults=st.lists(st.sampled_from(["fine", "fine", "fine", *FAULTS]), max_size=40),
    portion=st.integers(1, 9),
    batch=st.integers(1, 50),
)
def test_exactly_the_faulty_sentences_are_null(faults, portion, batch):
    tool = Simulated(CoreNlpSettings(batch_size=batch))
    tool.portion = portion
    sentences = [NumberedSentence(n, (fault, str(n))) for n, fault in enumerate(faults)]
    annotations = list(tool.annotate(sentences))
    assert [a.xpos for a in annotations] == [[str(n)] if fault == "fine" else None for n, fault in enumerate(faults)]
    reasons = [a.reason for a, fault in zip(annotations, faults, strict=True) if fault != "fine"]
    if "crash" not in faults:
        assert reasons == [FAULTS[fault] for fault in faults if fault != "fine"]
    assert tool.starts <= -(-len(faults) // batch) + 6 * len(reasons)


def test_missing_java_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"Tool needs Java.*install a Java runtime.*default-jre-headless"):
        find_java("Tool")
