"""Segmentation of Japanese into words by the program `kytea`, as the papers do for scoring."""

import shutil
import subprocess
from collections.abc import Sequence

from nmtcore.errors import UserError


def kytea_version() -> str | None:
    """Return the version of KyTea; None if it is not installed."""
    if shutil.which("kytea") is None:
        return None
    process = _run_kytea(["--version"], "")
    words = (process.stdout + process.stderr).split()
    if process.returncode or "version" not in words[:-1]:
        raise UserError(f"The program kytea prints no version{_outcome(process)}: install it again, or remove it.")
    return words[words.index("version") + 1]


def kytea_lines(lines: Sequence[str]) -> list[str]:
    """Segment each line into words joined by spaces, with KyTea's default model or KYTEA_MODEL."""
    # KyTea treats a space like any other character, and skips a last line without a line end.
    text = "".join(" ".join(line.split()) + "\n" for line in lines)
    process = _run_kytea(["-notags", "-out", "tok"], text)
    output = process.stdout.split("\n")[:-1]
    if process.returncode or len(output) != len(lines):
        raise UserError(
            f"KyTea wrote {len(output)} lines for {len(lines)}{_outcome(process)}: try `kytea < file`, and check that "
            "its model exists (KYTEA_MODEL names another)."
        )
    return [" ".join(line.split()) for line in output]


def _run_kytea(options: Sequence[str], text: str) -> subprocess.CompletedProcess[str]:
    command = ["kytea", *options]
    try:
        return subprocess.run(command, input=text, capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise UserError(f"The program kytea cannot be started ({error.strerror}): install it again.") from error


def _outcome(process: subprocess.CompletedProcess[str]) -> str:
    errors = process.stderr.strip().splitlines()
    return f" (status {process.returncode}; error: {errors[-1]})" if errors else f" (status {process.returncode})"
