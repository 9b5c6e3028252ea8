"""Files that are complete or absent: written under a temporary name and renamed at the end."""

import glob
import hashlib
import json
import os
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from nmtcore.errors import LineError, UserError, explain_os_errors, shortened

SILENT_SECONDS = 3600
"""Time without a write after which a process on another machine is taken for killed."""


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`; rename it to `path` if the block succeeds, else delete it.

    A missing parent folder is made; if `path` is a link, its target is written. What killed processes left of earlier
    attempts is deleted. Raises `UserError` if the disk is full, the folder is not writable, or `path` is a folder or a
    device.
    """
    check_output_path(path)
    path = Path(path).resolve()
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = partial_of(path)
        try:
            yield temporary
            sync_file(temporary)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder next to `path`, from which the block moves what it has finished; delete it at the end.

    Raises the errors of `atomic_path`.
    """
    with explain_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = partial_of(path)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def partial_of(path: Path) -> Path:
    """Return a temporary name next to `path` for this process; delete those of processes that were killed.

    A process on another machine is taken for killed if it has written nothing for an hour.
    """
    host = socket.gethostname()
    for other in path.parent.glob(f".{glob.escape(path.name)}~*~*.partial"):
        owner, _, process = other.name.removeprefix(f".{path.name}~").removesuffix(".partial").partition("~")
        if process.isdecimal() and _is_abandoned(other, pid=int(process) if owner == host else None):
            with suppress(OSError):  # another process may delete it too, or it may belong to another user
                shutil.rmtree(other) if other.is_dir() else other.unlink()
    return path.with_name(f".{path.name}~{host}~{os.getpid()}.partial")


def _is_abandoned(path: Path, *, pid: int | None) -> bool:
    if pid is not None:
        return pid != os.getpid() and not os.path.exists(f"/proc/{pid}")
    try:
        return time.time() - path.stat().st_mtime > SILENT_SECONDS
    except FileNotFoundError:
        return False


def check_output_path(path: str | Path) -> None:
    """Raise `UserError` if `path` exists and is not a regular file, which writing would replace."""
    path = Path(path)
    with explain_os_errors(path):
        if path.exists() and not path.is_file():
            obstacle = "a folder" if path.is_dir() else "not a regular file"
            raise UserError(f"{path} is {obstacle}: choose another output file.")


def sync_file(path: Path) -> None:
    """Wait until the content of a file is on the disk."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def file_sha256(path: str | Path) -> str:
    """Return the sha256 of a file as 64 hexadecimal digits. Raises `UserError` if it cannot be read."""
    with explain_os_errors(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, completely or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_texts(texts: Mapping[Path, str]) -> None:
    """Write several files as UTF-8; none of them appears before all are on the disk."""
    with ExitStack() as stack:
        for path, text in texts.items():
            temporary = stack.enter_context(atomic_path(path))
            temporary.write_text(text, encoding="utf-8")
            sync_file(temporary)


def write_lines(path: str | Path, lines: list[str]) -> None:
    """Write one string per line. Raises `ValueError` for a string with a line break, which would misalign the file."""
    if any("\n" in line for line in lines):
        raise ValueError(f"a line for {path} contains a line break")
    write_text(path, "".join(line + "\n" for line in lines))


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a UTF-8 file; only `\\n` ends a line, not U+2028 and the like."""
    with explain_os_errors(path), open(path, encoding="utf-8", newline="\n") as file:
        try:
            text = file.read()
        except UnicodeDecodeError as error:
            raise UserError(
                f"{path} is not UTF-8 ({error.reason} in byte {error.start + 1}): is it damaged?"
            ) from error
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def write_json(path: str | Path, value: Any, *, indent: int | None = 2) -> None:
    """Write `value` as JSON, completely or not at all; with `indent` None on one line, for long lists of numbers."""
    write_text(path, json.dumps(value, indent=indent, ensure_ascii=False) + "\n")


def read_json(path: str | Path, *, advice: str = "") -> Any:
    """Read a JSON file. Raises `UserError` if it is missing or, with the `advice` of `parse_json`, not valid JSON."""
    with explain_os_errors(path):
        return parse_json(Path(path).read_bytes(), path, advice=advice)


@contextmanager
def explain_content(path: str | Path) -> Iterator[None]:
    """Turn the errors of code that finds other values in a file of JSON than it expects into a `UserError`.

    For code that only takes values from what this file holds, so that nothing else can be wrong.
    """
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{path} does not hold what it should ({shortened(str(error))}): delete it and run the workflow again."
        ) from error


def parse_json(data: bytes, path: str | Path, *, advice: str = "") -> Any:
    """Parse JSON in UTF-8. Raises `UserError`, which names `path`, if it is not valid.

    `advice` says what to do about a file that no user wrote, instead of correcting it: "delete it".
    """
    end = f": {advice}." if advice else "."
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        reason = f"{error.msg.removesuffix(' at')} at column {error.colno}"  # "Unterminated string starting at"
        raise LineError(path, error.lineno, f"not valid JSON ({reason}){end}") from error
    except UnicodeDecodeError as error:
        convert = advice or "convert it (see `iconv`)"
        raise UserError(f"{path} is not UTF-8 from byte {error.start + 1} on: {convert}.") from error
    except (RecursionError, ValueError) as error:  # endless lists and numbers
        raise UserError(f"{path}: not valid JSON ({error}){end}") from error
