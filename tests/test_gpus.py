"""GPUs are counted, and their slots are taken by processes, on a machine that needs none."""

import os
import select
import signal
import subprocess
import sys
from collections import Counter

import pytest
from fake_nvml import make_library

from nmtcore import gpus
from nmtcore.gpus import JOBS_PER_GPU, card_names, take_slots, visible_gpus

CARDS = ["GPU-a", "GPU-b", "GPU-c"]


@pytest.fixture(autouse=True)
def released(monkeypatch):
    """Slots that the test's own process takes are free after it; CUDA_VISIBLE_DEVICES is not set."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(gpus, "held", [])
    yield
    for slot in gpus.held:
        os.close(slot)


@pytest.mark.parametrize(
    ("chosen", "visible"),
    [
        (None, ["0", "1", "2"]),
        ("2,0", ["2", "0"]),
        ("", []),
        ("1,-1,2", ["1"]),
        ("1, 7, 2", ["1"]),
        ("GPU-8932f937,MIG-1", ["GPU-8932f937", "MIG-1"]),
    ],
)
def test_device_files_are_counted_and_the_users_choice_is_respected(tmp_path, monkeypatch, chosen, visible):
    monkeypatch.setattr(gpus, "known_gpus", dict)
    for name in ("nvidia0", "nvidia1", "nvidia3", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    assert visible_gpus(tmp_path) == visible


def test_nvml_knows_uuids_and_memory(tmp_path):
    code = "from nmtcore.gpus import *; print(known_gpus(), visible_gpus(), card_names())"

    def printed(**variables):
        environment = os.environ | {"LD_LIBRARY_PATH": str(make_library(tmp_path, 2, free_of_first=25))} | variables
        return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True).stdout

    names = ["GPU-0-fake", "GPU-1-fake"]
    assert printed() == f"{ {names[0]: 0.75, names[1]: 0.0} } {names} {names}\n"
    assert printed(CUDA_VISIBLE_DEVICES="1") == f"{ {names[0]: 0.75, names[1]: 0.0} } ['1'] ['GPU-1-fake']\n"


def test_numbers_and_beginnings_of_uuids_name_the_same_card():
    assert card_names(["1", "GPU-a", "GPU-8932", "7"], ["GPU-89320", "GPU-a1"]) == [
        "GPU-a1", "GPU-a1", "GPU-89320", "7",
    ]  # fmt: skip


def take(folder, count=1, *, jobs=2, **options):
    return take_slots(CARDS, count, jobs=jobs, folder=folder, **{"known": dict, **options})


def test_a_job_takes_the_emptiest_card(tmp_path):
    assert [take(tmp_path) for _ in range(4)] == [["GPU-a"], ["GPU-b"], ["GPU-c"], ["GPU-a"]]
    # The others have a slot left, but another program fills most of one's memory.
    assert take(tmp_path, known=lambda: {"GPU-a": 0.1, "GPU-b": 0.9, "GPU-c": 0.5}) == ["GPU-c"]
    assert take(tmp_path, known=lambda: {"GPU-b": 0.9}) == ["GPU-b"]


def test_several_cards_are_taken_whole_or_not_at_all(tmp_path):
    assert take(tmp_path) == ["GPU-a"]
    waiting = start(tmp_path, count=3)
    assert waiting.stdout.readline() == f"Waiting for 3 GPUs until jobs have ended: process {os.getpid()}.\n"
    assert take(tmp_path, 2) == ["GPU-b", "GPU-c"], "who waits holds nothing"
    assert sorted(path.name for path in tmp_path.glob("GPU-*")) == [f"{card}.{slot}" for card in CARDS for slot in "01"]
    for slot in gpus.held:
        os.close(slot)
    gpus.held.clear()
    assert waiting.stdout.readline() == "took GPU-a GPU-b GPU-c\n"
    end(waiting)


TAKER = """
import os, signal, sys, time
from pathlib import Path
from nmtcore.gpus import take_slots
folder, count, jobs, ending = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
def log(*words):
    print(*words, flush=True)
    if ending != "wait":
        with open(folder / "log.txt", "a") as file:
            file.write(" ".join(words) + "\\n")
taken = take_slots(sys.argv[5:], count, jobs=jobs, folder=folder, known=dict, log=print, pause=0.02)
log("took", *taken)
if ending == "wait":
    sys.stdin.readline()
else:
    time.sleep(0.05)
    log("left", *taken)
    if ending == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
"""


def start(folder, *, count=1, jobs=2, ending="wait", cards=CARDS):
    """Start a process that takes slots, says so, and ends in a way: when it gets a line, by itself, or killed."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, "-uc", TAKER, folder, str(count), str(jobs), ending, *cards], **pipes)


def end(process):
    process.kill()
    process.communicate()


def test_of_twenty_processes_none_takes_a_slot_of_another_and_all_end(tmp_path):
    """Every third one is killed while it has its slot, and every fourth one needs two whole cards."""
    jobs = 2
    endings = ["kill" if number % 3 == 0 else "end" for number in range(20)]
    started = [
        start(
            tmp_path,
            count=2 if number % 4 == 0 else 1,
            jobs=jobs,
            ending=ending,
            cards=CARDS[:: -1 if number % 8 else 1],
        )
        for number, ending in enumerate(endings)
    ]
    for process, ending in zip(started, endings, strict=True):
        process.communicate(timeout=60)
        assert process.returncode == (-signal.SIGKILL if ending == "kill" else 0)
    used, taken = Counter(), 0
    for line in (tmp_path / "log.txt").read_text().splitlines():
        word, *cards = line.split()
        for card in cards:
            used[card] += (1 if word == "took" else -1) * (jobs if len(cards) == 2 else 1)
        assert max(used.values()) <= jobs, line
        taken += word == "took"
    assert taken == 20
    assert [take(tmp_path, jobs=jobs, log=pytest.fail) for _ in range(3 * jobs)], "all slots are free again"


def test_a_process_sees_and_holds_its_slot_alone(tmp_path):
    program = (
        "import os, sys; from nmtcore.gpus import use_gpus; use_gpus(1, log=lambda line: print(line, file=sys.stderr, "
        "flush=True)); print(os.environ['CUDA_VISIBLE_DEVICES'], flush=True); sys.stdin.readline()"
    )
    environment = os.environ | {"LD_LIBRARY_PATH": str(make_library(tmp_path, 2)), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-P", "-c", program]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    slots = environment | {JOBS_PER_GPU: "1"}
    started = [subprocess.Popen(command, env=slots, **pipes) for _ in range(3)]
    ready, _, _ = select.select([process.stderr for process in started], [], [], 20)
    (waiting,) = (process for process in started if process.stderr in ready)
    assert waiting.stderr.readline().startswith("Waiting for a GPU until jobs have ended: process ")
    running = [process for process in started if process is not waiting]
    seen = [process.stdout.readline() for process in running]
    assert sorted(seen) == ["GPU-0-fake\n", "GPU-1-fake\n"]
    end(running[0])
    assert waiting.stdout.readline() == seen[0]
    for process in (running[1], waiting):
        end(process)
