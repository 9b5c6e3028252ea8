"""CPU time, wall time and peak memory of each stage over corpus sizes, and the exponents with which they grow.

    python benchmarks/scaling.py --output FOLDER [--stages STAGE...] [--most 1e6] [--udpipe MODEL] [--into FILE]

Each stage runs in a fresh process, over sizes in steps of about 3 up to its limit. Sentences have 15 random words whose
distinct forms grow with Heaps' exponent .63; parsers and language filters read the demo corpus, repeated.
Memory is that of all processes of a stage without pages of files, looked at every 20 ms.

FOLDER gets `scaling.csv`, `scaling.md` and `scaling.svg`. What is in `scaling.csv` is not measured again, so that a
measurement can be stopped and resumed; with `--most 0`, only the table and the figure are made. `--into` puts the table
in the place of the one with the same header in a Markdown file.

Exponents of time: a line through the logarithms of CPU time less that of the smallest size (start-up), over the sizes
with at least three times that time. Exponents of memory: a line through the sizes of the last decade, start-up
included, so that bounded memory has 0; the slope there is the memory of another pair.
"""

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil
from stages import STAGES, Stage

from nmtcore.files import write_lines

HEADER = ("stage", "largest", "CPU time, s", "wall time, s", "time grows as", "peak memory, MB", "memory grows as",
          "bytes per pair")  # fmt: skip


class Measured(NamedTuple):
    """A row of the CSV."""

    stage: str
    size: int
    cpu: float
    """Seconds of CPU time, of all processes."""
    wall: float
    memory: float
    """Peak memory in MB."""


def do(name: str, folder: Path, size: int) -> None:
    """Do the work of a stage in this process, and print what it took."""
    start, cpu = time.perf_counter(), cpu_seconds()
    STAGES[name].work(folder, size)
    print(json.dumps({"cpu": cpu_seconds() - cpu, "wall": time.perf_counter() - start}), flush=True)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def measure(name: str, folder: Path, size: int) -> Measured:
    """Make the inputs of a stage, and do its work in a process that is watched."""
    STAGES[name].inputs(folder, size)
    command = [sys.executable, __file__, "--work", str(folder), "--size", str(size), "--stages", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    memory, looks, watched = 0.0, 0, [psutil.Process(process.pid)]
    while process.poll() is None:
        if looks % 10 == 0:  # looking for children takes much longer than looking at them
            watched = [watched[0], *children(watched[0])]
        memory = max(memory, sum(own_memory(one.pid) for one in watched))
        looks += 1
        time.sleep(0.02)
    output = process.stdout.read()
    if process.returncode:
        sys.exit(f"{name}, {size:,}: failed; its messages are above.")
    return Measured(stage=name, size=size, memory=memory, **json.loads(output.splitlines()[-1]))


def children(process: psutil.Process) -> list[psutil.Process]:
    """List the children of a process, and their children; none if it has ended."""
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def own_memory(pid: int) -> float:
    """Return the memory of a process without pages of files, in MB; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1000 for line in lines if line.startswith(("RssAnon", "RssShmem")))


def sizes_of(chosen: Stage, most: float) -> list[int]:
    """List the sizes of a stage: one for start-up, then its first one or more, in steps of about 3, up to a limit."""
    if chosen.unit == "runs":  # a plan of 1,000 runs takes as long as many stages with 100,000 pairs
        most /= 100
    largest = min(chosen.most, most)
    powers = [round(10**power) * factor for power in range(12) for factor in chosen.factors]
    sizes = [size for size in powers if chosen.first <= size <= largest]
    return [chosen.least, *(sizes or ([int(largest)] if largest > chosen.least else []))] if most else []


class Growth(NamedTuple):
    """How a stage grows; None if there are too few sizes to say it."""

    time: float | None
    memory: float | None
    bytes_per_pair: float | None


def growth(rows: Sequence[Measured]) -> Growth:
    """Fit the exponents of CPU time and memory; `rows` begins with the size of the start-up."""
    start, *others = rows
    long = [row for row in others if row.cpu >= 3 * start.cpu]
    last = [row for row in others if row.size >= rows[-1].size / 10]
    per_pair = np.polyfit([row.size for row in last], [row.memory * 1e6 for row in last], 1)[0] if last[1:] else None
    return Growth(
        time=exponent([(row.size, row.cpu - start.cpu) for row in long]),
        memory=exponent([(row.size, row.memory) for row in last]),
        bytes_per_pair=per_pair,
    )


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of a line through the logarithms, by least squares; None for fewer than two points."""
    return np.polyfit(*np.log(points).T, 1)[0] if len(points) > 1 else None


def table(measured: Sequence[Measured]) -> list[str]:
    """Make a Markdown table with a row per stage."""
    lines = [f"| {' | '.join(HEADER)} |", "|---|" + "---:|" * (len(HEADER) - 1)]
    for name, rows in by_stage(measured).items():
        largest, fit = rows[-1], growth(rows)
        power = ["" if value is None else f"n^{max(value, 0):.2f}" for value in fit[:2]]
        added = "" if fit.bytes_per_pair is None else f"{max(fit.bytes_per_pair, 0):,.0f}"
        cells = [STAGES[name].title, f"{largest.size:,} {STAGES[name].unit}", f"{largest.cpu:.1f}"]
        cells += [f"{largest.wall:.1f}", power[0], f"{largest.memory:,.0f}", power[1], added]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def by_stage(measured: Sequence[Measured]) -> dict[str, list[Measured]]:
    """Group measurements by stage, in the order of the stages, sorted by size."""
    rows = {name: sorted((row for row in measured if row.stage == name), key=lambda row: row.size) for name in STAGES}
    return {name: of_stage for name, of_stage in rows.items() if of_stage}


def draw(measured: Sequence[Measured], path: Path) -> None:
    """Draw CPU time and memory over sizes, with a row of panels per group of stages."""
    from matplotlib import style
    from matplotlib.figure import Figure

    from nmtcore.reporting.charts import STYLE, WIDTH, system_looks, write_chart

    rows = by_stage(measured)
    groups = list(dict.fromkeys(STAGES[name].group for name in rows))
    with style.context(STYLE):
        figure = Figure(figsize=(2 * WIDTH, 2.6 * len(groups)), layout="constrained")
        for part, group in zip(figure.subfigures(len(groups), squeeze=False)[:, 0], groups, strict=True):
            names = {name: STAGES[name].title.replace("`", "") for name in rows if STAGES[name].group == group}
            looks, panels = system_looks(names.values()), part.subplots(1, 2)
            columns = (("CPU time, s", "cpu"), ("peak memory, MB", "memory"))
            for ax, (value, column) in zip(panels, columns, strict=True):
                for name, title in names.items():
                    values = [max(getattr(row, column), 0.01) for row in rows[name]]
                    ax.loglog([row.size for row in rows[name]], values, **looks[title]._asdict(), label=title)
                ax.set(xlabel="pairs, sentences or runs", title=f"{group}: {value}")
            part.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=2)
        write_chart(figure, path, title="CPU time and memory over sizes")


def put_into(path: Path, lines: Sequence[str]) -> None:
    """Replace the table of a Markdown file that has the same header."""
    old = path.read_text(encoding="utf-8").splitlines()
    if lines[0] not in old:
        sys.exit(f"{path} has no table with the header {lines[0]}: add one.")
    start = old.index(lines[0])
    end = next((row for row in range(start, len(old)) if not old[row].startswith("|")), len(old))
    write_lines(path, [*old[:start], *lines, *old[end:]])


def main() -> None:
    """Measure the stages, smallest sizes first, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", nargs="+", choices=STAGES, metavar="STAGE", help=", ".join(STAGES))
    parser.add_argument("--most", type=float, default=1e7, help="largest size, below the stages' own limits")
    parser.add_argument("--output", type=Path, help="folder of the results")
    parser.add_argument("--udpipe", type=Path, metavar="MODEL", help="a German model; without it, UDPipe is left out")
    parser.add_argument("--into", type=Path, metavar="FILE", help="a Markdown file to update")
    parser.add_argument("--folder", type=Path, help="where to make temporary files")
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        do(options.stages[0], options.work, options.size)
    elif options.output is None:
        parser.error("--output is missing: name a folder for the results")
    else:
        study(options)


def study(options: argparse.Namespace) -> None:
    """Measure what is not in the CSV yet; then write table and figure."""
    options.output.mkdir(parents=True, exist_ok=True)
    names = [name for name in options.stages or STAGES if name != "udpipe" or options.udpipe]
    os.environ["SCALING_UDPIPE"] = str(options.udpipe and options.udpipe.absolute())
    measured = read_csv(options.output / "scaling.csv")
    known = {(row.stage, row.size) for row in measured}
    due = [(size, name) for name in names for size in sizes_of(STAGES[name], options.most) if (name, size) not in known]
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="scaling-") as temporary:
        for size in sorted({size for size, _ in due}):
            for name in (name for other, name in due if other == size):
                measured.append(measure(name, Path(temporary, str(size)), size))
                write_csv(options.output / "scaling.csv", measured)
                row = measured[-1]
                took = f"{row.cpu:9.2f} s of CPU time {row.wall:9.2f} s {row.memory:8.0f} MB"
                print(f"{STAGES[name].title:50} {size:10,} {took}", flush=True)
            shutil.rmtree(Path(temporary, str(size)))
    lines = table(measured)
    write_lines(options.output / "scaling.md", lines)
    draw(measured, options.output / "scaling.svg")
    if options.into:
        put_into(options.into, lines)


def read_csv(path: Path) -> list[Measured]:
    """Read what was measured before."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [
        Measured(row["stage"], int(row["size"]), *(float(row[key]) for key in Measured._fields[2:])) for row in rows
    ]


def write_csv(path: Path, measured: Sequence[Measured]) -> None:
    """Write all measurements."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(Measured._fields)
        writer.writerows(measured)


if __name__ == "__main__":
    main()
