"""Training in two processes, started as the workflow starts it."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from factories import run_settings
from inference.tiny import PIECES, write_segmentation
from safetensors.torch import load_file
from training.processes import PROCESSES

from nmtcore.config.runs import run_to_json
from nmtcore.config.training import TrainingSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.experiment import launch
from nmtcore.experiment.launch import launch_training, train_distributed
from nmtcore.experiment.training import TrainingJob
from nmtcore.features.schema import TOKENS_SCHEMA
from nmtcore.parquet import write_rows
from nmtcore.segmentation.vocabulary import SPECIALS
from nmtcore.training.checkpoints import Checkpoints

UPDATES = 200
TRAINING = {
    "schedule": {"peak": 0.01, "warmup": 20},
    "batch": {"unit": "sentences", "size": 16},
    "validation": {"every": 100, "metric": "perplexity"},
    "max_updates": UPDATES,
    "checkpoint_every": 10,
}


def write_job(folder: Path) -> TrainingJob:
    """Write the files of a job for two processes on the CPU: sentences as sources, their reversals as targets."""
    run = run_settings(training=build(TrainingSettings, TRAINING, where="test"))
    write_segmentation(folder / "segmentation")
    generator = np.random.default_rng(1)
    for split, count in (("train", 200), ("dev", 10)):
        vocabulary = (len(SPECIALS), len(SPECIALS) + len(PIECES))
        sentences = [generator.integers(*vocabulary, n).tolist() for n in generator.integers(1, 8, count)]
        for side, step in (("source", 1), ("target", -1)):
            rows = [
                {"id": i, "ids": ids[::step], "word_of_subword": list(range(len(ids)))}
                for i, ids in enumerate(sentences)
            ]
            write_rows(folder / f"features/{split}.{side}.parquet", TOKENS_SCHEMA, rows)
    return TrainingJob(
        run=run_to_json(run),
        features=str(folder / "features"),
        segmentation=str(folder / "segmentation"),
        labels={},
        dev_corpus="nowhere",
        checkpoints=str(folder / "checkpoints"),
        model=str(folder / "model"),
        history=str(folder / "training.jsonl"),
        device="cpu",
        gpus=2,
        threads=2,
    )


class Launched:
    """A process that starts the processes that do a job."""

    def __init__(self, job: TrainingJob) -> None:
        self._folder = Path(job.checkpoints)
        self._folder.mkdir(exist_ok=True)
        self._output = self._folder.with_name(f"output.{time.monotonic_ns()}")
        self._process = PROCESSES.Process(target=_launch, args=(job, self._output))
        self._process.start()
        self.pid = self._process.pid

    def wait_for_update(self, update: int) -> Path:
        """Wait for a checkpoint of `update` or a later update; return the path of the lock file."""
        while self._process.is_alive():
            for lock in self._folder.glob("*/lock"):
                if max(Checkpoints(lock.parent).paths(), default=-1) >= update:
                    return lock
            time.sleep(0.005)
        raise AssertionError(f"the training ended too early:\n{self.end()[0]}")

    def end(self) -> tuple[str, str, int]:
        """Wait for the end; return the output of all processes, its last line and the exit code."""
        self._process.join(300)
        output = self._output.read_text()
        return output, output.strip().rpartition("\n")[2], self._process.exitcode


def _launch(job: TrainingJob, output: Path) -> None:
    file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(file, stream)
    # The workers import the tests' modules as well.
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    try:
        train_distributed(job)
    except UserError as error:
        sys.exit(str(error))


def lock_holder(lock: Path) -> int:
    """Return the PID of the process that holds the lock."""
    return int(lock.read_text().split()[1])


@pytest.mark.needs("training")
def test_processes_end_together_with_a_reason_and_resume(tmp_path: Path):
    whole, cut = (write_job(tmp_path / name) for name in ("whole", "cut"))
    uninterrupted = Launched(whole)

    killed = Launched(cut)
    os.kill(lock_holder(killed.wait_for_update(10)), signal.SIGKILL)
    output, last, code = killed.end()
    assert (code, last) == (1, "Training in 2 processes ended with status -9, 1: their messages are above.")
    assert output.count("Another process of this training ended (") == 1
    assert "Traceback" not in output

    stopped = Launched(cut)
    lock = stopped.wait_for_update(30)
    os.kill(stopped.pid, signal.SIGTERM)
    output, last, code = stopped.end()
    assert code == 1
    assert "Traceback" not in output
    assert last.startswith("Training was stopped by SIGTERM after update ")
    update = int(last.partition("after update ")[2].partition(";")[0])
    assert 30 <= update < UPDATES
    assert update in Checkpoints(lock.parent).paths()

    resumed = Launched(cut)
    for launched in (uninterrupted, resumed):
        output, _, code = launched.end()
        assert code == 0, output
        assert "Another process" not in output
    assert f"Resuming from the checkpoint of update {update}." in output
    expected, actual = (load_file(Path(job.model) / "weights.safetensors") for job in (whole, cut))
    assert expected.keys() == actual.keys()
    assert all(torch.equal(expected[name], actual[name]) for name in expected)
    assert not list((tmp_path / "cut").rglob("*.failed.txt"))


@pytest.fixture
def started(monkeypatch):
    """The commands that would be started, with the number of processes; each of these ends with status 3 instead."""
    recorded = []
    monkeypatch.setattr(launch, "run_processes", lambda *arguments: recorded.append(arguments) or [3] * arguments[1])
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    return recorded


@pytest.mark.parametrize(("threads", "threads_per_process"), [(8, 2), (7, 1), (2, 1)])
def test_processes_share_the_threads_of_the_job(tmp_path: Path, started, threads, threads_per_process):
    job = replace(write_job(tmp_path), device="cuda", gpus=4, threads=threads)
    with pytest.raises(UserError, match="Training in 4 processes ended with status 3, 3, 3, 3: their messages are"):
        launch_training(job)
    (command, count) = started[0]
    assert json.loads(Path(command[-1]).read_text()) == {**vars(job), "threads": threads_per_process}
    assert count == 4
    with pytest.raises(UserError, match="gpus: 5 requests one GPU for each of 5 processes, but 4 GPUs are visible"):
        launch_training(replace(job, gpus=5))
    assert len(started) == 1


CHILD = r"""
import os, signal, sys, time
if "" in sys.path:  # nothing is imported from the working directory
    sys.exit(8)
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(int(os.environ["RANK"])))
os.write(1, os.environ["WORLD_SIZE"].encode() + b"\n")
time.sleep(60)
"""
STARTED = """
import sys
from nmtcore.experiment import launch
launch._GRACE = 0.5
for code in sys.argv[1:]:
    print(launch.run_processes([sys.executable, "-c", code], 2))
"""


def test_signals_are_forwarded_and_no_process_outlives_another_that_fails():
    """On the signal, the first process ends with status 0, the second with 1."""
    fails = "import os, sys, time; sys.exit(5) if os.environ['RANK'] == '1' else time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", STARTED, CHILD, fails], stdout=subprocess.PIPE, text=True)
    assert [process.stdout.readline() for _ in range(2)] == ["2\n"] * 2
    process.send_signal(signal.SIGUSR1)
    assert process.communicate(timeout=30)[0] == "[0, 1]\n[-9, 5]\n"


def test_processes_keep_the_slots_of_a_launcher_that_is_killed(tmp_path):
    child = r"import os, time; os.write(1, b'%d\n' % os.getpid()); time.sleep(60)"
    code = (
        "import sys; from pathlib import Path; from nmtcore.experiment.launch import run_processes\n"
        "from nmtcore.gpus import take_slots\n"
        f"take_slots(['a', 'b'], 2, jobs=1, folder=Path({str(tmp_path)!r}), known=dict)\n"
        f"run_processes([sys.executable, '-c', {child!r}], 2)"
    )
    launcher = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    processes = [int(launcher.stdout.readline()) for _ in range(2)]
    launcher.kill()
    launcher.wait()

    def is_free():
        with open(tmp_path / "a.0") as slot:
            try:
                fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    os.kill(processes[0], signal.SIGKILL)
    assert not is_free()
    os.kill(processes[1], signal.SIGKILL)
    launcher.stdout.read()  # ends when both have ended
    assert is_free()
