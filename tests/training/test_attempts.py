"""The record of attempts to train."""

import hashlib
import re
import shutil
import subprocess

import pytest
import torch

from nmtcore import __version__
from nmtcore.files import read_json
from nmtcore.training.attempts import code_version, read_attempts, recorded_attempt


def record(folder, *, fails=False):
    with recorded_attempt(folder, device="cpu", gpus=1, threads=2):
        assert read_json(folder / "attempts.json")[-1]["ended"] is None, "an attempt that is killed has no end"
        if fails:
            raise KeyboardInterrupt


def test_attempts_follow_each_other(tmp_path, amd_processor):
    amd_processor()
    with pytest.raises(KeyboardInterrupt):
        record(tmp_path, fails=True)
    record(tmp_path)
    first, second = read_attempts(tmp_path / "attempts.json")
    assert [attempt["finished"] for attempt in (first, second)] == [False, True]
    assert first["began"] <= first["ended"] <= second["began"] <= second["ended"]
    device = {"kind": "cpu", "gpus": 0, "threads": 2, "name": "A processor", "linear_layers": "oneDNN"}
    assert second["device"].items() >= device.items()
    assert second["packages"]["torch"].partition("+")[0] == torch.__version__.partition("+")[0]


@pytest.fixture
def package(tmp_path):
    """A small package in a folder laid out like the repository."""
    package = tmp_path / "src/nmtcore"
    (package / "part").mkdir(parents=True)
    for name in ("__init__.py", "part/code.py", "part/words.txt"):
        (package / name).write_text(name)
    return package


def test_the_code_version_has_commit_sources_and_lock(tmp_path, package):
    without_git = code_version(package)
    assert without_git.items() >= {"version": __version__, "commit": None, "lock_sha256": None}.items()
    lock = tmp_path / "requirements.lock"
    lock.write_text("torch==1\n")
    with_lock = without_git | {"lock_sha256": hashlib.sha256(b"torch==1\n").hexdigest()}
    assert code_version(package) == with_lock

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        return subprocess.run(
            ["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True, text=True
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "a")
    commit = git("rev-parse", "HEAD").stdout.strip()
    assert code_version(package) == with_lock | {"commit": commit}
    (package / "part/code.py").write_text("edited")
    edited = code_version(package)
    assert edited["commit"] == f"{commit}-dirty"
    assert edited["sources_sha256"] != without_git["sources_sha256"]
    shutil.copytree(tmp_path / "src", tmp_path / "inside/src")
    assert code_version(tmp_path / "inside/src/nmtcore")["commit"] is None, "the repository above is another one"


def test_the_documentation_s_commands_print_the_checksums_of_the_code(root):
    """They leave compiled and hidden files out, as Python and editors leave them in a repository."""
    (commands,) = re.findall(r"^```bash\n(sha256sum .*?)^```", (root / "docs/running.md").read_text(), re.M | re.DOTALL)
    said = subprocess.run(["bash", "-euc", commands], check=True, cwd=root, capture_output=True, text=True).stdout
    code = code_version(root / "src/nmtcore")
    assert [line.split()[0] for line in said.splitlines()] == [code["lock_sha256"], code["sources_sha256"]]
