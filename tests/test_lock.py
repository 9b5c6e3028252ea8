"""Only one trainer at a time holds a folder's lock, and dead holders lose it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from full_disk import largest_file

from nmtcore.errors import UserError
from nmtcore.lock import locked

HOLDER = """
import sys, time
from pathlib import Path
from nmtcore.lock import locked
with locked(Path(sys.argv[1]), beat=0.1):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock until it gets a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def test_a_second_trainer_waits_until_the_first_ends(tmp_path, holder):
    messages = []
    timer = threading.Timer(0.5, lambda: holder.stdin.write("\n") and holder.stdin.flush())
    timer.start()
    began = time.monotonic()
    with locked(tmp_path / "lock", log=messages.append, beat=0.1):
        assert holder.wait(5) == 0
        assert time.monotonic() - began >= 0.4
    assert len(messages) == 1
    assert f"process {holder.pid}" in messages[0]
    assert "waiting" in messages[0]
    assert not (tmp_path / "lock").exists()


def test_a_second_trainer_stops_waiting_when_its_patience_ends(tmp_path, holder):
    with (
        pytest.raises(UserError, match=f"still held by process {holder.pid}"),
        locked(tmp_path / "lock", log=lambda line: None, beat=0.1, patience=0.3),
    ):
        pytest.fail("two trainers hold the lock")
    assert holder.poll() is None


def test_the_lock_of_a_killed_process_is_taken_over_at_once(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    messages = []
    with locked(tmp_path / "lock", log=messages.append, stale=1000):
        pass
    assert "taking over" in messages[0]


def test_the_lock_of_a_zombie_process_is_taken_over(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)  # without wait(), it stays a zombie
    while Path(f"/proc/{holder.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    with locked(tmp_path / "lock", log=lambda line: None, stale=1000, patience=0):
        pass


KILLED_WHILE_TAKING_OVER = """
import os, signal, sys
from pathlib import Path
from nmtcore.lock import locked
rename = os.rename
os.rename = lambda *paths: (rename(*paths), os.kill(os.getpid(), signal.SIGKILL))
with locked(Path(sys.argv[1])):
    pass
"""


def test_nothing_is_left_of_a_process_killed_while_it_takes_over(tmp_path, holder):
    path = tmp_path / "lock"
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_TAKING_OVER, str(path)], stdout=subprocess.DEVNULL)
    assert killed.returncode == -signal.SIGKILL
    left = list(tmp_path.iterdir())
    assert len(left) == 1
    assert left != [path], "it was moved aside"
    with locked(path, stale=1000, patience=0):
        assert list(tmp_path.iterdir()) == [path]
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_another_host_without_heartbeat_is_taken_over(tmp_path):
    path = tmp_path / "lock"
    path.write_text(json.dumps({"host": "elsewhere/1", "pid": 1, "started": "1", "token": "x", "beat": "1"}))
    messages, began = [], time.monotonic()
    with locked(path, log=messages.append, beat=0.05, stale=0.4):
        assert time.monotonic() - began >= 0.4
    assert "process 1 on elsewhere" in messages[0]


def test_a_lock_of_another_host_with_heartbeat_is_respected(tmp_path):
    path = tmp_path / "lock"
    stop = threading.Event()

    def beat(count: int) -> None:
        holder = {"host": "elsewhere/1", "pid": 1, "started": "1", "token": "x", "beat": count}
        (tmp_path / "new").write_text(json.dumps(holder))
        (tmp_path / "new").replace(path)

    def write_heartbeats() -> None:
        count = 0
        while not stop.wait(0.05):
            count += 1
            beat(count)

    beat(0)
    thread = threading.Thread(target=write_heartbeats)
    thread.start()
    try:
        with (
            pytest.raises(UserError, match="still held by process 1 on elsewhere"),
            locked(path, log=lambda line: None, beat=0.05, stale=0.5, patience=1.5),
        ):
            pytest.fail("two trainers hold the lock")
    finally:
        stop.set()
        thread.join()


def test_a_trainer_that_lost_its_lock_gets_an_error_and_does_not_remove_the_lock(tmp_path):
    path = tmp_path / "lock"
    with locked(path, beat=0.02) as lock:
        lock.check_held()
        path.unlink()
        path.write_text(json.dumps({"host": "elsewhere/1", "pid": 1, "started": "1", "token": "other", "beat": "1"}))
        time.sleep(0.1)
        with pytest.raises(UserError, match="Another trainer took"):
            lock.check_held()
    assert json.loads(path.read_text())["token"] == "other"


def test_many_waiters_hold_the_lock_one_after_another(tmp_path):
    path = tmp_path / "lock"
    path.write_text(json.dumps({"host": "elsewhere/1", "pid": 1, "started": "1", "token": "x", "beat": "1"}))
    inside, most = 0, 0
    guard = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        with locked(path, log=lambda line: None, beat=0.01, stale=0.2):
            with guard:
                inside += 1
                most = max(most, inside)
            time.sleep(0.02)
            with guard:
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, most) == (0, 1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [0, 10])
def test_no_lock_is_left_where_there_is_no_space_for_it(tmp_path, size):
    with (
        pytest.raises(UserError, match="would exceed the largest file size"),
        largest_file(size),
        locked(tmp_path / "lock"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
