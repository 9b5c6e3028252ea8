"""Measure the speeds of `config/speeds.yaml` on this machine: training steps of configured models, by width.

Operations are counted as the estimates of costs count them: 6 for each weight of a matrix and each position of a full
batch, padding included. The speed is that by CPU time with one thread, so that a busy machine matters little; with
`--device cuda` it is that by wall time.

    python benchmarks/speeds.py [SCALE/DATASET/SYSTEM...] [--tokens 2048] [--repeats 3]
"""

import argparse
import statistics
from contextlib import nullcontext
from dataclasses import replace

import torch
from random_models import CONFIG
from step import SMOOTHING, Runner, batches_of, examples, time_steps

from nmtcore.config.project import Project
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_model
from nmtcore.model.device import named_device
from nmtcore.planning.model_sizes import operations_of

RUNS = (
    *(f"{scale}/demo_en2de/{system}" for system in ("transformer_base", "nmt") for scale in ("smoke", "demo", "quick")),
    "paper/demo_en2de/transformer_base",
    "paper/wmt16_en2de/transformer_base",
    "paper/wmt17dev15_en2de/nmt",
)
"""Runs of all widths: 32, 96, 128, 256, 512 and 1024."""
LENGTH = 25.0
"""Mean length of the sentences, in subwords."""
OPERATIONS = 6
"""Operations per weight and position of a training step."""


def measure(name: str, *, tokens: int, repeats: int, device: str) -> str:
    """Time training steps of a run's model with random sentences, and return an entry of `training`."""
    scale, dataset, system = name.split("/")
    run = Project.load(CONFIG).run(dataset, system, scale, 1)
    size = run.segmentation.size
    run = replace(run, segmentation=replace(run.segmentation, joint=True))
    tokens = min(tokens, run.training.batch.size if run.training.batch.unit == "tokens" else tokens)
    data = examples(4 * tokens, size, seed=1, length=LENGTH)
    batches = batches_of(data, tokens, 2)
    model = build_model(run, source_size=size, target_size=size)
    model = model.to(device)
    runner = Runner(
        name=name,
        model=model,
        loss=lambda batch: model.loss(batch, label_smoothing=SMOOTHING).objective(),
        batches=[make_batch(data, rows, (), device) for rows in batches],
        precision=nullcontext,
    )
    time_steps([runner], repeats, device)
    seconds = statistics.median(wall if device.startswith("cuda") else cpu for wall, cpu in runner.seconds)
    speed = OPERATIONS * tokens * sum(operations_of(run, sizes={"target": size})) / seconds / 1e9
    return f"- {{base: {run.base}, width: {run.model.width}, gigaflops: {speed:.3g}}}   # {name}, {seconds:.3f} s"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="*", metavar="SCALE/DATASET/SYSTEM", default=RUNS)
    parser.add_argument("--tokens", type=int, default=2048, help="largest batch, in padded positions [%(default)s]")
    parser.add_argument("--repeats", type=int, default=3, help="rounds over two batches [%(default)s]")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    named_device(options.device)
    for name in options.runs:
        print(measure(name, tokens=options.tokens, repeats=options.repeats, device=options.device), flush=True)


if __name__ == "__main__":
    main()
