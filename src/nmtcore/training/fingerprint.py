"""A name for all that decides how training goes: no checkpoint goes on under other settings or with other data."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.errors import explained
from nmtcore.files import read_json, write_json

VERSION = 1
"""Raised when a change in the code makes old checkpoints go on differently."""

_IGNORED = (
    "scale",
    "annotators",
    "decoding",
    "tests",
    "gold",
    "sentences.test",
    "training.batch.device_size",
    "training.log_every",
)
"""Settings that leave training as it is: a name, what happens afterwards, what only saves memory, what is noted."""


def training_settings(run: RunSettings) -> dict[str, Any]:
    """Give the settings of a run that decide how training goes, as plain values."""
    values = run_to_json(run)
    for path in _IGNORED:
        *parents, last = path.split(".")
        place = values
        for parent in parents:
            place = place[parent]
        del place[last]
    return values


def hash_files(paths: Sequence[Path]) -> dict[str, str]:
    """Give the sha256 of every file by its name: what training reads of the data."""
    sums = {}
    for path in paths:
        with explained(path), open(path, "rb") as file:
            sums[Path(path).name] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


def describe(run: RunSettings, *, data: Mapping[str, str], version: int = VERSION) -> dict[str, Any]:
    """Collect what a fingerprint is made of: settings, the data's sums (`hash_files`), the stage's version."""
    return {"version": version, "data": dict(data), "settings": training_settings(run)}


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
            changed = ", ".join(differences(read_json(others[-1]), description))
            log(
                f"Settings or data changed ({changed}): starting afresh in {folder}; "
                f"earlier checkpoints stay in {others[-1].parent}."
            )
        write_json(folder / "run.json", description)
    return folder


def differences(old: Any, new: Any, name: str = "") -> list[str]:
    """Name every setting, with its old and new value, in which two descriptions differ."""
    if old == new:
        return []
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        found = []
        for key in dict.fromkeys([*old, *new]):
            inner = "" if not name and key == "settings" else f"{name}.{key}".lstrip(".")
            found += differences(old.get(key), new.get(key), inner)
        return found
    if name.startswith("data."):
        return [f"{name.removeprefix('data.')} is another file"]
    return [f"{name}: {_shown(old)} -> {_shown(new)}"]


def _shown(value: Any) -> str:
    return "nothing" if value is None else json.dumps(value, ensure_ascii=False)
