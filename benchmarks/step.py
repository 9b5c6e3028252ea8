"""Time a training step of our transformer beside `torch.nn.Transformer` of the same size, on the same batches.

Both have tied embeddings, sinusoidal positions, a label-smoothed loss and fused Adam. The repeats are interleaved,
so that a busy machine slows all of them alike. The table shows medians of wall and CPU time, and the medians of the
ratios to the step of PyTorch's, and of ours without a component, on the same batch in the same round.

    python benchmarks/step.py [--width 128 --layers 3 --heads 4 --feed-forward 512 --vocabulary 6000 --threads 2]
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components.parser_head import DepParse
from nmtcore.config.model import TransformerSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.build import build_components, initialise
from nmtcore.model.positions import sinusoids
from nmtcore.model.transformer import Transformer

SMOOTHING = 0.1


class Reference(nn.Module):
    """`torch.nn.Transformer` between embeddings and an output layer."""

    def __init__(self, settings: TransformerSettings, vocabulary: int) -> None:
        super().__init__()
        self.width = settings.width
        self.embedding = nn.Embedding(vocabulary, settings.width)
        nn.init.normal_(self.embedding.weight, std=settings.width**-0.5)
        self.register_buffer("positions", sinusoids(512, settings.width).float())
        self.dropout = nn.Dropout(settings.dropout)
        self.transformer = nn.Transformer(
            settings.width,
            settings.heads,
            settings.encoder_layers,
            settings.decoder_layers,
            settings.feed_forward,
            settings.dropout,
            batch_first=True,
            norm_first=settings.norm == "pre",
        )

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * math.sqrt(self.width) + self.positions[: ids.size(1)])

    def forward(self, batch: Batch) -> Tensor:
        length = batch.target_input_BT.size(1)
        states = self.transformer(
            self.embed(batch.source_BS),
            self.embed(batch.target_input_BT),
            tgt_mask=torch.ones(length, length, dtype=torch.bool, device=batch.source_BS.device).triu(1),
            src_key_padding_mask=~batch.source_mask,
            tgt_key_padding_mask=~batch.target_mask_BT,
            memory_key_padding_mask=~batch.source_mask,
            tgt_is_causal=True,
        )
        logits = F.linear(states, self.embedding.weight).flatten(0, 1)
        return F.cross_entropy(
            logits, batch.target_output_BT.flatten(), ignore_index=0, label_smoothing=SMOOTHING, reduction="sum"
        ) / max(batch.tokens, 1)


def examples(pairs: int, vocabulary: int, seed: int) -> Examples:
    """Draw pairs as long as captions cut into subwords are, with random trees."""
    random = np.random.default_rng(seed)
    lengths = np.clip(random.lognormal(2.6, 0.35, pairs), 3, 60).astype(int)
    others = np.clip(lengths + random.integers(-2, 4, pairs), 3, 60)

    def side(counts: np.ndarray, syntax: dict) -> SideExamples:
        ids = random.integers(5, vocabulary, counts.sum()).astype(np.int32)
        words = np.concatenate([np.arange(n) for n in counts]).astype(np.int32)
        return SideExamples(
            ids=Ragged.from_lengths(ids, counts), word_of_subword=Ragged.from_lengths(words, counts), syntax=syntax
        )

    governors = np.concatenate([[-1, *(random.integers(0, i) for i in range(1, n))] for n in lengths]).astype(np.int32)
    source = side(lengths, {"governor": Ragged.from_lengths(governors, lengths)})
    return Examples(id=np.arange(pairs), source=source, target=side(others, {}))


def batches_of(data: Examples, tokens: int, count: int) -> list[np.ndarray]:
    """Cut rows, sorted by length, into batches of `tokens` padded tokens, and take `count` of them."""
    order = np.lexsort((data.target.ids.lengths, data.source.ids.lengths))
    widths = np.maximum(data.source.ids.lengths, data.target.ids.lengths)[order] + 1
    batches, start = [], 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and widths[start : stop + 1].max() * (stop + 1 - start) <= tokens:
            stop += 1
        batches.append(order[start:stop])
        start = stop
    return [batches[i] for i in np.random.default_rng(1).permutation(len(batches))[:count]]


def stepper(model: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    """Make a function that runs forward, backward and Adam once."""
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        loss().backward()
        optimiser.step()

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in [("width", 128), ("layers", 3), ("heads", 4), ("feed-forward", 512), ("vocabulary", 6000)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--tokens", type=int, default=2048, help="padded tokens a batch")
    parser.add_argument("--repeats", type=int, default=12, help="rounds over the batches")
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--norm", default="pre", choices=["pre", "post"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    settings = TransformerSettings(
        width=options.width,
        feed_forward=options.feed_forward,
        heads=options.heads,
        encoder_layers=options.layers,
        decoder_layers=options.layers,
        norm=options.norm,
        # torch.nn.Transformer has one dropout for all places.
        attention_dropout=0.1,
        activation_dropout=0.1,
    )
    data = examples(5000, options.vocabulary, seed=0)
    rows = batches_of(data, options.tokens, options.batches)
    print(f"{settings}\nvocabulary {options.vocabulary}, {options.tokens} padded tokens a batch, {options.device}")
    report(*measure(settings, data, rows, options))


def measure(
    settings: TransformerSettings, data: Examples, rows: list[np.ndarray], options: argparse.Namespace
) -> tuple[dict[str, np.ndarray], float]:
    """Time every model on every batch, in turns: seconds (steps, wall and CPU), and a batch's mean target tokens."""
    current: dict[str, Batch] = {}
    steps, batches = {}, {}
    size = options.vocabulary

    def ours(components: list) -> Transformer:
        model = Transformer(settings, source_size=size, target_size=size, joint=True, components=components)
        initialise(model)
        return model.to(options.device)

    def add(name: str, model: nn.Module, components: list, loss: Callable[[Batch], Tensor]) -> None:
        batches[name] = [make_batch(data, chosen, components, options.device) for chosen in rows]
        steps[name] = stepper(model, lambda: loss(current[name]))

    reference, plain = Reference(settings, size).to(options.device), ours([])
    head = ours(build_components([DepParse(layer=1)], settings))
    add("torch.nn.Transformer", reference, [], reference)
    add("nmtcore", plain, [], lambda batch: plain.loss(batch, label_smoothing=SMOOTHING).objective())
    add(
        "nmtcore + depparse_l1",
        head,
        list(head.components),
        lambda b: head.loss(b, label_smoothing=SMOOTHING).objective(),
    )

    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in steps}
    for repeat in range(options.repeats + 1):
        for i in range(len(rows)):
            for name, step in steps.items():
                current[name] = batches[name][i]
                start, start_cpu = time.perf_counter(), time.process_time()
                step()
                if options.device != "cpu":
                    torch.cuda.synchronize()
                if repeat:
                    seconds[name].append((time.perf_counter() - start, time.process_time() - start_cpu))
    tokens = statistics.mean(batch.tokens for batch in batches["nmtcore"])
    return {name: np.array(times) for name, times in seconds.items()}, tokens


def report(seconds: dict[str, np.ndarray], tokens: float) -> None:
    """Print the table."""
    print(f"\n{'':24}{'ms a step':>12}{'CPU ms':>10}{'target tokens/s':>18}{'/ PyTorch':>12}{'/ nmtcore':>12}")
    for name, times in seconds.items():
        wall, cpu = np.median(times, axis=0)
        ratios = [np.median(times[:, 0] / seconds[base][:, 0]) for base in ("torch.nn.Transformer", "nmtcore")]
        print(f"{name:24}{1000 * wall:12.1f}{1000 * cpu:10.1f}{tokens / wall:18.0f}{ratios[0]:12.2f}{ratios[1]:12.2f}")


if __name__ == "__main__":
    main()
