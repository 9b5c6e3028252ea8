"""Only one process at a time has a folder's lock, and whatever ends a process frees it."""

import os
import subprocess
import sys
import threading
import time

import pytest
from full_disk import largest_file

from nmtcore.errors import UserError
from nmtcore.lock import free_locks, locked

HOLDER = """
import sys
from pathlib import Path
from nmtcore.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock until it gets a line."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path / "lock")], **pipes) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_trainer_says_for_whom_it_waits(tmp_path, holder):
    messages = []
    timer = threading.Timer(0.5, lambda: holder.stdin.write("\n") and holder.stdin.flush())
    timer.start()
    began = time.monotonic()
    with locked(tmp_path / "lock", log=messages.append):
        assert holder.wait(5) == 0
        assert time.monotonic() - began >= 0.4
        assert f"process {os.getpid()} on " in (tmp_path / "lock").read_text()
    (message,) = messages
    assert message.startswith(f"Waiting for process {holder.pid} on ")
    assert message.endswith(f", another trainer in {tmp_path}, to end.")


def test_a_second_trainer_stops_waiting_when_its_patience_ends(tmp_path, holder):
    with (
        pytest.raises(UserError, match=f"still held by process {holder.pid} on .* after 0 seconds: wait for that"),
        locked(tmp_path / "lock", log=lambda line: None, patience=0.3),
    ):
        pytest.fail("two trainers hold the lock")
    assert holder.poll() is None


def test_without_space_for_the_lock_there_is_a_sentence_and_it_is_free_again(tmp_path):
    with (
        pytest.raises(UserError, match="would exceed the largest file size"),
        largest_file(0),
        locked(tmp_path / "lock"),
    ):
        pass
    with locked(tmp_path / "lock", patience=0):
        pass


SIGNED = """
import sys
from nmtcore.lock import sign_locks
sign_locks(sys.argv[1:])
print("held", flush=True)
sys.stdin.readline()
"""


def test_only_locks_whose_process_here_has_ended_are_freed(tmp_path):
    locks = [tmp_path / "0.input.lock", tmp_path / "0.output.lock"]
    for lock in (*locks, tmp_path / "1.input.lock"):
        lock.touch()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SIGNED, *map(str, locks)], **pipes) as process:
        assert process.stdout.readline() == "held\n"
        free_locks(tmp_path)
        assert all(lock.exists() for lock in locks)
        process.kill()
    free_locks(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["1.input.lock"], "nothing says whose that is"


def test_the_lock_of_another_host_is_kept_and_explained(tmp_path):
    (tmp_path / "0.input.lock").touch()
    (tmp_path / "0.input.owner").write_text("process 7 on elsewhere\n")
    with pytest.raises(UserError, match=r"is locked by process 7 on elsewhere\. If .* run `snakemake --unlock` here"):
        free_locks(tmp_path)
    assert (tmp_path / "0.input.lock").exists()
