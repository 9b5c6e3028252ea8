"""Time training steps of `torch.nn.Transformer`, of our transformer, and of systems, on the same batches.

    python benchmarks/step.py [SYSTEM...] [--width 128 --layers 3 --heads 4 --feed-forward 512 --vocabulary 6000]

All models have the same size, tied embeddings, sinusoidal positions (unless a system replaces them), a label-smoothed
loss and fused Adam. Rounds are interleaved, so that a busy machine slows all models equally. For each model the table
has the median wall and CPU time of a step, the median ratios to the steps of PyTorch's transformer and of ours without
components on the same batch in the same round, the ratio of whole trainings in pham2018 (Figure 6.4), and the peak
memory of tensors, including parameters, gradients and Adam's moments. At paper size: --width 512 --layers 6 --heads 8
--feed-forward 2048 --vocabulary 32000 --tokens 3072.
"""

import argparse
import json
import math
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from random_models import random_model
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from nmtcore.config.training import RecurrentSettings, TransformerSettings
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import Ragged
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.components.base import Component
from nmtcore.model.device import named_device
from nmtcore.model.transformer import sinusoids
from nmtcore.segmentation.vocabulary import PAD
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT

SMOOTHING = 0.1
PUBLISHED = {
    **{"depparse": 1.13, "diagonalparse": 1.10, "base_specpos": 1.00, "base_specdep": 1.00},
    **{"tree_distance_5": 1.70, "tree_traversal": 1.89, "base_tree_distance_5": 1.96},
    **{"relative_tree_distance_5": 3.00, "relative_tree_traversal": 3.00},
}
"""Training time relative to `transformer_base` on one GTX 1080 Ti (pham2018, Figure 6.4)."""
REFERENCE, BASE = "torch.nn.Transformer", "transformer_base"
TAGS = 509
"""Entries of every vocabulary of target tags, with the two for none and unknown (aycock2021: 507 CCG supertags)."""
_SIZES = {
    "source": {"deprel": 42, "upos": 19, "xpos": 60},
    "target": dict.fromkeys(("ccg", "random", "dg_a", "dg_b"), TAGS),
}
LABELS = {side: {name: [f"{name}{i}" for i in range(n)] for name, n in sizes.items()} for side, sizes in _SIZES.items()}


class Reference(nn.Module):
    """`torch.nn.Transformer` with embeddings and an output layer."""

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
            src_key_padding_mask=~batch.source_mask_BS,
            tgt_key_padding_mask=batch.target_output_BT == PAD,
            memory_key_padding_mask=~batch.source_mask_BS,
            tgt_is_causal=True,
        )
        logits = F.linear(states, self.embedding.weight).flatten(0, 1)
        return F.cross_entropy(
            logits, batch.target_output_BT.flatten(), ignore_index=0, label_smoothing=SMOOTHING, reduction="sum"
        ) / max(batch.tokens, 1)


def examples(pairs: int, vocabulary: int, seed: int, *, length: float) -> Examples:
    """Draw sentence pairs of about `length` subwords, with random trees of the sources and tags of the targets."""
    random = np.random.default_rng(seed)
    lengths = np.clip(random.lognormal(math.log(length), 0.35, pairs), 3, 4 * length).astype(int)
    target_lengths = np.clip(lengths + random.integers(-2, 4, pairs), 3, None)

    def side(counts: np.ndarray, features: dict) -> SideExamples:
        ids = random.integers(5, vocabulary, counts.sum()).astype(np.int32)
        words = np.concatenate([np.arange(n) for n in counts]).astype(np.int32)
        return SideExamples(
            ids=Ragged.from_lengths(ids, counts), word_of_subword=Ragged.from_lengths(words, counts), features=features
        )

    source = side(lengths, trees(lengths, random))
    return Examples(id=np.arange(pairs), source=source, target=side(target_lengths, tags(target_lengths)))


def tags(lengths: np.ndarray) -> dict[str, Ragged]:
    """Draw tags of every sort for the words of every sentence; the sentences themselves stay the same."""
    random = np.random.default_rng(2)
    values = {name: random.integers(2, TAGS, lengths.sum()).astype(np.int32) for name in LABELS["target"]}
    return {name: Ragged.from_lengths(ids, lengths) for name, ids in values.items()}


def trees(lengths: np.ndarray, random: np.random.Generator) -> dict[str, Ragged]:
    """Draw a tree for every sentence, whose words have one subword each; a word's governor is any word before it."""
    governors = [np.array([GOVERNOR_OF_ROOT, *(random.integers(0, i) for i in range(1, n))]) for n in lengths]
    parents = np.concatenate([np.maximum(g, 0) for g in governors])
    columns = {
        "governor": np.concatenate(governors).astype(np.int32),
        "parent_position": parents.astype(np.float32),
    }
    for label_column, labels in LABELS["source"].items():
        columns[label_column] = random.integers(2, len(labels), lengths.sum()).astype(np.int32)
    return {name: Ragged.from_lengths(values, lengths) for name, values in columns.items()}


def batches_of(data: Examples, tokens: int, count: int) -> list[np.ndarray]:
    """Split the rows, sorted by length, into batches of `tokens` padded tokens; return `count` random batches."""
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


@dataclass(kw_only=True)
class Runner:
    """One model, its batches and its measurements."""

    name: str
    model: nn.Module
    loss: Callable[[Batch], Tensor]
    batches: list[Batch]
    precision: Callable[[], AbstractContextManager]
    seconds: list[tuple[float, float]] = field(default_factory=list)
    """Wall and CPU time of each step."""
    peak: int = 0
    """Peak memory in bytes."""

    def __post_init__(self) -> None:
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=1e-4, fused=True)

    def step(self, batch: Batch) -> None:
        """Run forward, backward and Adam."""
        self.optimiser.zero_grad(set_to_none=True)
        with self.precision():
            loss = self.loss(batch)
        loss.backward()
        self.optimiser.step()

    def state_bytes(self) -> int:
        """Count the bytes of parameters, buffers and Adam's moments."""
        state = [value for values in self.optimiser.state.values() for value in values.values()]
        return sum(t.numel() * t.element_size() for t in [*self.model.parameters(), *self.model.buffers(), *state])


def wait(device: str) -> None:
    """Wait until the device has finished its work."""
    if device != "cpu":
        torch.cuda.synchronize()


def time_steps(runners: list[Runner], repeats: int, device: str) -> None:
    """Time all models in turn on every batch; the first round is a warm-up."""
    for repeat in range(repeats + 1):
        for i in range(len(runners[0].batches)):
            for runner in runners:
                start, start_cpu = time.perf_counter(), time.process_time()
                runner.step(runner.batches[i])
                wait(device)
                if repeat:
                    runner.seconds.append((time.perf_counter() - start, time.process_time() - start_cpu))


def peak_of(runner: Runner, batch: Batch, device: str) -> int:
    """Return the peak memory of a step in bytes, including the model's state."""
    runner.optimiser.zero_grad(set_to_none=True)
    if device == "cpu":
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
            runner.step(batch)
        return runner.state_bytes() + _peak_of_trace(profiler)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    runner.step(batch)
    wait(device)
    return runner.state_bytes() + torch.cuda.max_memory_allocated() - before


def _peak_of_trace(profiler: profile) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    moves = sorted((e["ts"], e["args"]["Bytes"]) for e in events if e.get("name") == "[memory]")
    return int(np.cumsum([size for _, size in moves]).max(initial=0))


def runners_of(
    settings: TransformerSettings, data: Examples, rows: list[np.ndarray], options: argparse.Namespace
) -> list[Runner]:
    """Build PyTorch's transformer, ours, and ours with the components of each system."""
    size, device = options.vocabulary, options.device
    sizes = {"transformer": settings, "recurrent": RecurrentSettings(width=settings.width, dropout=settings.dropout)}

    def runner(name: str, model: nn.Module, loss: Callable[[Batch], Tensor], components: Sequence[Component]) -> Runner:
        return Runner(
            name=name,
            model=model,
            loss=loss,
            batches=[make_batch(data, chosen, components, device) for chosen in rows],
            precision=nullcontext,
        )

    reference = Reference(settings, size).to(device)
    runners = [runner(REFERENCE, reference, reference, ())]
    for name in [BASE, *options.systems]:
        model = random_model(name, sizes, vocabulary=size, labels=LABELS).to(device)
        runners.append(runner(name, model, loss_of(model), tuple(model.components)))
    return runners


def loss_of(model: TranslationModel) -> Callable[[Batch], Tensor]:
    """Return a function that computes the loss of a batch."""
    return lambda batch: model.loss(batch, label_smoothing=SMOOTHING).objective()


def report(runners: list[Runner]) -> None:
    """Print the table."""
    times = {runner.name: np.array(runner.seconds) for runner in runners}
    tokens = statistics.mean(batch.tokens for batch in runners[0].batches)
    peak = {runner.name: runner.peak for runner in runners}[BASE]
    print(f"{'':28}{'ms':>8}{'CPU ms':>8}{'tokens/s':>10}{'/ torch':>9}{'/ base':>8}{'CPU':>6}", end="")
    print(f"{'published':>11}{'MiB':>8}{'/ base':>8}")
    for runner in runners:
        own = times[runner.name]
        wall, cpu = np.median(own, axis=0)
        ratios = [np.median(own[:, 0] / times[base][:, 0]) for base in (REFERENCE, BASE)]
        ratios.append(np.median(own[:, 1] / times[BASE][:, 1]))
        published = PUBLISHED.get(re.sub(r"_l\d$", "", runner.name), "")
        print(f"{runner.name:28}{1000 * wall:8.1f}{1000 * cpu:8.1f}{tokens / wall:10,.0f}{ratios[0]:9.2f}", end="")
        print(f"{ratios[1]:8.2f}{ratios[2]:6.2f}{published:>11}", end="")
        print(f"{runner.peak / 2**20:8.1f}{runner.peak / peak:8.2f}", flush=True)


def main() -> None:
    """Read the options, run the measurements and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="systems of the configuration [depparse_l1]")
    for name, default in [("width", 128), ("layers", 3), ("heads", 4), ("feed-forward", 512), ("vocabulary", 6000)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--tokens", type=int, default=2048, help="padded tokens per batch")
    parser.add_argument(
        "--length", type=float, default=13.5, help="median subwords per sentence; image captions have 13.5"
    )
    parser.add_argument("--repeats", type=int, default=12, help="rounds over the batches")
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    options.systems = options.systems or ["depparse_l1"]
    named_device(options.device)
    torch.set_num_threads(options.threads)
    settings = TransformerSettings(
        width=options.width,
        feed_forward=options.feed_forward,
        heads=options.heads,
        encoder_layers=options.layers,
        decoder_layers=options.layers,
        # torch.nn.Transformer has a single dropout rate.
        attention_dropout=0.1,
        activation_dropout=0.1,
    )
    data = examples(5000, options.vocabulary, seed=0, length=options.length)
    rows = batches_of(data, options.tokens, options.batches)
    print(f"{settings}\nvocabulary {options.vocabulary}, {options.tokens} padded tokens per batch, {options.device}")
    runners = runners_of(settings, data, rows, options)
    time_steps(runners, options.repeats, options.device)
    for runner in runners:
        runner.peak = max(peak_of(runner, batch, options.device) for batch in runner.batches)
    report(runners)


if __name__ == "__main__":
    main()
