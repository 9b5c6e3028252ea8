"""Record what the project computes, to compare it before and after a change of the code.

    python tests/record.py FOLDER [--parts runs plans ...]     # FOLDER/PART.txt: lines `key / key / ...: value`

To compare two commits, record the one before in a worktree, record the new one, and compare the records. Make both on
one machine: another processor sums in another order.

    git worktree add ../before COMMIT
    (cd ../before && PYTHONPATH=src python tests/record.py OLD)
    python tests/record.py NEW
    git diff --no-index --word-diff -U0 ../before/OLD NEW

Values that depend on time, machine or versions are left out: each format has an adapter in `recording/formats.py`.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recording.formats import Values
from recording.parts import Workplace, record_data, record_models, record_plans, record_runs, record_tables

PARTS: dict[str, Callable[[Workplace], Values]] = {
    "runs": record_runs,
    "plans": record_plans,
    "models": record_models,
    "data": record_data,
    "tables": record_tables,
}
"""The parts of a record, short ones first; each takes at most 40 minutes on two cores."""


def lines_of(value: Any, key: Sequence[str] = ()) -> Iterator[str]:
    """Yield a line for each value in nested dictionaries, in the order of the keys, and for each line of a text."""
    if isinstance(value, Mapping) and value:
        for name in sorted(value):
            yield from lines_of(value[name], (*key, name))
    else:
        for text in value.split("\n") if isinstance(value, str) else [repr(value)]:
            yield f"{' / '.join(key)}: {text}\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line, and record each part in a working folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write a record")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for part in options.parts:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="record-") as work:
            lines = list(lines_of(PARTS[part](Workplace(Path(work).resolve()))))
        (options.folder / f"{part}.txt").write_text("".join(lines), encoding="utf-8", errors="surrogatepass")
        print(f"{part}: {len(lines):,} values, {time.monotonic() - started:.0f} seconds", flush=True)


if __name__ == "__main__":
    main()
