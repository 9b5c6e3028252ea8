"""Japanese words by KyTea, where the program `kytea` is installed: what the papers score Japanese on."""

import shutil
import subprocess
from collections.abc import Sequence

from nmtcore.errors import UserError


def kytea_version() -> str | None:
    """Give the version of the installed KyTea; None where there is none."""
    if shutil.which("kytea") is None:
        return None
    done = _run(["kytea", "--version"], "")
    said = (done.stdout + done.stderr).split()
    if done.returncode or "version" not in said[:-1]:
        raise UserError(f"The program kytea does not tell its version{_said(done)}: install it again, or remove it.")
    return said[said.index("version") + 1]


def kytea_lines(lines: Sequence[str]) -> list[str]:
    """Cut each line into words with spaces between, by the model that KyTea was installed with (or KYTEA_MODEL)."""
    # KyTea takes a space as a character like others, and skips a last line that has no end.
    done = _run(["kytea", "-notags", "-out", "tok"], "".join(" ".join(line.split()) + "\n" for line in lines))
    found = done.stdout.split("\n")[:-1]
    if done.returncode or len(found) != len(lines):
        raise UserError(
            f"KyTea gave {len(found)} lines for {len(lines)}{_said(done)}: try `kytea < file`, and see whether its "
            "model is there (KYTEA_MODEL names another)."
        )
    return [" ".join(line.split()) for line in found]


def _run(command: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise UserError(f"The program kytea cannot be started ({error.strerror}): install it again.") from error


def _said(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines()
    return f" (status {done.returncode}; it said: {lines[-1]})" if lines else f" (status {done.returncode})"
