"""Measure the report of many made-up runs: CPU time, memory and size of the page.

    python benchmarks/report.py [--systems 100] [--seeds 2] [--updates 5000]

The runs are those of the report's tests, with longer training logs: a line per 50 updates, and 20 validations.
"""

import argparse
import json
import random
import resource
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from reporting.report_folder import report_folder

from nmtcore.files import write_lines
from nmtcore.reporting.report.page import write_report


def main() -> None:
    """Write the page, and print what it takes; the memory is the process's, with the making of the runs."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--systems", type=int, default=100)
    arguments.add_argument("--seeds", type=int, default=2)
    arguments.add_argument("--updates", type=int, default=5000)
    chosen = arguments.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        layout, inputs = report_folder(folder, [f"system_{i}" for i in range(chosen.systems)], seeds=chosen.seeds)
        logs = layout.existing("history")
        for number, log in enumerate(logs):
            write_lines(log, list(map(json.dumps, training_log(chosen.updates, random.Random(number)))))
        page = folder / "report.html"
        wall, cpu = time.perf_counter(), time.process_time()
        write_report(inputs, layout=layout, page=page)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = page.stat().st_size / 1e6
        print(f"{len(logs)} runs: {wall:.1f} s, {cpu:.1f} s of CPU time, {memory:,.0f} MiB of memory, {size:.2f} MB")


def training_log(updates: int, rng: random.Random) -> list[dict]:
    """Make up the lines of a log."""
    lines = []
    for update in range(50, updates + 1, 50):
        loss = 2 + 6 / update**0.3 + rng.random() / 10
        lines.append({"update": update, "loss/translation": loss, "tokens_per_second": 1e4, "seconds": update})
        if update % (updates // 20) == 0:
            scores = {"perplexity": 9 - 4 * update / updates, "bleu": 25 * update / updates + rng.random()}
            lines.append({"update": update, "validation": scores, "best": True, "seconds": update})
    return lines


if __name__ == "__main__":
    main()
