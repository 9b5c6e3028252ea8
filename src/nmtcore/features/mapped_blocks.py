"""Examples that are computed block by block, such as transformed ones, written to files and mapped into memory."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np

from nmtcore.errors import UserError, explain_os_errors
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.mapped import PATIENCE, check_writable, remove_old_arrays
from nmtcore.features.mapped_arrays import array_writer, open_array
from nmtcore.features.mapped_ragged import ColumnWriter, MappedRagged, open_column
from nmtcore.features.ragged import Ragged
from nmtcore.files import atomic_folder, read_json, write_json
from nmtcore.lock import locked

_COLUMNS = "columns.json"
"""The file with the key of a folder's arrays, and with the types of its columns."""


def map_blocks(
    folder: Path, blocks: Callable[[], Iterable[Examples]], key: str, *, log: Callable[[str], None]
) -> Examples:
    """Map the examples that are in `folder`, or first write those of `blocks` there if it has none with this `key`.

    They are equal to `concatenate(blocks())`. Raises `NotWritable` if they must be written and cannot.
    """
    examples = _open_examples(folder, key)
    if examples is None:
        check_writable(folder)
        with locked(folder / "lock", log=log, patience=PATIENCE, task="process that maps features"):
            examples = _open_examples(folder, key)  # perhaps another process has written them
            if examples is None:
                log(f"Writing transformed examples to {folder}, to be mapped into memory.")
                remove_old_arrays(folder, key)
                _write_examples(folder, blocks(), key)
                examples = _open_examples(folder, key)
    return examples


def _columns(examples: Examples) -> Iterator[tuple[str, Ragged]]:
    """Yield the columns of both sides with names such as `source.ids`."""
    for name, side in {"source": examples.source, "target": examples.target}.items():
        if side is not None:
            columns = {"ids": side.ids, "word_of_subword": side.word_of_subword, **side.features}
            yield from ((f"{name}.{column}", values) for column, values in columns.items())


def _write_examples(folder: Path, blocks: Iterable[Examples], key: str) -> None:
    with atomic_folder(folder / "arrays") as temporary:
        with ExitStack() as stack:
            ids = stack.enter_context(array_writer(temporary / "id.values", np.int64, key))
            writers: dict[str, ColumnWriter] = {}
            types: dict[str, str] = {}
            for examples in blocks:
                ids.append(examples.id)
                for name, column in _columns(examples):
                    if name not in writers:
                        types[name] = column.dtype.str
                        writers[name] = ColumnWriter(stack, temporary, name, column.dtype, key)
                    writers[name].append(column)
        with explain_os_errors(folder):
            for file in temporary.iterdir():
                os.replace(file, folder / file.name)
        write_json(folder / _COLUMNS, {"key": key, "types": types})


def _open_examples(folder: Path, key: str) -> Examples | None:
    """Map the examples in a folder; None if there are none, or if they are damaged or have another key."""
    types: Mapping[str, str] | None = None
    with suppress(UserError, TypeError, KeyError):  # missing, or damaged
        record = read_json(folder / _COLUMNS)
        types = record["types"] if record["key"] == key else None
    if types is None:
        return None
    ids = open_array(folder / "id.values", key)
    columns = {name: open_column(folder, name, np.dtype(dtype), key) for name, dtype in types.items()}
    if ids is None or None in columns.values():
        return None
    sides = {name.partition(".")[0] for name in columns}
    return Examples(id=ids, **{side: _side(side, columns) for side in sides})


def _side(side: str, columns: Mapping[str, MappedRagged]) -> SideExamples:
    own = {name.partition(".")[2]: column for name, column in columns.items() if name.partition(".")[0] == side}
    return SideExamples(ids=own.pop("ids"), word_of_subword=own.pop("word_of_subword"), features=own)
