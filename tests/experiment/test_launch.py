"""Trainings of two processes under torchrun, as the workflow starts them."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.distributed.run import config_from_args, get_args_parser
from training.torchrun_job import UPDATES, Launched, holder, write_job

from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.runs import run_to_json
from nmtcore.errors import UserError
from nmtcore.experiment import launch as launching
from nmtcore.experiment import process
from nmtcore.experiment.launch import launch, run_forwarding_signals, torchrun, train_together


@pytest.mark.slow
def test_torchruns_processes_end_together_say_why_and_go_on(tmp_path: Path):
    whole, cut = (write_job(tmp_path / name) for name in ("whole", "cut"))
    first = Launched(whole)

    killed = Launched(cut)
    os.kill(holder(killed.wait_for_update(20)), signal.SIGKILL)
    output, last, code = killed.end()
    assert (code, last) == (1, "Training in 2 processes stopped with status 1: see above.")
    assert output.count("Another process of this training ended (") == 1
    assert "Traceback" not in output
    assert "exitcode  : -9" in output

    # What the first process alone notices: somebody else's lock.
    failed = Launched(cut)
    lock = failed.wait_for_update(60)
    lock.write_text('{"token": "another"}')
    output, last, code = failed.end()
    assert (code, last) == (1, f"Another trainer has taken {lock} while this one stood still; {ENDS}")
    assert output.count("Another process of this training ended (") == 1
    assert "Traceback" not in output
    assert "SIGABRT" not in output
    lock.unlink()

    stopped = Launched(cut)
    stopped.wait_for_update(120)
    os.kill(stopped.pid, signal.SIGTERM)
    output, last, code = stopped.end()
    assert code == 1
    assert "Traceback" not in output
    assert last.startswith("Training was stopped by SIGTERM after update ")
    update = int(last.partition("after update ")[2].partition(";")[0])
    assert 120 <= update < UPDATES
    assert (lock.parent / f"{update:08d}.json").exists()
    assert not lock.exists()

    last_part = Launched(cut)
    for run in (first, last_part):
        output, _, code = run.end()
        assert code == 0, output
        assert "Another process" not in output
    assert f"Going on from the checkpoint of update {update}." in output
    one, other = (load_file(Path(job.model) / "weights.safetensors") for job in (whole, cut))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not list((tmp_path / "cut").rglob("*.failed.txt"))


ENDS = "this one ends and changes nothing."


@pytest.fixture
def commands(monkeypatch):
    """The commands that are run in place of torchrun, which gives status 3."""
    found = []
    monkeypatch.setattr(launching, "run_forwarding_signals", lambda command: found.append(command) or 3)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    return found


def test_torchrun_understands_its_options():
    """As it reads them itself: the trainers get four minutes to save themselves, and every signal that may come."""
    command = torchrun(Path("job.json"), processes=4)
    assert command[1:3] == ["-m", "nmtcore.training.torchrun"]
    config, _, arguments = config_from_args(get_args_parser().parse_args(command[3:]))
    assert config.shutdown_timeout == 240
    assert config.signals_to_handle.split(",") == ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1"]
    assert config.nproc_per_node == 4
    assert arguments[-3:] == ["-m", "nmtcore.experiment.process", "job.json"]


@pytest.mark.parametrize(("threads", "each"), [(8, 2), (7, 1), (2, 1)])
def test_processes_share_the_threads_of_the_job(tmp_path: Path, commands, threads, each):
    job = replace(write_job(tmp_path), device="cuda", gpus=4, threads=threads)
    with pytest.raises(UserError, match="Training in 4 processes stopped with status 3: see above"):
        launch(job)
    told = json.loads((tmp_path / "checkpoints/job.json").read_text())
    assert told == {**vars(job), "threads": each}
    assert commands == [torchrun(tmp_path / "checkpoints/job.json", processes=4)]


def test_more_gpus_than_there_are_are_a_sentence(tmp_path: Path, commands):
    with pytest.raises(
        UserError, match="gpus: 5 requests one GPU for each of 5 processes, but 4 GPUs are visible here"
    ):
        launch(replace(write_job(tmp_path), device="cuda", gpus=5))
    assert not commands


def test_the_sentence_of_a_process_is_told_once(tmp_path: Path, monkeypatch, commands):
    """Not that of an earlier attempt."""
    job = write_job(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints/job.failed.txt").write_text("An older sentence.\n")
    with pytest.raises(UserError, match="stopped with status 3"):
        train_together(job)

    def fails(job):
        raise UserError("The GPU's memory is full.")

    monkeypatch.setattr(process, "train_run", fails)

    def one_process(command):
        process.run_process(command[-1:])
        return ends.pop()

    ends = []
    monkeypatch.setattr("os._exit", ends.append)
    monkeypatch.setattr(launching, "run_forwarding_signals", one_process)
    for _ in range(2):
        with pytest.raises(UserError) as caught:
            train_together(job)
        assert str(caught.value) == "The GPU's memory is full."


def test_a_broken_job_file_is_a_sentence(tmp_path: Path):
    command = [sys.executable, "-m", "nmtcore.experiment.process", str(tmp_path / "absent.json")]
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


def test_signals_reach_the_trainers_behind_torchrun():
    process = subprocess.Popen([sys.executable, "-c", FORWARD], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGUSR1)
    assert process.wait(timeout=30) == 7


def test_the_shipped_components_can_be_told_as_json(root: Path):
    project, told = Project.load(root / "config"), set()
    for dataset, system in product(project.dataset_files, project.system_entries):
        with suppress(MissingAnnotation):
            json.dumps(run_to_json(project.run(dataset, system, "smoke", 1)))
            told.add(system)
    assert told == set(project.system_entries)


def test_trainers_import_nothing_from_the_working_directory():
    looks_here = "import sys; sys.exit('' in sys.path)"
    assert run_forwarding_signals([sys.executable, "-c", looks_here]) == 0
