"""Examples whose arrays are mapped from files into memory: read on demand, and shared by processes.

Feature files are compressed, so the first process that needs a column copies it into the folder `mapped` next to the
feature files, as two or three files: its values one after the other, where each sentence begins, and how many values of
each sentence are not missing. (Arrow's files would not do: they divide columns into the batches in which they were
written.) Integers have the smallest type that holds them. The folder can be deleted whenever no training is starting.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nmtcore.errors import UserError, explain_os_errors
from nmtcore.features.examples import Check, Examples, assemble_examples, read_columns
from nmtcore.features.mapped_arrays import array_writer, open_array
from nmtcore.features.mapped_ragged import ENDINGS, ColumnWriter, open_column
from nmtcore.features.ragged import Ragged
from nmtcore.files import atomic_folder, read_json, write_json
from nmtcore.layout import file_name
from nmtcore.lock import locked
from nmtcore.parquet import ColumnRange, column_ranges, content_key

PATIENCE = 24 * 3600.0
"""Seconds that a process waits for another one to copy the columns of the same file."""
_SMALL_TYPES = tuple(map(np.dtype, (np.uint8, np.int8, np.uint16, np.int16)))


class NotWritable(UserError):
    """A folder in which no file can be made."""


def map_examples(
    folder: Path,
    split: str,
    *,
    features: Mapping[str, Mapping[str, str]] | None = None,
    stop: int | None = None,
    target: bool = True,
    log: Callable[[str], None] = print,
) -> Examples:
    """Map the rows 0..stop-1 of a split, which are equal to those of `load_examples`; `log` gets messages.

    Raises the errors of `load_examples`, also for rows after `stop`, and `UserError` if the disk has too little space.
    """
    read = partial(_map_columns, log=log)
    examples = assemble_examples(Path(folder), split, read, features=features, target=target)
    return examples if stop is None else examples.first(stop)


def hash_once(path: Path, hash_file: Callable[[Path], str]) -> str:
    """Return the hash of a file by `hash_file`, which reads a feature file next to mapped ones only the first time.

    The hash lies with the arrays, and is valid as long as the checksums in the feature file are the same.
    """
    record = _folder_of(path) / "hash.json"
    if not record.parents[1].is_dir():
        return hash_file(path)
    key = content_key(path)
    with suppress(UserError, TypeError, KeyError):  # missing, or damaged
        remembered = read_json(record)
        if remembered["key"] == key:
            return remembered["hash"]
    remembered = {"key": key, "hash": hash_file(path)}
    with suppress(UserError):  # without permission to write there, the file is read again the next time
        write_json(record, remembered)
    return remembered["hash"]


def _folder_of(path: Path) -> Path:
    """Return the folder of a feature file's arrays."""
    return path.parent / file_name("mapped") / path.stem


def _map_columns(
    path: Path, types: Mapping[str, np.dtype], *, check: Check, against: Sequence[Path], log: Callable[[str], None]
) -> tuple[np.ndarray, dict[str, Ragged]]:
    """Map the ids and columns of a feature file; see `ReadColumns`."""
    folder = _folder_of(path)
    # What has been checked against other files need not be checked again while they are the same: the key names them.
    key = hashlib.sha256("".join(map(content_key, (path, *against))).encode()).hexdigest()
    arrays = _open_arrays(folder, types, key)
    if _missing(arrays):
        check_writable(folder)
        with locked(folder / "lock", log=log, patience=PATIENCE, task="process that maps features"):
            arrays = _open_arrays(folder, types, key)  # perhaps another process has made them
            if _missing(arrays):
                _make_arrays(path, types, arrays, key, check, log)
                arrays = _open_arrays(folder, types, key)
    return arrays.pop("id"), arrays


def _open_arrays(folder: Path, types: Mapping[str, np.dtype], key: str) -> dict[str, Any]:
    """Map "id", an array, and the columns, each a `MappedRagged`; those that are not there, or damaged, are None."""
    return {"id": open_array(folder / "id.values", key)} | {
        name: open_column(folder, name, dtype, key) for name, dtype in types.items()
    }


def _missing(arrays: Mapping[str, Any]) -> list[str]:
    return [name for name, array in arrays.items() if array is None]


def check_writable(folder: Path) -> None:
    """Raise `NotWritable` if nothing can be written into a folder, or if it cannot be made."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        raise NotWritable(f"No permission to write in {existing}, where columns would be copied to be mapped")


def remove_old_arrays(folder: Path, key: str) -> None:
    """Remove the files of arrays in a folder that are damaged or have another key."""
    with explain_os_errors(folder):
        for file in folder.iterdir():
            if file.suffix.removeprefix(".") in ENDINGS and open_array(file, key) is None:
                file.unlink()


def _make_arrays(
    path: Path,
    types: Mapping[str, np.dtype],
    arrays: Mapping[str, Any],
    key: str,
    check: Check,
    log: Callable[[str], None],
) -> None:
    """Copy the columns that are missing among `arrays`, and check all; nothing appears if the check fails."""
    folder = _folder_of(path)
    remove_old_arrays(folder, key)
    columns = {name: types[name] for name in _missing(arrays) if name in types}
    ranges = column_ranges(path)
    stored = {name: _stored_type(dtype, ranges[name]) for name, dtype in columns.items() if name in ranges}
    size = _size(stored, ranges)
    _check_space(path, folder, size)
    log(f"Copying {', '.join(columns) or 'ids'} of {path} to {folder}, to be mapped into memory ({size / 1e9:.1f} GB).")
    with atomic_folder(folder / "arrays") as temporary:
        _copy_columns(path, temporary, columns, stored, key)
        copied = _open_arrays(temporary, columns, key)
        check(copied["id"], {name: copied.get(name, arrays[name]) for name in types})
        with explain_os_errors(folder):
            for file in temporary.iterdir():
                os.replace(file, folder / file.name)


def _copy_columns(
    path: Path, folder: Path, types: Mapping[str, np.dtype], stored: Mapping[str, np.dtype], key: str
) -> None:
    """Copy ids and columns, batch by batch, into arrays of the `stored` types."""
    with ExitStack() as stack:
        ids = stack.enter_context(array_writer(folder / "id.values", np.int64, key))
        writers = {
            name: ColumnWriter(stack, folder, name, stored.get(name, dtype), key) for name, dtype in types.items()
        }
        for batch_ids, batch in read_columns(path, types):
            ids.append(batch_ids)
            for name, column in batch.items():
                writers[name].append(column)


def _stored_type(dtype: np.dtype, values: ColumnRange) -> np.dtype:
    """Return the smallest type that has all values of a column: `dtype` or one of at most 16 bits."""
    if dtype.kind != "i" or values.low is None:
        return dtype
    limits = ((small, np.iinfo(small)) for small in _SMALL_TYPES)
    return next((small for small, limit in limits if limit.min <= values.low and values.high <= limit.max), dtype)


def _size(stored: Mapping[str, np.dtype], ranges: Mapping[str, ColumnRange]) -> int:
    """Return about how many bytes the arrays of ids and columns take."""
    rows = ranges["id"].count
    return 8 * rows + sum(ranges[name].count * dtype.itemsize + 12 * rows for name, dtype in stored.items())


def _check_space(path: Path, folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size:
        raise UserError(
            f"To map {path} into memory, {size / 1e9:.1f} GB are needed in {folder}, but only {free / 1e9:.1f} GB are "
            "free: free some space, or set map_features_from: null in config/config.yaml to load features instead."
        )
