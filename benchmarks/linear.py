"""Compare the two ways to compute linear layers on a CPU, PyTorch's own and oneDNN, whichever this processor takes.

    python benchmarks/linear.py            products, training steps and search at the widths 96, 128 and 512
    python benchmarks/linear.py products   only these (or steps, or search)

One thread; CPU time; the ways take turns. Products have the shapes of search and of training. Training steps are timed
twice: with the shapes of their batches new to the process, as most are in training, and again with one batch,
for whose shapes oneDNN has code by then. The last column is the time of oneDNN over that of PyTorch.
"""

import statistics
import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from random_models import random_model, random_sources
from step import Runner, batches_of, examples, loss_of

from nmtcore.config.training import DecodingSettings, TransformerSettings
from nmtcore.inference.search import translate_examples
from nmtcore.model import linear
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import make_batch
from nmtcore.model.device import processor

SHAPES = [
    *[(rows, 96, outputs) for rows in (64, 256) for outputs in (96, 288, 1500)],
    *[(rows, 512, outputs) for rows in (1, 8, 16, 64) for outputs in (512, 2048)],
    *[(2048, inputs, outputs) for inputs, outputs in ((128, 128), (128, 512), (512, 512), (512, 2048))],
]
"""Rows, inputs and outputs of a product."""
MODELS = {
    96: ({"width": 96, "feed_forward": 256, "heads": 8, "encoder_layers": 6, "decoder_layers": 1}, 1500, 1024, 30),
    128: ({"width": 128, "feed_forward": 512, "heads": 4, "encoder_layers": 3, "decoder_layers": 3}, 6000, 2048, 20),
    512: ({"width": 512, "feed_forward": 2048, "heads": 8, "encoder_layers": 3, "decoder_layers": 3}, 6000, 2048, 4),
}
"""By width: sizes, entries of the vocabulary, tokens per batch, and batches. 96 is as narrow as the demo's."""
WAYS = (linear.PYTORCH, linear.ONEDNN)


def call_seconds(function: Callable[..., object], calls: int, *arguments: object) -> float:
    """Return the CPU time of a call, the mean of several."""
    start = time.process_time()
    for _ in range(calls):
        function(*arguments)
    return (time.process_time() - start) / calls


def both_seconds(function: Callable[..., object], *arguments: object) -> list[float]:
    """Return the CPU times of a call with linear layers computed in each of the ways."""
    times = []
    for way in WAYS:
        linear._on_cpu = lambda way=way: way
        times.append(call_seconds(function, 1, *arguments))
    return times


def report(name: str, times: list[list[float]]) -> None:
    """Print the medians in milliseconds, and that of the ratios; `times` has those of both ways, round by round."""
    own, other = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(b / a for a, b in times)
    print(f"{name:44}{own:12,.3f}{other:12,.3f}{ratio:8.2f}", flush=True)


def time_products() -> None:
    """Time the operators alone, without the bounds below which oneDNN is not used."""
    for rows, inputs, outputs in SHAPES:
        x, w, b = torch.randn(rows, inputs), torch.randn(outputs, inputs), torch.randn(outputs)
        calls = max(1, 20_000_000 // (rows * inputs * outputs))
        times = [[call_seconds(f, calls, x, w, b) for f in (F.linear, linear._product)] for _ in range(12)]
        report(f"product of {rows} x {inputs} x {outputs}", times[2:])


def time_steps() -> None:
    """Time training steps of `transformer_base`."""
    for width, (_, vocabulary, tokens, count) in MODELS.items():
        model = model_of(width)
        data = examples(8000, vocabulary, seed=0, length=13.5)
        batches = [make_batch(data, rows, ()) for rows in batches_of(data, tokens, count + 1)]
        runner = Runner(name="", model=model, loss=loss_of(model), batches=batches, precision=torch.enable_grad)
        both_seconds(runner.step, batches[0])
        report(f"training step, d {width}, new shapes", [both_seconds(runner.step, batch) for batch in batches[1:]])
        again = [both_seconds(runner.step, batches[-1]) for _ in range(count)]
        report(f"training step, d {width}, shapes seen before", again)


def time_search() -> None:
    """Time search for 128 sentences, in batches of 64; a random model ends none of them before its limit."""
    for width, (_, vocabulary, *_) in MODELS.items():
        rounds = 3 if width == 512 else 8
        model, sources = model_of(width).eval(), random_sources(128, vocabulary)
        for beam in (1, 4):
            settings = DecodingSettings(beam=beam, batch_sentences=64, max_length_ratio=1.3, max_length_extra=0)
            times = [both_seconds(translate_examples, model, sources, settings) for _ in range(rounds)]
            report(f"search, d {width}, beam {beam}", times[1:])


def model_of(width: int) -> TranslationModel:
    """Build a model with random weights."""
    torch.manual_seed(1)
    sizes, vocabulary, *_ = MODELS[width]
    return random_model("transformer_base", {"transformer": TransformerSettings(**sizes)}, vocabulary=vocabulary)


if __name__ == "__main__":
    parts = {"products": time_products, "steps": time_steps, "search": time_search}
    torch.set_num_threads(1)
    print(f"{processor('model name')}, {torch.backends.cpu.get_cpu_capability()}, torch {torch.__version__}")
    print(f"Used on this processor: {linear.products_by('cpu')}")
    print(f"{'ms of CPU time':44}{'PyTorch':>12}{'oneDNN':>12}   ratio")
    for part in sys.argv[1:] or parts:
        parts[part]()
