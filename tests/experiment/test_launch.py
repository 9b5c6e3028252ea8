"""Training in two processes under torchrun, started as the workflow starts it."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.distributed.run import config_from_args, get_args_parser
from training.torchrun_job import UPDATES, Launched, lock_holder, write_job

from nmtcore.errors import UserError
from nmtcore.experiment import launch as launching
from nmtcore.experiment import processes
from nmtcore.experiment.launch import launch_training, run_forwarding_signals, torchrun_command, train_distributed
from nmtcore.training.checkpoints import Checkpoints


@pytest.mark.needs("training")
def test_torchruns_processes_end_together_with_a_reason_and_resume(tmp_path: Path):
    """One run loads its features; the other, which is interrupted, maps them."""
    whole, cut = (write_job(tmp_path / name) for name in ("whole", "cut"))
    cut = replace(cut, map_features_from=1)
    uninterrupted = Launched(whole)

    killed = Launched(cut)
    os.kill(lock_holder(killed.wait_for_update(20)), signal.SIGKILL)
    output, last, code = killed.end()
    assert (code, last) == (1, "Training in 2 processes ended with status 1: their messages are above.")
    assert output.count("Another process of this training ended (") == 1
    assert "Traceback" not in output
    assert "exitcode  : -9" in output

    # Only the first process notices that another trainer has the lock.
    failed = Launched(cut)
    lock = failed.wait_for_update(40)
    lock.write_text('{"token": "another"}')
    output, last, code = failed.end()
    assert (code, last) == (
        1,
        f"Another trainer took {lock} while this one was suspended: this one ends and writes nothing.",
    )
    assert output.count("Another process of this training ended (") == 1
    assert "Traceback" not in output
    assert "SIGABRT" not in output
    lock.unlink()

    stopped = Launched(cut)
    stopped.wait_for_update(80)
    os.kill(stopped.pid, signal.SIGTERM)
    output, last, code = stopped.end()
    assert code == 1
    assert "Traceback" not in output
    assert last.startswith("Training was stopped by SIGTERM after update ")
    update = int(last.partition("after update ")[2].partition(";")[0])
    assert 80 <= update < UPDATES
    assert update in Checkpoints(lock.parent).paths()
    assert not lock.exists()

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
    assert list((tmp_path / "cut/features/mapped").glob("train.target.*/ids.values.npy"))
    assert not (tmp_path / "whole/features/mapped").exists()


@pytest.fixture
def commands(monkeypatch):
    """The commands that would start torchrun; each ends with status 3 instead."""
    recorded = []
    monkeypatch.setattr(launching, "run_forwarding_signals", lambda command: recorded.append(command) or 3)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    return recorded


def test_torchruns_own_parser_reads_our_options():
    """Workers have four minutes to write a checkpoint, and every signal is forwarded to them."""
    command = torchrun_command(Path("job.json"), processes=4)
    assert command[1:4] == ["-m", "nmtcore.experiment.processes", "torchrun"]
    config, _, arguments = config_from_args(get_args_parser().parse_args(command[4:]))
    assert config.shutdown_timeout == 240
    assert config.signals_to_handle.split(",") == ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1"]
    assert config.nproc_per_node == 4
    assert arguments[-3:] == ["-m", "nmtcore.experiment.processes", "job.json"]


@pytest.mark.parametrize(("threads", "threads_per_process"), [(8, 2), (7, 1), (2, 1)])
def test_processes_share_the_threads_of_the_job(tmp_path: Path, commands, threads, threads_per_process):
    job = replace(write_job(tmp_path), device="cuda", gpus=4, threads=threads)
    with pytest.raises(UserError, match="Training in 4 processes ended with status 3: their messages are above"):
        launch_training(job)
    written = json.loads((tmp_path / "checkpoints/job.json").read_text())
    assert written == {**vars(job), "threads": threads_per_process}
    assert commands == [torchrun_command(tmp_path / "checkpoints/job.json", processes=4)]


def test_more_gpus_than_the_machine_has_are_an_error(tmp_path: Path, commands):
    with pytest.raises(
        UserError, match="gpus: 5 requests one GPU for each of 5 processes, but 4 GPUs are visible here"
    ):
        launch_training(replace(write_job(tmp_path), device="cuda", gpus=5))
    assert not commands


def test_the_error_of_a_process_is_that_of_this_attempt(tmp_path: Path, monkeypatch, commands):
    job = write_job(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints/job.failed.txt").write_text("The error of an earlier attempt.\n")
    with pytest.raises(UserError, match="ended with status 3"):
        train_distributed(job)

    def fail(job):
        raise UserError("The GPU's memory is full.")

    monkeypatch.setattr("nmtcore.experiment.training.train_run", fail)

    def run_one_process(command):
        processes.run_process(Path(command[-1]))
        return statuses.pop()

    statuses = []
    monkeypatch.setattr("os._exit", statuses.append)
    monkeypatch.setattr(launching, "run_forwarding_signals", run_one_process)
    for _ in range(2):
        with pytest.raises(UserError) as caught:
            train_distributed(job)
        assert str(caught.value) == "The GPU's memory is full."


def test_a_missing_job_file_is_an_error_without_a_stack_trace(tmp_path: Path):
    command = [sys.executable, "-m", "nmtcore.experiment.processes", str(tmp_path / "absent.json")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert "absent.json does not exist" in result.stderr
    assert "Traceback" not in result.stderr


FORWARD = """
import sys
from nmtcore.experiment.launch import run_forwarding_signals
child = '''
import signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(7))
print("ready", flush=True)
time.sleep(60)
'''
sys.exit(run_forwarding_signals([sys.executable, "-c", child]))
"""


def test_signals_are_forwarded():
    process = subprocess.Popen([sys.executable, "-c", FORWARD], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGUSR1)
    assert process.wait(timeout=30) == 7


def test_workers_import_nothing_from_the_working_directory():
    searches_working_directory = "import sys; sys.exit('' in sys.path)"
    assert run_forwarding_signals([sys.executable, "-c", searches_working_directory]) == 0
