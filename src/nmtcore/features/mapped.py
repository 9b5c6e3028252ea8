"""Examples whose arrays are mapped from files into memory: read on demand, and shared by processes.

Feature files are compressed, so the first process that needs a column copies it into the folder `mapped` next to the
feature files, as two of numpy's .npy files: its values one after the other, and where each sentence begins. The name of
a folder of copies ends in a checksum of what they were made from, and every file appears whole, so a copy that can be
opened is right. The folder can be deleted whenever no training is starting.
"""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

from nmtcore.errors import UserError, explain_os_errors
from nmtcore.features.arrays import GrowingFile, compact, open_array
from nmtcore.features.examples import Examples, assemble_examples, read_columns
from nmtcore.features.ragged import Ragged
from nmtcore.files import atomic_folder, sync_file
from nmtcore.layout import file_name
from nmtcore.lock import locked
from nmtcore.parquet import content_key

PATIENCE = 24 * 3600.0
"""Seconds that a process waits for another one to copy the columns of the same file."""
KEY_DIGITS = 16
"""The hexadecimal digits at the end of a folder's name that say what its arrays were made from."""
_COPIED = 3
"""The size of copies relative to compressed files, at most, to be sure that there is space for them."""


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

    Raises the errors of `load_examples`, `NotWritable`, and `UserError` if the disk has too little space.
    """

    def map_file(path: Path, types: Mapping[str, np.dtype]) -> tuple[np.ndarray, dict[str, Ragged]]:
        copies = path.parent / file_name("mapped") / f"{path.stem}.{content_key(path)[:KEY_DIGITS]}"

        def copy(missing: Sequence[str]) -> Iterator[tuple[np.ndarray, dict[str, Ragged]]]:
            _check_space(path, copies)
            log(f"Copying {', '.join(missing) or 'ids'} of {path} to {copies}, to be mapped into memory.")
            return read_columns(path, {name: types[name] for name in missing})

        ids, columns = _map_columns(copies, list(types), copy, log)
        return ids[:stop], columns if stop is None else {name: column.first(stop) for name, column in columns.items()}

    return assemble_examples(Path(folder), split, map_file, features=features, target=target)


def map_blocks(
    folder: Path, columns: Sequence[str], blocks: Callable[[], Iterable[Examples]], *, log: Callable[[str], None]
) -> Examples:
    """Map the examples in `folder`, or first write those of `blocks` there: they equal `concatenate(blocks())`.

    `columns` are those of the examples. The name of the folder ends in a dot and `KEY_DIGITS` hexadecimal digits; when
    examples are written, folders that differ only there are removed. Raises `NotWritable`.
    """

    def write(missing: Sequence[str]) -> Iterator[tuple[np.ndarray, dict[str, Ragged]]]:
        log(f"Writing transformed examples to {folder}, to be mapped into memory.")
        return ((examples.id, {name: examples.columns[name] for name in missing}) for examples in blocks())

    return Examples.of(*_map_columns(folder, columns, write, log))


def _map_columns(
    folder: Path,
    names: Sequence[str],
    blocks: Callable[[Sequence[str]], Iterator[tuple[np.ndarray, dict[str, Ragged]]]],
    log: Callable[[str], None],
) -> tuple[np.ndarray, dict[str, Ragged]]:
    """Map ids and columns in a folder, after writing the missing columns from the blocks that `blocks` gives."""
    ids, columns = _open(folder, names)
    if ids is None or len(columns) < len(names):
        _check_writable(folder)
        with locked(folder / "lock", log=log, patience=PATIENCE, task="process that maps features"):
            ids, columns = _open(folder, names)  # perhaps another process has written them
            missing = [name for name in names if name not in columns]
            if ids is None or missing:
                _write(folder, blocks(missing))
                ids, columns = _open(folder, names)
    return ids, columns


def _open(folder: Path, names: Sequence[str]) -> tuple[np.ndarray | None, dict[str, Ragged]]:
    """Map the ids and those of the columns that are there and whole; None in place of the ids if they are not."""
    ids, columns = None, {}
    with explain_os_errors(folder):
        with suppress(FileNotFoundError, ValueError):
            ids = open_array(folder / "id.npy")
        for name in names:
            with suppress(FileNotFoundError, ValueError):
                columns[name] = Ragged(*(open_array(folder / f"{name}.{part}.npy") for part in ("values", "offsets")))
    return ids, columns


def _write(folder: Path, blocks: Iterable[tuple[np.ndarray, dict[str, Ragged]]]) -> None:
    """Write the ids and columns of blocks, and remove the folders of other keys; each file appears when all do."""
    for other in folder.parent.glob(f"{folder.stem}.{'[0-9a-f]' * KEY_DIGITS}"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    with atomic_folder(folder / "arrays") as temporary:
        array = cache(lambda name: GrowingFile(temporary / f"{name}.npy"))
        for ids, columns in blocks:
            array("id").append(ids)
            for name, column in columns.items():
                values, offsets = array(f"{name}.values"), array(f"{name}.offsets")
                offsets.append(column.offsets[min(1, len(offsets)) :] + len(values))
                values.append(compact(column.values))
        with explain_os_errors(folder):
            for file in temporary.iterdir():
                sync_file(file)
            for file in temporary.iterdir():
                os.replace(file, folder / file.name)


def _check_writable(folder: Path) -> None:
    """Raise `NotWritable` if nothing can be written into a folder, or if it cannot be made."""
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if not os.access(existing, os.W_OK | os.X_OK):
        raise NotWritable(f"No permission to write in {existing}, where columns would be copied to be mapped")


def _check_space(path: Path, folder: Path) -> None:
    """Raise `UserError` unless there is space for copies of the columns of a file."""
    needed, free = _COPIED * path.stat().st_size, shutil.disk_usage(folder).free
    if free < needed:
        raise UserError(
            f"To map {path} into memory, up to {needed / 1e9:.1f} GB are needed in {folder}, but only "
            f"{free / 1e9:.1f} GB are free: free some space, or set map_features_from: null in config/config.yaml to "
            "load features instead."
        )
