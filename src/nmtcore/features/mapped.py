"""Examples whose arrays are mapped from files into memory: read on demand, and shared by processes.

A folder has the ids of examples and two of numpy's .npy files for each column: its values one after the other, and
where each sentence begins. It appears whole, and its name ends in a checksum of what it was made from. It can be
deleted whenever no training is starting.
"""

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from nmtcore.errors import explain_os_errors
from nmtcore.features.arrays import compact, open_array, write_arrays, write_concatenated
from nmtcore.features.examples import Examples
from nmtcore.features.ragged import Ragged
from nmtcore.files import atomic_folder, explain_content, sync_file
from nmtcore.lock import locked

PATIENCE = 24 * 3600.0
"""Seconds that a process waits for another one that writes the same examples."""
KEY_DIGITS = 16
"""The hexadecimal digits at the end of a folder's name that say what its arrays were made from."""


def map_blocks(folder: Path, blocks: Callable[[], Iterable[Examples]], *, log: Callable[[str], None]) -> Examples:
    """Map the examples in `folder`, or first write those of `blocks` there: they equal `concatenate(blocks())`.

    The name of the folder ends in a dot and `KEY_DIGITS` hexadecimal digits; when examples are written, folders that
    differ only there are removed.
    """
    if not folder.exists():
        with locked(folder.with_name("lock"), log=log, patience=PATIENCE, task="process that maps features"):
            if not folder.exists():  # else another process has written it meanwhile
                log(f"Writing examples to {folder}, to be mapped into memory.")
                for other in folder.parent.glob(f"{folder.stem}.{'[0-9a-f]' * KEY_DIGITS}"):
                    shutil.rmtree(other, ignore_errors=True)
                _write(folder, blocks())
    with explain_os_errors(folder), explain_content(folder):
        names = [path.name.removesuffix(".values.npy") for path in sorted(folder.glob("*.values.npy"))]
        parts = {name: [open_array(folder / f"{name}.{part}.npy") for part in ("values", "offsets")] for name in names}
        return Examples.of(open_array(folder / "id.npy"), {name: Ragged(*arrays) for name, arrays in parts.items()})


def _write(folder: Path, blocks: Iterable[Examples]) -> None:
    """Write the arrays of blocks, each block to files of its own, and concatenate these."""
    with atomic_folder(folder) as temporary, explain_os_errors(folder):
        parts: dict[str, list[Path]] = {}
        ends: dict[str, int] = {}

        def add(name: str, array: np.ndarray) -> None:
            files = parts.setdefault(name, [])
            files.append(temporary / f"{name}.{len(files)}.npy")
            write_arrays(files[-1], [array])

        for examples in blocks:
            add("id", examples.id)
            for name, column in examples.columns.items():
                add(f"{name}.values", compact(column.values))
                # The first offset of a later block is the last one of the block before.
                add(f"{name}.offsets", column.offsets[1:] + ends[name] if name in ends else column.offsets)
                ends[name] = ends.get(name, 0) + len(column.values)
        (temporary / "whole").mkdir()
        for name, files in parts.items():
            write_concatenated(temporary / f"whole/{name}.npy", files)
            sync_file(temporary / f"whole/{name}.npy")
            for file in files:
                file.unlink()
        os.rename(temporary / "whole", folder)
