"""Record what the project computes, and compare two records, before and after a change of the code.

    python tests/record.py FOLDER [--parts runs plans ...]     # record: FOLDER/PART.json
    python tests/record.py --compare OLD NEW                   # print all differences; the exit status is 1 if any

To compare two commits, record the one before in a worktree, record the new one, and compare the records. Make both on
one machine: another processor sums in another order.

    git worktree add ../before COMMIT
    (cd ../before && PYTHONPATH=src python tests/record.py OLD)
    python tests/record.py NEW
    python tests/record.py --compare ../before/OLD NEW

Values that depend on time, machine or versions are left out: each format has an adapter in `recording/formats.py`.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from recording.formats import Values
from recording.parts import Workplace, record_data, record_models, record_plans, record_runs, record_tables
from recording.records import differences, flat, read_record, write_part

PARTS: dict[str, Callable[[Workplace], Values]] = {
    "runs": record_runs,
    "plans": record_plans,
    "models": record_models,
    "data": record_data,
    "tables": record_tables,
}
"""The parts of a record, short ones first; each takes at most 40 minutes on two cores."""

SHOWN = 50
"""Differences that are printed, unless all are wanted."""


def record(folder: Path, parts: Sequence[str], work: Path | None) -> None:
    """Record parts, each in a working folder of its own, which is removed unless `work` names the folder to keep."""
    for part in parts:
        started = time.monotonic()
        base = work or Path(tempfile.mkdtemp(prefix="record-"))
        values = PARTS[part](Workplace((base / part).resolve()))
        write_part(folder, part, values)
        if work is None:
            shutil.rmtree(base)
        print(f"{part}: {len(flat(values)):,} values, {time.monotonic() - started:.0f} seconds", flush=True)


def compare(old: Path, new: Path, options: argparse.Namespace) -> int:
    """Print the differences of two records; return the exit status."""
    records = [read_record(folder) for folder in (old, new)]
    shared = [part for part in PARTS if all(part in record for record in records)]
    for part in sorted((records[0].keys() | records[1].keys()) - set(shared)):
        print(f"{part} is not in both records, so it is not compared.")
    sides = [{part: record[part] for part in shared} for record in records]
    differing = list(differences(*sides, tolerance=options.tolerance, without=options.without))
    differing.sort(key=lambda entry: -entry.relative)
    if differing:
        shown = differing if options.all else differing[:SHOWN]
        print(f"{len(differing)} differences:", *(entry.sentence for entry in shown), sep="\n")
        if len(shown) < len(differing):
            print(f"... and {len(differing) - len(shown)} smaller ones (--all)")
        return 1
    print(f"No difference in {', '.join(shared)}: {len(flat(sides[0])):,} values.")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, and record or compare; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="where to write a recording")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--work", type=Path, help="keep the working folders in this folder, and use what is there")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="compare two records")
    parser.add_argument("--tolerance", type=float, default=0.0, help="relative difference that numbers may have [0]")
    parser.add_argument("--without", nargs="+", default=[], metavar="PATTERN", help="keys to leave out: 'runs/*/batch'")
    parser.add_argument("--all", action="store_true", help="print every difference, not the 50 largest")
    options = parser.parse_args(arguments)
    if options.compare:
        return compare(*options.compare, options)
    if options.folder is None:
        parser.error("name the FOLDER to record to, or use --compare")
    record(options.folder, options.parts, options.work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
