"""Time training on a GPU beside Hugging Face's Marian: speed, share of the card's peak, memory, cost of components.

    python benchmarks/gpu.py [--size base] [--vocabulary 32000] [--precision bf16]
    python benchmarks/gpu.py --device cpu --size tiny --vocabulary 6003 --tokens 1024 --length 13.5 --batches 3

A step of nmtcore is an update as in training: losses, gradients, their norm, Adam. Marian (`pip install transformers`;
`--no-marian` leaves it out) has random weights, the same size and batches, a smoothed loss, autocast and fused Adam.
Rounds are interleaved after a warm-up, and figures are medians. The peak is that of a large matrix product in the same
run; the share counts 6 operations for each weight of a matrix and each real token. "compiled" has `machine.compile`
(`--no-compile` leaves it out, and the minutes that it takes). On a CPU, all computations are in fp32.
"""

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from random_models import random_model
from step import LABELS, SMOOTHING, Runner, batches_of, examples, peak_of, time_steps
from torch import Tensor, nn

from nmtcore.config.training import RecurrentSettings, TrainingSettings, TransformerSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.device import explain_out_of_memory, measured_peak, named_device
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD
from nmtcore.training.update import (
    Adam,
    accumulate_gradients,
    autocast,
    count_terms,
    term_names,
    tf32,
    update_operations,
    used_precision,
)
from nmtcore.training.world import World

OURS, MARIAN = "transformer_base", "Marian"
SIZES = {
    "tiny": {"width": 128, "feed_forward": 512, "heads": 8, "encoder_layers": 2, "decoder_layers": 2},
    "base": {"width": 512, "feed_forward": 2048, "heads": 8, "encoder_layers": 6, "decoder_layers": 6},
    "big": {"width": 1024, "feed_forward": 4096, "heads": 16, "encoder_layers": 6, "decoder_layers": 6},
}
SYSTEMS = ["depparse_l1", "pascal", "relative_tree_traversal", "tree_distance_5", "sisa", "sennrich_haddow"]
SYSTEMS += ["tag_attention", "multitask"]


class RunnersAdam(Adam):
    """Adam as in training, which drops the gradients itself."""

    def zero_grad(self, *, set_to_none: bool) -> None:
        """Do nothing."""


@dataclass(kw_only=True)
class UpdateRunner(Runner):
    """Runs whole updates as training does."""

    settings: TrainingSettings
    device: torch.device

    def __post_init__(self) -> None:
        self.parameters = dict(self.model.named_parameters())
        self.optimiser = RunnersAdam(self.parameters, self.settings)
        self.world = World(device=self.device)

    def step(self, batch: Batch) -> None:
        """Do an update of one batch."""
        parameters = list(self.parameters.values())
        counts = count_terms([batch], term_names(self.model.components))
        accumulate_gradients(self.model, [batch], counts, self.settings, self.device)
        self.world.sum_gradients(parameters)
        nn.utils.clip_grad_norm_(parameters, math.inf)
        self.optimiser.step(rate=1e-4)

    def state_bytes(self) -> int:
        """Count the bytes of parameters, buffers and Adam's moments."""
        state = [*self.model.parameters(), *self.model.buffers(), *self.optimiser.tensors().values()]
        return sum(tensor.numel() * tensor.element_size() for tensor in state)


def marian(settings: TransformerSettings, vocabulary: int) -> nn.Module:
    """Build Hugging Face's Marian in this size, with random weights."""
    from transformers import MarianConfig, MarianMTModel

    layers = {
        f"{side}_{name}": value
        for side, count in [("encoder", settings.encoder_layers), ("decoder", settings.decoder_layers)]
        for name, value in [
            ("layers", count), ("ffn_dim", settings.feed_forward), ("attention_heads", settings.heads),
        ]
    }  # fmt: skip
    config = MarianConfig(
        vocab_size=vocabulary,
        d_model=settings.width,
        **layers,
        activation_function="relu",
        dropout=settings.dropout,
        attention_dropout=settings.attention_dropout,
        activation_dropout=settings.activation_dropout,
        scale_embedding=True,
        use_cache=False,
        max_position_embeddings=1024,
        pad_token_id=PAD,
        bos_token_id=BOS,
        eos_token_id=EOS,
        forced_eos_token_id=EOS,
        decoder_start_token_id=BOS,
    )
    return MarianMTModel(config).train()


def marian_loss(model: nn.Module) -> Callable[[Batch], Tensor]:
    """Return a function that computes the smoothed loss of a batch."""

    def loss(batch: Batch) -> Tensor:
        output = model(
            input_ids=batch.source_BS,
            attention_mask=batch.source_mask_BS,
            decoder_input_ids=batch.target_input_BT,
            decoder_attention_mask=batch.target_output_BT != PAD,
        )
        targets_N = batch.target_output_BT.flatten()
        total = F.cross_entropy(
            output.logits.flatten(0, 1), targets_N, ignore_index=PAD, label_smoothing=SMOOTHING, reduction="sum"
        )
        return total / batch.tokens

    return loss


def runners_of(
    size: TransformerSettings,
    training: TrainingSettings,
    data: Examples,
    rows: list[np.ndarray],
    options: argparse.Namespace,
) -> Iterator[Runner]:
    """Build our transformer, Marian unless it is left out, and the systems."""
    device, vocabulary = torch.device(options.device), options.vocabulary
    sizes = {"transformer": size, "recurrent": RecurrentSettings(width=2 * size.width)}

    def common(name: str, model: nn.Module, loss: Callable[[Batch], Tensor]) -> dict:
        components = getattr(model, "components", ())
        batches = [make_batch(data, chosen, components, device) for chosen in rows]
        return {
            **{"name": name, "model": model, "loss": loss, "batches": batches},
            "precision": lambda: autocast(training, device),
        }

    for name in dict.fromkeys([OURS, *options.systems]):
        model = random_model(name, sizes, vocabulary=vocabulary, labels=LABELS)
        model = model.to(device).train()
        yield UpdateRunner(**common(name, model, model.loss), settings=training, device=device)
        if name == OURS and options.compile:
            copy = deepcopy(model)
            copy.compile_parts(dynamic=True)
            runner = UpdateRunner(**common(f"{name}, compiled", copy, copy.loss), settings=training, device=device)
            start = time.perf_counter()
            runner.step(runner.batches[0])
            print(f"Compiled in {time.perf_counter() - start:.0f} s.")
            yield runner
        if name == OURS and options.marian:
            other = marian(size, vocabulary).to(device)
            yield Runner(**common(MARIAN, other, marian_loss(other)))


def report(runners: list[Runner], peak: float) -> None:
    """Print the table."""
    batches = runners[0].batches
    operations = [update_operations(runners[0].model, [batch]) for batch in batches]
    columns = {"parameters": 14, "ms": 10, "target tokens/s": 18, "% of the peak": 16, "peak MiB": 11}
    header = "".join(f"{column:>{width}}" for column, width in columns.items())
    print(f"{'':28}{header}{'time / ' + OURS:>26}")
    first = [wall for wall, _ in runners[0].seconds]
    for runner in runners:
        walls = [wall for wall, _ in runner.seconds]
        speeds = [batches[i % len(batches)].tokens / wall for i, wall in enumerate(walls)]
        shares = [operations[i % len(batches)] / wall / peak for i, wall in enumerate(walls)]
        trained = sum(p.numel() for p in runner.model.parameters() if p.requires_grad)
        ratio = statistics.median(wall / own for wall, own in zip(walls, first, strict=True))
        print(
            f"{runner.name:28}{trained:14,}{1000 * statistics.median(walls):10.1f}{statistics.median(speeds):18,.0f}"
            f"{100 * statistics.median(shares):16.1f}{runner.peak / 2**20:11,.0f}{ratio:26.2f}",
            flush=True,
        )


def main() -> None:
    """Run the measurements, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--size", choices=SIZES, default="base")
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--precision", choices=["bf16", "tf32", "fp32"], default="bf16")
    parser.add_argument("--systems", nargs="*", default=SYSTEMS, help="each with one component [%(default)s]")
    parser.add_argument("--tokens", type=int, default=16384, help="padded tokens per batch [%(default)s]")
    parser.add_argument("--length", type=float, default=30, help="median subwords per sentence [%(default)s]")
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5, help="rounds over the batches [%(default)s]")
    parser.add_argument("--marian", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True)
    options = parser.parse_args()
    device = named_device(options.device)
    torch.set_num_threads(1)
    torch.manual_seed(1)
    training = TrainingSettings(precision=options.precision, max_updates=1, label_smoothing=SMOOTHING)
    size = TransformerSettings(**SIZES[options.size], norm="post", attention_dropout=0.1, activation_dropout=0.1)
    pairs = 4 * options.batches * int(options.tokens / options.length)
    data = examples(pairs, options.vocabulary, seed=0, length=options.length)
    rows = batches_of(data, options.tokens, options.batches)
    with tf32(training, device):
        used = used_precision(training, device)
        peak = measured_peak(device, used, width=1024 if device.type == "cpu" else 8192)
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
        print(f"{name}, torch {torch.__version__}, {used}: measured peak {peak / 1e12:,.3g} TFLOP/s")
        runners = list(runners_of(size, training, data, rows, options))
        time_steps(runners, options.rounds, options.device)
        for runner in runners:
            runner.peak = max(peak_of(runner, batch, options.device) for batch in runner.batches)
    report(runners, peak)


if __name__ == "__main__":
    try:
        with explain_out_of_memory("Lower --tokens."):
            main()
    except UserError as error:
        sys.exit(str(error))
