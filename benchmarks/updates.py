"""Time whole updates of configured runs on a GPU: the batches and the precision are those of each run's recipe.

    python benchmarks/updates.py [SCALE/DATASET/SYSTEM...] [--length 28]
    python benchmarks/updates.py small/multi30k_en2de/transformer_base --length 14 --processes 1 4 8

With `--compile`, as with `machine.compile`. With `--processes`, the first run is also trained eight times for
`--updates`, so many at a time.
"""

import argparse
import multiprocessing
import statistics
import time

import torch
from gpu import UpdateRunner
from random_models import CONFIG
from step import LABELS, batches_of, examples, wait

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_model
from nmtcore.model.device import named_device
from nmtcore.training.update import autocast, tf32, used_precision

RUNS = (
    *(f"paper/nc11_de2en/{system}" for system in ("transformer_base", "pascal")),
    *(f"paper/cs2en/{system}" for system in ("transformer_base", "depparse_l4", "relative_tree_traversal")),
    *(f"paper/wmt17_tr2en/{system}" for system in ("transformer_base", "tag_attention")),
    *(f"paper/wmt17dev15_en2de/{system}" for system in ("nmt", "sa_nmt_shared")),
)
BATCHES = 6
ROUNDS = 4
RUNS_SIDE_BY_SIDE = 8


def runner_of(run: RunSettings, device: torch.device, length: float, device_size: int) -> tuple[UpdateRunner, int]:
    """Make a runner with random batches, and count the batches of an update, of at most `device_size` tokens each."""
    batch, size = run.training.batch, run.segmentation.size
    tokens = batch.size if batch.unit == "tokens" else int(1.05 * batch.size * (length + 1))
    parts = -(-tokens // device_size)
    data = examples(200 + int(2 * BATCHES * tokens / parts / length), size, seed=1, length=length)
    model = build_model(run, source_size=size, target_size=size, labels=LABELS).to(device).train()
    runner = UpdateRunner(
        name=run.system,
        model=model,
        loss=model.loss,
        batches=[
            make_batch(data, rows, model.components, device) for rows in batches_of(data, tokens // parts, BATCHES)
        ],
        precision=lambda: autocast(run.training, device),
        settings=run.training,
        device=device,
    )
    return runner, parts


def measure(name: str, device: torch.device, length: float, device_size: int, *, compiled: bool = False) -> None:
    """Print the time of an update of a run, its speed and its memory."""
    run = run_named(name)
    runner, parts = runner_of(run, device, length, device_size)
    if compiled:
        runner.model.compile_parts(dynamic=True)
    seconds, speeds = [], []
    with tf32(run.training, device):
        for number in range(ROUNDS + 2):
            for batch in runner.batches:
                wait(str(device))
                start = time.perf_counter()
                runner.step(batch)
                wait(str(device))
                if number >= 2:
                    seconds.append(time.perf_counter() - start)
                    speeds.append(batch.tokens / seconds[-1])
    peak = torch.cuda.max_memory_allocated() / 2**20 if device.type == "cuda" else 0
    milliseconds = f"{1000 * parts * statistics.median(seconds):7.1f} ms/update"
    speed = f"{statistics.median(speeds):9,.0f} target tokens/s"
    name += ", compiled" * compiled
    speed += f" {peak:7,.0f} MiB"
    print(f"{name:45} {used_precision(run.training, device)} {milliseconds} {speed}", flush=True)


def run_named(name: str) -> RunSettings:
    """Return the settings of SCALE/DATASET/SYSTEM."""
    scale, dataset, system = name.split("/")
    return Project.load(CONFIG).run(dataset, system, scale, 1)


def train(name: str, device: str, length: float, device_size: int, updates: int) -> int:
    """Train a run for a number of updates; return its target tokens."""
    runner, parts = runner_of(run_named(name), named_device(device), length, device_size)
    batches = [runner.batches[number % BATCHES] for number in range(parts * updates)]
    for batch in batches:
        runner.step(batch)
    wait(device)
    return sum(batch.tokens for batch in batches)


def train_side_by_side(name: str, *sizes: str | float, updates: int, processes: int) -> None:
    """Train `RUNS_SIDE_BY_SIDE` times, so many at a time, each in a process of its own, as jobs are."""
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=1) as pool:
        tokens = pool.starmap(train, [(name, *sizes, updates)] * RUNS_SIDE_BY_SIDE, chunksize=1)
    seconds = time.perf_counter() - start
    print(
        f"{name}: {RUNS_SIDE_BY_SIDE} runs of {updates} updates, {processes} at a time: {seconds:.0f} s with their "
        f"start, {sum(tokens) / seconds:,.0f} target tokens/s in all",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="SCALE/DATASET/SYSTEM", default=RUNS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--length", type=float, default=28.0, help="mean subwords of a sentence [%(default)s]")
    parser.add_argument("--device-size", type=int, default=8192, help="tokens of a batch on the device [%(default)s]")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--processes", type=int, nargs="*", default=(), help="numbers of processes side by side")
    parser.add_argument("--updates", type=int, default=300, help="of each process [%(default)s]")
    options = parser.parse_args()
    torch.set_num_threads(1)
    sizes = (options.length, options.device_size)
    for name in options.runs:
        measure(name, named_device(options.device), *sizes, compiled=options.compile)
    for processes in options.processes:
        train_side_by_side(options.runs[0], options.device, *sizes, updates=options.updates, processes=processes)


if __name__ == "__main__":
    main()
