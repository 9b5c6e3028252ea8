"""The attempts of a training run: when, on which device, with which code and packages each of them trained."""

import hashlib
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nmtcore
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json
from nmtcore.layout import file_name

PACKAGE = Path(nmtcore.__file__).resolve().parent
"""The folder of the package: `src/nmtcore` of a repository or of a copy of it, or where an installed wheel is."""

PACKAGES = ("torch", "numpy", "pyarrow", "safetensors", "sacrebleu")
"""The packages whose versions are recorded; requirements.lock has all of them."""


def code_version(package: Path = PACKAGE) -> dict[str, str | None]:
    """Return the version and `sources_sha256` of the package, its commit, and the SHA-256 of requirements.lock.

    The commit ends in "-dirty" with uncommitted changes; it is None outside a repository, or without git. The lock is
    that of the repository or of a copy of it; an installed wheel has none.
    """
    repository = package.parents[1]
    lock = repository / "requirements.lock"
    commit = None
    if (repository / ".git").exists() and shutil.which("git"):
        # Not a repository above this folder, as git would find; and no lock is taken for `git describe` itself.
        command = ["git", "-C", str(repository), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
        environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        described = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        commit = described.stdout.strip() or None
    return {
        "version": nmtcore.__version__,
        "commit": commit,
        "sources_sha256": sources_sha256(package),
        "lock_sha256": hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else None,
    }


def sources_sha256(package: Path) -> str:
    """Return the SHA-256 of what the program `sha256sum` prints for the files of a package, sorted by their paths.

    Paths begin with the package's name; compiled and hidden files are left out. docs/running.md has a command that
    does the same.
    """
    paths = {path.relative_to(package.parent).as_posix(): path for path in package.rglob("*") if path.is_file()}
    names = sorted(name for name in paths if not re.search(r"/(\.|__pycache__/)", name))
    lines = [f"{hashlib.sha256(paths[name].read_bytes()).hexdigest()}  {name}\n" for name in names]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@contextmanager
def recorded_attempt(folder: Path, *, device: str, gpus: int, threads: int) -> Iterator[dict[str, Any]]:
    """Record an attempt to train in `folder`/attempts.json, at its beginning and at its end; yield the record.

    An attempt that was killed has no end: `ended` is null.
    """
    from nmtcore.model.linear import products_by

    named = {"kind": device.partition(":")[0], "name": _device_name(device), "linear_layers": products_by(device)}
    attempt = {
        "began": _now(),
        "ended": None,
        "finished": False,
        "device": {**named, "gpus": gpus if device.startswith("cuda") else 0, "threads": threads},
        "code": code_version(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }
    path = folder / file_name("attempts")
    earlier = read_attempts(path)
    write_json(path, [*earlier, attempt])
    try:
        yield attempt
        attempt["finished"] = True
    finally:
        attempt["ended"] = _now()
        write_json(path, [*earlier, attempt])


def read_attempts(path: Path) -> list[dict[str, Any]]:
    """Read the attempts of a run; none if there is no file. Raises `UserError` if it holds something else."""
    attempts = read_json(path, advice="delete it") if path.exists() else []
    if not isinstance(attempts, list) or not all(isinstance(attempt, dict) for attempt in attempts):
        raise UserError(f"{path} does not hold the attempts of a training run: delete it.")
    return attempts


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _device_name(device: str) -> str:
    """Return the name of a GPU, or that of the processor as Linux reports it."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.get_device_name(torch.device(device))
    from nmtcore.model.device import processor

    return processor("model name") or platform.processor() or platform.machine()
