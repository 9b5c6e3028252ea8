"""Memory, open files and threads of a long training or of translating many lines: do they grow?

python benchmarks/endurance.py [--minutes 30] [--figure endurance.svg] [--translate MODEL TEXT]

The workflow trains a small model on the demo corpus; every 25 updates, it translates the development set and writes a
checkpoint. With `--translate`, `nmtcore translate MODEL` gets the lines of a file instead, again and again. The process
is looked at every five seconds from outside (/proc). The slopes printed are those of lines through the samples after
the first tenth of the time, in which caches fill.
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TARGET = "results/endurance/demo_en2de/depparse_l1.bleu"
SCALE = """
description: As long as it takes.
per_base:
  transformer: {model: {width: 32, feed_forward: 64, decoder_layers: 1}}
training:
  schedule: {kind: inverse_sqrt, peak: 5.0e-3, warmup: 60}
  batch: {unit: tokens, size: 384, max_length: 25}
  validation: {every: 25, stop_after: null, metric: bleu}
  max_updates: 100000000
  max_epochs: null
  checkpoint_every: 25
  keep: last
decoding: {max_length: 30}
sentences: {train: 2000, dev: 100, test: 100}
segmentation_size: 2000
"""


class Sample(NamedTuple):
    """What a process holds at a time."""

    minutes: float
    megabytes: float
    files: int
    threads: int


def main() -> None:
    """Train or translate, look, stop, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--translate", type=Path, nargs=2, metavar=("MODEL", "TEXT"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="endurance-") as folder:
        if arguments.translate:
            samples, lines = watch_translating(*arguments.translate, Path(folder) / "output", arguments.minutes)
            done = f"{lines:,} lines translated"
        else:
            samples, updates = watch(Path(folder), arguments.minutes)
            done = f"{updates:,} updates"
    print(f"{len(samples)} samples in {samples[-1].minutes:.1f} minutes, {done}")
    print("MB at each tenth of the time:", *(f"{sample.megabytes:.0f}" for sample in tenths(samples)))
    settled = [sample for sample in samples if sample.minutes > samples[-1].minutes / 10]
    for name in Sample._fields[1:]:
        values = [getattr(sample, name) for sample in settled]
        slope = statistics.linear_regression([sample.minutes for sample in settled], values).slope
        first, last = f"{values[0]:.1f} at first", f"{values[-1]:.1f} at last"
        print(f"{name}: {first}, {last}, most {max(values):.1f}; {60 * slope:+.2f} an hour")
    if arguments.figure:
        draw(samples, arguments.figure)


def watch(folder: Path, minutes: float) -> tuple[list[Sample], int]:
    """Train in a folder for some minutes; return samples of the process and the number of updates."""
    (folder / "config/scales").mkdir(parents=True)
    (folder / "config/scales/endurance.yaml").write_text(SCALE)
    command = [
        Path(sys.executable).parent / "snakemake",
        "-s",
        ROOT / "Snakefile",
        "-d",
        folder,
        "--cores",
        "1",
        TARGET,
    ]
    log = (folder / "log").open("w")
    workflow = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
    samples: list[Sample] = []
    try:
        while (trainer := _trainer(workflow.pid)) is None:
            if workflow.poll() is not None:
                sys.exit((folder / "log").read_text())
            time.sleep(1)
        samples += _samples(trainer, minutes)
        histories = list(folder.rglob("training.jsonl"))
        last = histories[0].read_text().splitlines()[-1] if histories else "{}"
    finally:
        os.killpg(workflow.pid, signal.SIGTERM)  # SIGINT is ignored in the background of a script
        workflow.wait()
    return samples, json.loads(last).get("update", 0)


def watch_translating(model: Path, text: Path, output: Path, minutes: float) -> tuple[list[Sample], int]:
    """Translate the lines of a text again and again; return samples and the number of lines.

    The minutes begin with the first translations.
    """
    command = [sys.executable, "-m", "nmtcore", "translate", model]
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file)
    lines = text.read_bytes().splitlines(keepends=True)

    def feed() -> None:
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.writelines(cycle(lines))

    threading.Thread(target=feed, daemon=True).start()
    try:
        while not output.stat().st_size and process.poll() is None:  # it loads the model, and translates the first part
            time.sleep(1)
        samples = list(_samples(process.pid, minutes))
        if process.poll() is not None:
            sys.exit(f"it ended with status {process.returncode}")
    finally:
        process.kill()
        process.wait()
    return samples, output.read_bytes().count(b"\n")


def _samples(process: int, minutes: float) -> Iterator[Sample]:
    """Yield what a process holds every five seconds, until it ends."""
    began = time.monotonic()
    while time.monotonic() - began < 60 * minutes and (sample := _sample(process, began)):
        yield sample
        time.sleep(5)


def tenths(samples: list[Sample]) -> list[Sample]:
    """Return eleven samples with about equal distances."""
    return [samples[round(k * (len(samples) - 1) / 10)] for k in range(11)]


def _trainer(session: int) -> int | None:
    """Return the process of a session that trains, if there is one."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            command = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[3]) == session and b"train_model.py" in command and b"snakemake" not in command.split(b"\0")[0]:
            return int(status.parent.name)
    return None


def _sample(process: int, began: float) -> Sample | None:
    """Look at a process; None if it has ended."""
    folder = Path("/proc", str(process))
    try:
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        files = len(list((folder / "fd").iterdir()))
        megabytes = int(status["VmRSS"].split()[0]) / 1000
    except (OSError, KeyError):
        return None
    return Sample((time.monotonic() - began) / 60, megabytes, files, int(status["Threads"]))


def draw(samples: list[Sample], path: Path) -> None:
    """Draw the three curves, one below the other."""
    from matplotlib import style
    from matplotlib.figure import Figure

    from nmtcore.reporting.charts import STYLE, WIDTH, write_chart

    with style.context(STYLE):
        figure, names = Figure(figsize=(WIDTH, 5), layout="constrained"), Sample._fields[1:]
        panels = figure.subplots(len(names), sharex=True)
        for ax, name in zip(panels, names, strict=True):
            ax.plot([sample.minutes for sample in samples], [getattr(sample, name) for sample in samples])
            ax.set_title(name, loc="left")
        panels[-1].set_xlabel("minutes")
        write_chart(figure, path, title=", ".join(names))


if __name__ == "__main__":
    main()
