"""One adapter per format: from a file that the project writes to keyed values.

Values that depend on time, machine, paths or versions are left out here.
"""

import csv
import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Values = dict[str, Any]

UNSTABLE = re.compile(r"seconds|tokens.per.second|tokens/s\b|\btime\b|\bdate\b|memory|commit|sources.sha|energy|host")
"""Names of keys and columns whose values another day or machine changes."""
BLOCK = 1000
"""Rows whose checksum is recorded together, so that a difference says where it is."""


def is_unstable(name: str) -> bool:
    """Tell whether values of this name vary; a published time does not."""
    return bool(UNSTABLE.search(name)) and "published" not in name


def parsed(field: str) -> str | int | float | None:
    """Return the number that a field of a text file has, or its text; None if it is empty."""
    for number in (int, float):
        try:
            return number(field)
        except ValueError:
            pass
    return field or None


def stable(text: str) -> str:
    """Remove versions of programs from a signature."""
    return re.sub(r"\|?version:[\d.]+", "", text)


def tree(value: Any) -> Any:
    """Turn JSON into keyed values: a list has its indices as keys, one of texts is a text with a line for each."""
    if isinstance(value, Mapping):
        return {str(key): tree(entry) for key, entry in value.items() if not is_unstable(str(key))}
    if isinstance(value, str):
        return stable(value)
    if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
        return "\n".join(value)
    return {str(index): tree(entry) for index, entry in enumerate(value)} if isinstance(value, list) else value


def text_values(path: Path) -> str:
    """Read a file of lines: translations, vocabularies, merges, CoNLL-U."""
    return path.read_text(encoding="utf-8")


def csv_values(path: Path) -> Values:
    """Read the tables of a page, between which are empty lines, as {row: {column: value}}; texts name the row."""
    values: Values = {}
    for block in re.split(r"\n\n(?=[^\n])", path.read_text(encoding="utf-8")):
        for row in csv.DictReader(block.splitlines()):
            cells = {name: parsed(field) for name, field in row.items() if not is_unstable(name)}
            label = " | ".join(cell for cell in cells.values() if isinstance(cell, str))
            same = sum(name.partition(" (row ")[0] == label for name in values)
            name = f"{label} (row {same + 1})" if same else label
            values[name] = {name: cell for name, cell in cells.items() if not isinstance(cell, str)}
    return values


def history_values(path: Path) -> Values:
    """Read a training log: the first and the last losses, and all validations."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    losses = [line for line in lines if "validation" not in line]
    validations = {f"update {line['update']}": tree(line) for line in lines if "validation" in line}
    ends = {"first": tree(losses[0]), "last": tree(losses[-1])} if losses else {}
    return {**ends, "validation": validations}


def weights_values(path: Path) -> Values:
    """Read a file of weights: the shape and the norm of each."""
    from safetensors.numpy import load_file

    weights = load_file(path)
    return {name: {"shape": str(list(weight.shape)), "norm": math.hypot(*weight.ravel().tolist())}
            for name, weight in weights.items()}  # fmt: skip


def parquet_values(path: Path) -> Values:
    """Read a Parquet file column by column; a column of several fields counts as several columns."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    while any(str(field.type).startswith("struct") for field in table.schema):
        table = table.flatten()
    return {name: column_values(table.column(name)) for name in table.column_names}


def column_values(column: Any) -> Values:
    """Describe a column of Arrow: counts and, of real numbers, sum and norm; of others checksums and the first value.

    Real numbers have no checksum, since sums in another order give other last digits.
    """
    from pyarrow import compute, types

    values: Values = {"rows": len(column), "nulls": column.null_count}
    inner = column
    while types.is_list(inner.type) or types.is_large_list(inner.type):
        inner = compute.list_flatten(inner)
    if types.is_floating(inner.type):
        numbers = inner.drop_null().to_pylist()
        sums = {"sum": math.fsum(numbers), "norm": math.hypot(*numbers), "largest": max(numbers, default=None)}
        return values | {"numbers": len(numbers), **sums}
    lines = [json.dumps(entry, ensure_ascii=False) for entry in column.to_pylist()]
    for start in range(0, len(lines), BLOCK):
        block = "\n".join(lines[start : start + BLOCK]).encode("utf-8", "surrogatepass")
        values[f"checksum from row {start}"] = hashlib.sha256(block).hexdigest()[:20]
    return values | {"first": lines[0] if lines else None}


def plan_values(output: str) -> Values:
    """Read a dry run: the inputs and outputs of each job by its first output, runs and updates."""
    jobs: Values = {}
    for rule, body in re.findall(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", output, re.MULTILINE):
        files = dict(re.findall(r"^ {4}(input|output): (.*)", body, re.MULTILINE))
        outputs, inputs = (sorted(files.get(name, "").split(", ")) for name in ("output", "input"))
        jobs[outputs[0] or rule] = {"rule": rule, "outputs": "\n".join(outputs), "inputs": "\n".join(inputs)}
    values: Values = {"jobs": jobs}
    for new, updates in re.findall(r"^total +([\d,]+) +((?:<= )?[\d,]+) ", output, re.MULTILINE):
        values["total"] = {"new": new, "updates": updates}
    return values


ADAPTERS: Mapping[str, Callable[[Path], Any]] = {
    ".parquet": parquet_values,
    ".json": lambda path: tree(json.loads(path.read_text(encoding="utf-8"))),
    ".jsonl": history_values,
    ".csv": csv_values,
    ".safetensors": weights_values,
}
"""The adapter of files by the end of their names; all other files consist of lines."""


def file_values(path: Path) -> Any:
    """Read a file by the adapter of its format."""
    return ADAPTERS.get(path.suffix, text_values)(path)


def folder_values(folder: Path, *patterns: str) -> Values:
    """Read the files of a folder whose path matches one of the patterns, by their paths in it."""
    paths = sorted({path for pattern in patterns for path in folder.glob(pattern)})
    files = (path for path in paths if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(folder)): file_values(path) for path in files}
