"""The attempts of a training run: when, on which device, with which code, packages and energy each of them trained."""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import nmtcore
from nmtcore.errors import UserError
from nmtcore.files import read_json, write_json
from nmtcore.layout import file_name

SOURCES = Path(__file__).resolve().parents[3]
"""The folder of the repository, if the package is imported from it."""

PACKAGES = ("torch", "numpy", "pyarrow", "safetensors", "sacrebleu")
"""The packages whose versions are recorded; requirements.lock has all of them."""


def code_version(sources: Path = SOURCES) -> dict[str, str | None]:
    """Return the version of the package, the commit ("-dirty" with uncommitted changes) and requirements.lock's sha256.

    The last two are None outside a repository, or without git.
    """
    lock = sources / "requirements.lock"
    commit = None
    if (sources / ".git").exists() and shutil.which("git"):
        # Not a repository above this folder, as git would find; and no lock is taken for `git describe` itself.
        command = ["git", "-C", str(sources), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
        environment = os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        described = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        commit = described.stdout.strip() or None
    lock_sum = hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else None
    return {"version": nmtcore.__version__, "commit": commit, "lock_sha256": lock_sum}


def device_description(device: str, *, gpus: int, threads: int) -> dict[str, Any]:
    """Describe a device: its kind, its name, the number of GPUs (0 on a processor) and of threads."""
    described = {"kind": device.partition(":")[0], "name": _processor_name(), "gpus": 0, "threads": threads}
    if described["kind"] == "cuda":
        import torch

        described |= {"name": torch.cuda.get_device_name(torch.device(device)), "gpus": gpus}
    return described


@contextmanager
def recorded_attempt(folder: Path, *, device: str, gpus: int, threads: int) -> Iterator[dict[str, Any]]:
    """Record an attempt to train in `folder`/attempts.json, at its beginning and at its end; yield the record.

    An attempt that was killed has no end and no energy: `ended` is null. Energy, in joules, is what the GPUs' own
    counters say, which include other programs on the same GPUs; null without a GPU or such a counter.
    """
    before = gpu_joules(device, gpus)
    attempt = {
        "began": _now(),
        "ended": None,
        "finished": False,
        "device": device_description(device, gpus=gpus, threads=threads),
        "code": code_version(),
        "python": platform.python_version(),
        "packages": {name: _installed(name) for name in PACKAGES},
        "energy": {"gpu": None},
    }
    path = folder / file_name("attempts")
    earlier = read_attempts(path)
    write_json(path, [*earlier, attempt])
    try:
        yield attempt
        attempt["finished"] = True
    finally:
        after = None if before is None else gpu_joules(device, gpus)
        attempt |= {"ended": _now(), "energy": {"gpu": None if after is None else round(after - before, 3)}}
        write_json(path, [*earlier, attempt])


def gpu_joules(device: str, gpus: int) -> float | None:
    """Add up the energy counters of the first `gpus` visible GPUs: joules since the driver was loaded (NVML).

    None on a CPU, without NVML, or if a GPU has no counter.
    """
    if not device.startswith("cuda"):
        return None
    import torch

    with suppress(OSError):
        library = ctypes.CDLL("libnvidia-ml.so.1")
        _check_nvml(library.nvmlInit_v2())
        total = 0
        for number in range(gpus):
            handle, value = ctypes.c_void_p(), ctypes.c_ulonglong()
            uuid = f"GPU-{torch.cuda.get_device_properties(number).uuid}"
            _check_nvml(library.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)))
            _check_nvml(library.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(value)))
            total += value.value
        return total / 1e3
    return None


def _check_nvml(status: int) -> None:
    if status:
        raise OSError(f"NVML returned {status}")


def read_attempts(path: Path) -> list[dict[str, Any]]:
    """Read the attempts of a run; none if there is no file. Raises `UserError` if it holds something else."""
    try:
        attempts = read_json(path) if path.exists() else []
    except UserError as error:
        raise UserError(f"{error} Delete it: then only what is still known about the run is recorded.") from error
    if not isinstance(attempts, list) or not all(map(_is_attempt, attempts)):
        raise UserError(f"{path} does not hold the attempts of a training run: delete it.")
    return attempts


def _is_attempt(entry: Any) -> bool:
    """Return whether a value is like an attempt's record in all that is read of it."""
    if not isinstance(entry, dict) or not isinstance(entry.get("began"), str):
        return False
    parts = [entry.get(name, {}) for name in ("energy", "device", "code", "packages")]
    return all(isinstance(part, dict) for part in parts) and all(
        joules is None or isinstance(joules, int | float) for joules in parts[0].values()
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor_name() -> str:
    """Return the name of the processor as Linux reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.processor() or platform.machine())
