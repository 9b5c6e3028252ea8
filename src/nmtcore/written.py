"""Records of what jobs made, and of what they made it from.

The record of an output (in `results/logs/written`) holds the sha256 of its files and what it was made from: the version
of its stage, hashes of the settings that it depends on, checksums of the inputs. It lies among the results, so it comes
along wherever they are copied. It has two uses:

- A job that has the output as its input compares it first. Text that is cut at the end of a line, or whose numbers have
  changed, looks whole, and so does a file that was put in another's place.
- Planning compares what the output was made from with what it would be made from now (`planning/up_to_date.py`).

A file that no job makes, such as a user's own text, has a record too, with the size and the time of its last change:
while these are the same, its checksum is not computed again.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.errors import UserError
from nmtcore.files import explain_content, file_sha256, read_json, write_json
from nmtcore.layout import Layout

MadeFrom = dict[str, dict[str, Any]]
"""What a job makes its outputs from: `settings`, a hash of each parameter (a number, such as the version, is itself),
and `inputs`, the checksum of each input by its path."""

Record = dict[str, Any]
"""`path`; `sha256`, by the names of the files in a folder (that of a file itself is empty); `rule`, and what `MadeFrom`
has. Those of files that no job of ours makes have `state` instead of these three."""


class ChangedOrigin(NamedTuple):
    """How what outputs were made from differs from what they would be made from now; false if it does not."""

    settings: str = ""
    """The parameters that differ, in words."""
    inputs: tuple[str, ...] = ()
    """The inputs that differ."""

    def __bool__(self) -> bool:
        return bool(self.settings or self.inputs)


class Records:
    """The records of a results folder; each is read once. All raise `UserError` if a record is damaged."""

    def __init__(self, layout: Layout) -> None:
        self._folder = Path(layout.path("written"))
        self._known: dict[str, Record | None] = {}

    def file(self, path: str) -> Path:
        """Return the file of the record of a path."""
        return self._folder / f"{hashlib.sha1(path.encode()).hexdigest()}.json"

    def of(self, path: str) -> Record | None:
        """Return the record of a path, if there is one."""
        if path not in self._known:
            file = self.file(path)
            self._known[path] = _read(file) if file.exists() else None
        return self._known[path]

    def all(self) -> Iterator[Record]:
        """Yield every record."""
        yield from map(_read, sorted(self._folder.glob("*.json")))

    def made_from(self, inputs: Iterable[str], settings: Mapping[str, Any]) -> MadeFrom:
        """Describe what a job with these inputs and parameters makes its outputs from."""
        sums = {path: sha256 for path in inputs if (sha256 := self.sha256(path))}
        return {"settings": {name: _hash(value) for name, value in settings.items()}, "inputs": sums}

    def sha256(self, path: str) -> str | None:
        """Return the checksum of an input: as recorded or, of a file that no job made, of its present content.

        An input that is neither there nor recorded has none.
        """
        record = self.of(path)
        if (record is None or "state" in record) and os.path.exists(path):
            state = [[file.stat().st_size, file.stat().st_mtime_ns] for _, file in _files(path)]
            if record is None or record["state"] != state:
                record = {"path": path, "sha256": _sums(path), "state": state}
                self._write(record)
        if record is None:
            return None
        sums = record["sha256"]
        return sums[""] if list(sums) == [""] else hashlib.sha256(json.dumps(sums).encode()).hexdigest()

    def write(self, outputs: Iterable[str], *, rule: str, made_from: MadeFrom) -> None:
        """Record outputs that a job has made."""
        for path in outputs:
            self._write({"path": path, "rule": rule, "sha256": _sums(path), **made_from})

    def complete(self, outputs: Iterable[str], *, rule: str, made_from: MadeFrom) -> None:
        """Record what outputs that are there were made from; checksums that were recorded stay."""
        for path in filter(os.path.exists, outputs):
            record = self.of(path) or {}
            known = {} if "state" in record else record.get("sha256", {})
            self._write({"path": path, "rule": rule, "sha256": {**_sums(path, known), **known}, **made_from})

    def difference(self, outputs: Iterable[str], made_from: MadeFrom) -> ChangedOrigin | None:
        """Compare what outputs were made from with what they would be made from now.

        None: it is not known, because an output has no record of that.
        """
        for record in map(self.of, outputs):
            if record is None or "inputs" not in record:
                return None
            before, now = record["settings"], made_from["settings"]
            settings = [
                f"{name} {before[name]}, now {now[name]}" if isinstance(before.get(name), int) and name in now else name
                for name in _changed(before, now)
            ]
            before, now = record["inputs"], made_from["inputs"]
            # If nothing but names differs, as in a folder that was moved, the inputs are the same.
            inputs = _changed(before, now) if list(before.values()) != list(now.values()) else []
            if settings or inputs:
                return ChangedOrigin(settings=", ".join(settings), inputs=tuple(inputs))
        return ChangedOrigin()

    def check(self, path: str) -> None:
        """Raise `UserError` if an output is not as recorded. Weights are checked by those who read the model."""
        record = self.of(path)
        if record is None or not os.path.exists(path):
            return
        for file in differing(record, besides=".safetensors"):
            if not file.exists():
                raise UserError(f"{file} is missing: delete {path} and run the workflow again.")
            raise UserError(
                f"{file} is not as the workflow wrote it, so it is damaged or was edited: delete {path} and run "
                f"the workflow again. To use it as it is, delete {self.file(path)} instead."
            )

    def _write(self, record: Record) -> None:
        write_json(self.file(record["path"]), record, indent=None)
        self._known[record["path"]] = record


def differing(record: Record, *, besides: str = "") -> Iterator[Path]:
    """Yield the files of an output that are missing or not as recorded, but none with the ending `besides`.

    Files that no job makes may change.
    """
    for name, sha256 in record["sha256"].items() if "state" not in record else ():
        file = Path(record["path"], name)
        if not (besides and file.suffix == besides) and not (file.exists() and file_sha256(file) == sha256):
            yield file


def _read(file: Path) -> Record:
    record = read_json(file, advice="delete it")
    with explain_content(file):
        for key in ("sha256", *({"inputs", "settings"} & record.keys())):
            record[key] = dict(record[key])
        return {**record, "path": str(record["path"])}


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """List the keys whose values differ."""
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


def _hash(value: Any) -> Any:
    if isinstance(value, int):
        return value
    text = json.dumps(value, default=str, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _files(path: str) -> Iterator[tuple[str, Path]]:
    """Yield the files of an output with their names in it; the name of a file itself is empty."""
    if not os.path.isdir(path):
        yield "", Path(path)
        return
    for file in sorted(Path(path).rglob("*")):
        if file.is_file() and not file.name.startswith("."):
            yield str(file.relative_to(path)), file


def _sums(path: str, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the checksum of each file of an output that is not known."""
    return {name: file_sha256(file) for name, file in _files(path) if name not in (known or {})}
