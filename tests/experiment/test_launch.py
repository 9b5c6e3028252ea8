"""Training in two processes, started as the workflow starts it."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from experiment.launched import UPDATES, Launched, lock_holder, write_job
from safetensors.torch import load_file

from nmtcore.errors import UserError
from nmtcore.experiment import launch
from nmtcore.experiment.launch import launch_training
from nmtcore.training.checkpoints import Checkpoints


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
