"""Measure on a GPU, in nine minutes, where an update spends its time and what would shorten it.

    python benchmarks/card.py [--tokens 16384]     on a card
    python benchmarks/card.py --device cpu         the same at tiny sizes, to try the script: on a CPU, all is fp32

Parts, the most telling first, each printed when it is done; one that fails prints its error, and the next one follows:
kernels of an update of the base size, by kind; compiled (`machine.compile`); recurrent models, after their losses and
gradients were compared with a CPU's; eight small runs, one, four and eight at a time; updates of the papers' recipes.
`--parts` names those to be measured.
"""

import argparse
import multiprocessing
import statistics
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy

import numpy as np
import torch
from gpu import OURS, SIZES, UpdateRunner, report
from random_models import CONFIG, random_model
from step import LABELS, SMOOTHING, batches_of, examples, peak_of, time_steps, wait

from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import RecurrentSettings, TrainingSettings, TransformerSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_model
from nmtcore.model.device import measured_peak, named_device
from nmtcore.training.update import autocast, tf32, used_precision

GROUPS = {
    "attention": ("flash", "fmha", "attention"),
    "products": ("gemm", "nvjet", "cutlass", "xmma", "mm", "linear"),
    "layer norm": ("layer_norm", "layernorm", "gammabeta"),
    "softmax and loss": ("softmax", "nll"),
    "dropout": ("dropout", "bernoulli"),
    "optimiser": ("adam", "multi_tensor", "lpnorm"),
    "embeddings": ("embedding", "index", "gather"),
    "copies and casts": ("copy", "memcpy", "memset", "fill", "cat"),
    "sums": ("reduce", "sum"),
    "other elementwise": ("elementwise", "triton", "mul", "add", "relu", "threshold"),
}
"""What the names of kernels contain, by group; the first that fits counts."""
PROFILED = 3
"""Updates that are profiled."""
BATCHES, ROUNDS = 4, 3
RECIPES = (
    *(f"paper/nc11_de2en/{system}" for system in ("transformer_base", "pascal")),
    *(f"paper/cs2en/{system}" for system in ("transformer_base", "depparse_l4", "relative_tree_traversal")),
    *(f"paper/wmt17_tr2en/{system}" for system in ("transformer_base", "tag_attention")),
)
RECURRENT = [f"paper/wmt17dev15_en2de/{system}" for system in ("nmt", "sa_nmt_shared")]
SMALL = "small/multi30k_en2de/transformer_base"
SIDE_BY_SIDE = 8
"""Runs that are trained side by side."""


def base_runner(options: argparse.Namespace, name: str = OURS) -> UpdateRunner:
    """Make a runner of whole updates of the base size, with a random model."""
    device = named_device(options.device)
    settings = TrainingSettings(precision="bf16", max_updates=1, label_smoothing=SMOOTHING)
    size = TransformerSettings(**SIZES[options.size], norm="post", attention_dropout=0.1, activation_dropout=0.1)
    torch.manual_seed(1)
    model = random_model(OURS, {"transformer": size}, vocabulary=options.vocabulary).to(device).train()
    pairs = 4 * BATCHES * int(options.tokens / options.length)
    data = examples(pairs, options.vocabulary, seed=0, length=options.length)
    batches = [make_batch(data, rows, (), device) for rows in batches_of(data, options.tokens, BATCHES)]
    precision = lambda: autocast(settings, device)
    parts = {"model": model, "loss": model.loss, "batches": batches, "precision": precision}
    return UpdateRunner(name=name, **parts, settings=settings, device=device)


def kernels(options: argparse.Namespace) -> None:
    """Print the kernels of an update by kind, and the longest ones."""
    runner = base_runner(options)
    on_gpu = runner.device.type == "cuda"
    for batch in runner.batches:
        runner.step(batch)
    wait(options.device)
    activity = torch.profiler.ProfilerActivity.CUDA if on_gpu else torch.profiler.ProfilerActivity.CPU
    start = time.perf_counter()
    with torch.profiler.profile(activities=[activity]) as profiler:
        for batch in runner.batches[:PROFILED]:
            runner.step(batch)
        wait(options.device)
    wall = 1e3 * (time.perf_counter() - start) / PROFILED
    counts, times = Counter(), Counter()
    events = profiler.key_averages()
    milliseconds = lambda event: (event.self_device_time_total if on_gpu else event.self_cpu_time_total) / 1e3
    for event in events:
        name = event.key.lower()
        group = next((own for own, parts in GROUPS.items() if any(part in name for part in parts)), "rest")
        counts[group] += event.count
        times[group] += milliseconds(event)
    print(f"{'kernels':24}{'an update':>11}{'ms':>9}{'% of its':>10} {wall:.1f} ms, profiled")
    for group, total in times.most_common():
        own = total / PROFILED
        print(f"{group:24}{counts[group] / PROFILED:11.0f}{own:9.2f}{100 * own / wall:10.1f}")
    for event in sorted(events, key=milliseconds, reverse=True)[:15]:
        print(f"  {milliseconds(event) / PROFILED:7.2f} ms {event.count / PROFILED:6.0f} x {event.key[:100]}")


def compare(runners: Sequence[UpdateRunner], options: argparse.Namespace) -> None:
    """Time updates of all runners in turn, and print their table."""
    for runner in runners:
        start = time.perf_counter()
        runner.step(runner.batches[0])
        print(f"The first update of {runner.name} took {time.perf_counter() - start:.0f} s.", flush=True)
    time_steps(list(runners), ROUNDS, options.device)
    for runner in runners:
        runner.peak = max(peak_of(runner, batch, options.device) for batch in runner.batches[:2])
    device = named_device(options.device)
    report(list(runners), measured_peak(device, "bf16" if device.type == "cuda" else "fp32", width=options.product))


def compiled(options: argparse.Namespace) -> None:
    """Compare `machine.compile` with the default."""
    runner = base_runner(options, "compiled")
    runner.model.compile_parts(dynamic=True)
    compare([base_runner(options), runner], options)


def recurrent(options: argparse.Namespace) -> None:
    """Compare recurrent models with a CPU's, and time them, compiled, too."""
    sizes = {"recurrent": RecurrentSettings(width=64, dropout=0.0)}
    for system in ("nmt", "sa_nmt_shared"):
        data, model = examples(40, 60, seed=2, length=12), random_model(system, sizes, vocabulary=60).double()
        results = []
        for own, device in ((deepcopy(model), "cpu"), (model, options.device)):
            own = own.to(device).train()
            loss = own.loss(make_batch(data, np.arange(40), own.components, device)).objective()
            gradients = torch.autograd.grad(loss, list(own.parameters()))
            results.append([loss.detach().cpu(), *(gradient.cpu() for gradient in gradients)])
        difference = max(float((a - b).abs().max() / a.abs().max()) for a, b in zip(*results, strict=True))
        print(f"{system}: loss and gradients in fp64 differ from a CPU's by at most {difference:.1e}", flush=True)
    for compiled in (False, True):
        for name in options.recurrent:
            measure(name, named_device(options.device), options.length, 8192, compiled=compiled)


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
    """Train `SIDE_BY_SIDE` times, so many at a time, each in a process of its own, as jobs are."""
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(processes, maxtasksperchild=1) as pool:
        tokens = pool.starmap(train, [(name, *sizes, updates)] * SIDE_BY_SIDE, chunksize=1)
    seconds = time.perf_counter() - start
    print(
        f"{name}: {SIDE_BY_SIDE} runs of {updates} updates, {processes} at a time: {seconds:.0f} s with their "
        f"start, {sum(tokens) / seconds:,.0f} target tokens/s in all",
        flush=True,
    )


def recipes(options: argparse.Namespace) -> None:
    """Time whole updates of configured runs, with the batches and the precision of each run's recipe."""
    for name in options.recipes:
        measure(name, named_device(options.device), options.length, 8192)


def side_by_side(options: argparse.Namespace) -> None:
    """Train eight small runs, one, four and eight at a time."""
    for processes in (1, 4, 8):
        sizes = options.device, 14.0, 8192
        train_side_by_side(options.small, *sizes, updates=options.updates, processes=processes)


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    own.__name__: own for own in (kernels, compiled, recurrent, side_by_side, recipes)
}


def main() -> None:
    """Measure the parts one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--tokens", type=int, help="padded tokens per batch [16384]")
    options = parser.parse_args()
    tiny = options.device == "cpu"
    options.tokens = options.tokens or (512 if tiny else 16384)
    sizes = {"size": "tiny", "vocabulary": 600, "length": 9.0, "product": 512, "updates": 2}
    sizes |= {"recurrent": ["smoke/demo_en2de/nmt", "smoke/demo_en2de/sa_nmt_shared"]}
    sizes |= {"recipes": ["smoke/demo_en2de/transformer_base"]}
    full = {"size": "base", "vocabulary": 32000, "length": 28.0, "product": 8192, "updates": 300}
    full |= {"recurrent": RECURRENT, "recipes": RECIPES}
    vars(options).update(sizes if tiny else full)
    options.small = "smoke/demo_en2de/transformer_base" if tiny else SMALL
    torch.set_num_threads(1)
    print(torch.cuda.get_device_name() if not tiny else "CPU", torch.__version__)
    start = time.perf_counter()
    for name in options.parts:
        print(f"\n{name} (after {time.perf_counter() - start:.0f} s)", flush=True)
        try:
            PARTS[name](options)
        except Exception:
            traceback.print_exc()


if __name__ == "__main__":
    main()
