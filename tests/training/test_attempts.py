"""The record of attempts to train."""

import hashlib
import subprocess

import pytest
import torch

from nmtcore import __version__
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.training.attempts import code_version, read_attempts, recorded_attempt


def record(folder, *, fails=False):
    with recorded_attempt(folder, device="cpu", gpus=1, threads=2):
        assert read_json(folder / "attempts.json")[-1]["ended"] is None, "an attempt that is killed has no end"
        if fails:
            raise KeyboardInterrupt


def test_attempts_follow_each_other(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path, fails=True)
    record(tmp_path)
    first, second = read_attempts(tmp_path / "attempts.json")
    assert [attempt["finished"] for attempt in (first, second)] == [False, True]
    assert first["began"] <= first["ended"] <= second["began"] <= second["ended"]
    assert second["device"].items() >= {"kind": "cpu", "gpus": 0, "threads": 2}.items()
    assert second["device"]["name"]
    assert second["packages"]["torch"].partition("+")[0] == torch.__version__.partition("+")[0]
    assert second["energy"] == {"gpu": None}


def test_the_code_version_has_commit_and_lock(tmp_path):
    assert code_version(tmp_path) == {"version": __version__, "commit": None, "lock_sha256": None}
    lock = tmp_path / "requirements.lock"
    lock.write_text("torch==1\n")

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(
            ["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True, text=True
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "a")
    commit = git("rev-parse", "HEAD").stdout.strip()
    version = {"version": __version__, "lock_sha256": hashlib.sha256(b"torch==1\n").hexdigest()}
    assert code_version(tmp_path) == version | {"commit": commit}
    lock.write_text("torch==2\n")
    assert code_version(tmp_path)["commit"] == f"{commit}-dirty"
    (tmp_path / "inside").mkdir()
    assert code_version(tmp_path / "inside")["commit"] is None, "the repository above is another one"


@pytest.mark.parametrize("content", ["", "[", "3", "{}", "[1]"])
def test_a_damaged_record_is_to_be_deleted(tmp_path, content):
    path = tmp_path / "attempts.json"
    path.write_text(content)
    with pytest.raises(UserError, match=r"attempts\.json.*: delete it\."):
        read_attempts(path)
