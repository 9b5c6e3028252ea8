"""Files that are whole or absent: written beside their place and moved there at the end."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError, explained


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it there when the block ends well, else delete it.

    The parent folder is made when it is missing; of a link, what it leads to is written. A full disk, an unwritable
    folder, or a folder or a device where the file should be is a `UserError`.
    """
    check_output_path(path)
    path = Path(path).resolve()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    with explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            yield temporary
            _to_disk(temporary)
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def check_output_path(path: str | Path) -> None:
    """Refuse a path at which something else than a file stands: it would be replaced."""
    path = Path(path)
    with explained(path):
        if path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "no ordinary file"
            raise UserError(f"{path} is {what}: name a file to write.")


def _to_disk(path: Path) -> None:
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def write_text(path: str | Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_lines(path: str | Path, lines: list[str]) -> None:
    """Write one string a line. A string that holds a line break would misalign the file: `ValueError`."""
    if any("\n" in line for line in lines):
        raise ValueError(f"a line for {path} holds a line break")
    write_text(path, "".join(line + "\n" for line in lines))


def read_lines(path: str | Path) -> list[str]:
    """Read the lines of a UTF-8 file; only `\\n` ends a line (U+2028 and its like do not)."""
    with explained(path), open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` as readable JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def read_json(path: str | Path) -> Any:
    """Read a JSON file; one that is missing or broken is a `UserError`."""
    with explained(path):
        text = Path(path).read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}).") from error
