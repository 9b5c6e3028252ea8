"""The first stage of `make demo` and `make test`: install all packages into .venv, with a bar.

It runs by `python3 -m nmtcore.console.install`, before there is any package but Python's own.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from nmtcore.console.screen import StageScreen
from nmtcore.console.stages import Stage

EXPECTED = 60.0
"""Seconds that an installation takes on two cores with a fast connection, as measured in November 2026."""

FETCHING = 0.6
"""The share of an installation's time that it takes to choose and fetch the packages."""

_FETCHED = re.compile(r"^(?:Collecting |Processing |Requirement already satisfied: )", re.MULTILINE)


def install(folder: Path, lock: Path) -> None:
    """Make a virtual environment with the packages of a lock file, and this project's, which stays editable.

    Exits with status 1 and a sentence if a command fails; its output is in `install.log` of the environment.
    """
    folder.mkdir(exist_ok=True)
    log = folder / "install.log"
    # Python compiles a module at its first import, and keeps the result unless the environment forbids it.
    compiling = [] if os.environ.get("PYTHONDONTWRITEBYTECODE") else ["--no-compile"]
    pip = [str(folder / "bin/pip"), "install", *compiling, "--progress-bar", "off"]
    commands = [
        [sys.executable, "-m", "venv", str(folder)],
        [*pip, "--requirement", str(lock)],
        [*pip, "--no-deps", "--editable", "."],
    ]
    count = package_count(lock.read_text(encoding="utf-8"))
    stage = Stage(name="install packages", expected=EXPECTED)
    screen = StageScreen([stage], sys.stdout)
    stage.begin(time.monotonic())
    with open(log, "wb") as output:
        for command in commands:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            while process.poll() is None:
                share, detail = progress(log, folder, count)
                stage.report(share, detail)
                screen.show(time.monotonic())
                _wait(process, 0.5)
            if process.returncode:
                stage.end(time.monotonic(), failed=True)
                screen.show(time.monotonic())
                sys.exit(f"Installation failed: {reason(log)} (log: {log})")
    stage.end(time.monotonic())
    screen.show(time.monotonic())


def package_count(lock: str) -> int:
    """Count the packages of a lock file."""
    return sum(bool(line.strip()) and not line.startswith("#") for line in lock.splitlines())


def progress(log: Path, folder: Path, count: int) -> tuple[float, str]:
    """Return the share of an installation that is done, and what it is doing.

    Of a package, fetching it counts as the share `FETCHING`, unpacking it as the rest.
    """
    fetched = min(count, len(_FETCHED.findall(log.read_text(encoding="utf-8", errors="replace"))))
    unpacked = min(count, sum(1 for _ in folder.glob("lib/python*/site-packages/*.dist-info")))
    verb, done = ("unpacking", unpacked) if fetched >= count else ("fetching", fetched)
    # The bar is full when all commands have ended.
    share = (FETCHING * fetched + (1 - FETCHING) * unpacked) / count
    return min(0.99, share), f"{verb} {done} of {count}"


def reason(log: Path) -> str:
    """Return what a Python without `venv` lacks, the first error of pip's output or, without one, the last line."""
    text = log.read_text(encoding="utf-8", errors="replace")
    if "ensurepip is not" in text:
        return "this Python lacks venv, which Debian and Ubuntu have in a package of its own: apt install python3-venv"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines[-1:] or ["no output"])[0]


def _wait(process: subprocess.Popen, seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def install_or_exit(arguments: Sequence[str]) -> None:
    """Install into the folder that is the only argument; ends with status 130 if the user interrupts it."""
    try:
        install(Path(arguments[0]), Path("requirements.lock"))
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    install_or_exit(sys.argv[1:])
