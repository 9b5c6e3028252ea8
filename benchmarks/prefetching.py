"""Time updates whose batches a thread makes in advance against updates that make their own.

Both ways alternate on the same batches with the same model; an update is forward and backward. The table has medians of
the wall time and the CPU time (of both threads) per update, and of the ratios within a round.

    python benchmarks/prefetching.py [--system depparse_l1 --updates 40 --tokens 512 --width 128 --layers 3]
"""

import argparse
import statistics
import time
from functools import partial

import torch
from random_models import random_model
from step import LABELS, SMOOTHING, batches_of, examples

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.device import prepare_device
from nmtcore.training.prefetching import MakeBatches, Prefetcher

WAYS = {"prefetch: 0": 0, "prefetch: 1": 1}


def main() -> None:
    """Read the options, time both ways in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", default="depparse_l1")
    for name, default in [("updates", 40), ("tokens", 512), ("width", 128), ("layers", 3), ("vocabulary", 6000)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    prepare_device(options.device)
    device = torch.device(options.device)
    torch.set_num_threads(1)
    settings = TransformerSettings(
        width=options.width,
        feed_forward=4 * options.width,
        heads=max(4, options.width // 64),
        encoder_layers=options.layers,
        decoder_layers=options.layers,
    )
    sizes = {"transformer": settings}
    model = random_model(options.system, sizes, vocabulary=options.vocabulary, labels=LABELS).to(device)
    data = examples(5000, options.vocabulary, seed=0, length=13.5)
    rows = batches_of(data, options.tokens, options.updates)

    def maker(update: int) -> MakeBatches:
        return partial(lambda chosen: [make_batch(data, chosen, model.components, device)], rows[update])

    prefetchers = {name: Prefetcher(ahead=ahead, device=device) for name, ahead in WAYS.items()}
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    for update in range(len(rows)):
        for name, prefetcher in prefetchers.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            for batch in prefetcher.take(update, maker, end=len(rows)):
                model.loss(batch, label_smoothing=SMOOTHING).objective().backward()
            if device.type == "cuda":
                torch.cuda.synchronize()
            times[name].append((time.perf_counter() - start, time.process_time() - start_cpu))
    for prefetcher in prefetchers.values():
        prefetcher.close()
    print(f"{'':12}   ms/update   CPU ms   / first   CPU / first")
    first = next(iter(times.values()))[3:]  # the first updates warm up
    for name, measured in times.items():
        pairs = list(zip(measured[3:], first, strict=True))
        wall, cpu = (1000 * statistics.median(pair[0][i] for pair in pairs) for i in (0, 1))
        ratios = [statistics.median(mine[i] / other[i] for mine, other in pairs) for i in (0, 1)]
        print(f"{name:12} {wall:11.1f} {cpu:8.1f} {ratios[0]:9.3f} {ratios[1]:13.3f}")


if __name__ == "__main__":
    main()
