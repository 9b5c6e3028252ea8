"""A name for all that decides how training goes: no checkpoint goes on under other settings or with other data."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.depends import training_settings
from nmtcore.config.recorded import SAME_SETTINGS, differences
from nmtcore.config.runs import RunSettings
from nmtcore.errors import explained
from nmtcore.files import read_json, write_json

VERSION = 1
"""Raised when a change in the code makes old checkpoints go on differently."""


def hash_files(paths: Sequence[Path]) -> dict[str, str]:
    """Give the sha256 of every file by its name: what training reads of the data."""
    sums = {}
    for path in paths:
        with explained(path), open(path, "rb") as file:
            sums[Path(path).name] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


def describe(run: RunSettings, *, data: Mapping[str, str]) -> dict[str, Any]:
    """Collect what a fingerprint is made of: settings, the data's sums (`hash_files`), the stage's version."""
    return {"version": VERSION, "data": dict(data), "settings": training_settings(run)}


def fingerprint(description: Mapping[str, Any]) -> str:
    """Give 16 hexadecimal digits that differ whenever the description does."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def checkpoint_folder(
    root: Path, run: RunSettings, *, data: Mapping[str, str], log: Callable[[str], None] = print
) -> Path:
    """Give (and make) the folder under `root` that belongs to these settings and data.

    Where `root` holds only folders of other settings or data, `log` gets a line that says so and what has changed.
    """
    description = describe(run, data=data)
    folder = root / fingerprint(description)
    if not (folder / "run.json").exists():
        others = sorted(root.glob("*/run.json"), key=lambda path: path.stat().st_mtime)
        if others:
            changed = ", ".join(changes(read_json(others[-1]), description)) or SAME_SETTINGS
            log(
                f"Settings or data changed ({changed}): starting afresh in {folder}; "
                f"earlier checkpoints stay in {others[-1].parent}."
            )
        write_json(folder / "run.json", description)
    return folder


def changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Name every setting, with its old and new value, and every file in which two descriptions differ."""
    files = [f"{line.partition(': ')[0]} is another file" for line in differences(old["data"], new["data"])]
    versions = differences({"version": old["version"]}, {"version": new["version"]})
    return [*versions, *files, *differences(old["settings"], new["settings"])]
