"""Time whole updates of configured runs on a GPU: the batches and the precision are those of each run's recipe.

    python benchmarks/updates.py [SCALE/DATASET/SYSTEM...] [--length 28]
    python benchmarks/updates.py small/multi30k_en2de/transformer_base --length 14 --processes 1 4 8 14

With `--processes`, that many processes train the first run side by side on the card, each on its own.
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
SECONDS = 8.0
"""For how long processes train side by side."""


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


def measure(name: str, device: torch.device, length: float, device_size: int) -> None:
    """Print the time of an update of a run, its speed and its memory."""
    run = run_named(name)
    runner, parts = runner_of(run, device, length, device_size)
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
    print(f"{name:45} {used_precision(run.training, device)} {milliseconds} {speed} {peak:7,.0f} MiB", flush=True)


def run_named(name: str) -> RunSettings:
    """Return the settings of SCALE/DATASET/SYSTEM."""
    scale, dataset, system = name.split("/")
    return Project.load(CONFIG).run(dataset, system, scale, 1)


def train_for_a_while(name: str, device: str, length: float, device_size: int) -> float:
    """Train for some seconds; return the target tokens per second."""
    runner, _ = runner_of(run_named(name), named_device(device), length, device_size)
    runner.step(runner.batches[0])
    wait(device)
    start, tokens, number = time.perf_counter(), 0, 0
    while time.perf_counter() - start < SECONDS:
        batch = runner.batches[number % BATCHES]
        runner.step(batch)
        tokens, number = tokens + batch.tokens, number + 1
        if number % 10 == 0:
            wait(device)
    wait(device)
    return tokens / (time.perf_counter() - start)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="SCALE/DATASET/SYSTEM", default=RUNS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--length", type=float, default=28.0, help="mean subwords of a sentence [%(default)s]")
    parser.add_argument("--device-size", type=int, default=8192, help="tokens of a batch on the device [%(default)s]")
    parser.add_argument("--processes", type=int, nargs="*", default=(), help="numbers of processes side by side")
    options = parser.parse_args()
    torch.set_num_threads(1)
    sizes = (options.length, options.device_size)
    for name in options.runs:
        measure(name, named_device(options.device), *sizes)
    context = multiprocessing.get_context("spawn")
    for count in options.processes:
        with context.Pool(count) as pool:
            speeds = pool.starmap(train_for_a_while, [(options.runs[0], options.device, *sizes)] * count)
        print(f"{count} processes: {sum(speeds):,.0f} target tokens/s in all, {min(speeds):,.0f} or more each")


if __name__ == "__main__":
    main()
