"""Records of what jobs wrote, by which the jobs that read it notice that a file was damaged, exchanged or edited.

A text file that is cut at the end of a line, or whose numbers have changed, looks whole; so does a file that was put in
another's place. So each job records the sha256 of its outputs, and a job that has such a file as its input compares it
first. Models have checksums of their own, downloads are compared with pinned ones, and no job reads tables in other
formats than JSON and Parquet. Files without a record, such as those of older versions, are not compared.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import explain_content, read_json, write_json
from nmtcore.layout import Layout

_NOT_RECORDED = {".safetensors", ".md", ".csv", ".tex", ".html", ".svg"}


def record_outputs(outputs: Iterable[str], *, layout: Layout) -> None:
    """Record the checksums of a job's outputs."""
    for output in map(Path, outputs):
        if output.is_relative_to(layout.downloads):
            continue
        if sums := {name: _sha256(path) for name, path in _files(output)}:
            write_json(_record(output, layout), {"path": str(output), "sha256": sums}, indent=None)


def check_inputs(inputs: Iterable[str], *, layout: Layout) -> None:
    """Compare a job's inputs with the records of the jobs that wrote them. Raises `UserError` if they differ."""
    for path in map(Path, inputs):
        record = _record(path, layout)
        if not record.exists() or not path.exists():
            continue
        with explain_content(record):
            sums = dict(read_json(record, advice="delete it")["sha256"])
        for name, sha256 in sums.items():
            file = path / name
            if not file.exists():
                raise UserError(f"{file} is missing: delete {path} and run the workflow again.")
            if _sha256(file) != sha256:
                raise UserError(
                    f"{file} is not as the workflow wrote it, so it is damaged or was edited: delete {path} and run "
                    f"the workflow again. To use it as it is, delete {record} instead."
                )


def _files(output: Path) -> Iterator[tuple[str, Path]]:
    """Yield the recorded files of an output with their names in it; the name of a file itself is empty."""
    paths = sorted(output.rglob("*")) if output.is_dir() else [output]
    for path in paths:
        if path.is_file() and path.suffix not in _NOT_RECORDED and not path.name.startswith("."):
            yield ("" if path == output else str(path.relative_to(output))), path


def _record(path: Path, layout: Layout) -> Path:
    return Path(layout.path("written"), f"{hashlib.sha1(str(path).encode()).hexdigest()}.json")


def _sha256(path: Path) -> str:
    with explain_os_errors(path), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
