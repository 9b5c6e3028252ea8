"""Fingerprints of settings and data: training never resumes from a checkpoint of other settings or other data."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.depends import training_settings
from nmtcore.config.recorded import SAME_SETTINGS, differences
from nmtcore.config.runs import RunSettings
from nmtcore.errors import explain_os_errors
from nmtcore.files import read_json, write_json

VERSION = 2
"""To be raised when a change of the code would make old checkpoints resume differently."""


def hash_file(path: Path) -> str:
    """Return the sha256 of a file."""
    with explain_os_errors(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_files(paths: Sequence[Path], *, hash_one: Callable[[Path], str] = hash_file) -> dict[str, str]:
    """Return the sha256 of each file that training reads, by file name; `hash_one` may know some."""
    return {Path(path).name: hash_one(path) for path in paths}


def describe_training(run: RunSettings, *, data: Mapping[str, str]) -> dict[str, Any]:
    """Collect what a fingerprint covers: the settings, the hashes of the data (`hash_files`) and `VERSION`."""
    return {"version": VERSION, "data": dict(data), "settings": training_settings(run)}


def fingerprint(description: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits that differ if the descriptions differ."""
    text = json.dumps(description, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def checkpoint_folder(
    root: Path, run: RunSettings, *, data: Mapping[str, str], log: Callable[[str], None] = print
) -> Path:
    """Return the folder under `root` for these settings and data; make it if it is missing.

    If `root` holds only folders of other settings or data, a message to `log` says what has changed.
    """
    description = describe_training(run, data=data)
    folder = root / fingerprint(description)
    if not (folder / "run.json").exists():
        others = sorted(root.glob("*/run.json"), key=lambda path: path.stat().st_mtime)
        if others:
            changed = ", ".join(describe_changes(read_json(others[-1]), description)) or SAME_SETTINGS
            log(
                f"Settings or data changed ({changed}): starting afresh in {folder}; "
                f"earlier checkpoints stay in {others[-1].parent}."
            )
        write_json(folder / "run.json", description)
    return folder


def describe_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """List the settings, with old and new values, and the files in which two descriptions differ."""
    files = [f"{line.partition(': ')[0]} is another file" for line in differences(old["data"], new["data"])]
    versions = differences({"version": old["version"]}, {"version": new["version"]})
    return [*versions, *files, *differences(old["settings"], new["settings"])]
