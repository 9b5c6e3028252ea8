"""The gradient of one update, independent of the number of micro-batches and devices."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import numpy as np
import torch
from torch import nn

from nmtcore.config.training import TrainingSettings
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import Component
from nmtcore.model.losses import TRANSLATION, Losses
from nmtcore.model.trees import TooLongForTrees
from nmtcore.training.loss_sums import UpdateSums
from nmtcore.training.weight_copies import WeightCopies


def term_names(components: Sequence[Component]) -> tuple[str, ...]:
    """Name the terms of the objective: the translation's, then those of the components that have a loss."""
    return (TRANSLATION, *(c.name for c in components if c.has_loss))


def count_terms(batches: Sequence[Batch], names: Sequence[str]) -> dict[str, int]:
    """Count what each term of the objective is a sum over: target tokens, or the words that a component supervises.

    A batch that does not train a term adds nothing to its count.
    """
    return {name: sum(batch.counts.get(name, 0) for batch in batches) for name in names}


def accumulate_gradients(
    model: nn.Module,
    batches: Sequence[Batch],
    counts: Mapping[str, float],
    settings: TrainingSettings,
    device: torch.device,
    copies: WeightCopies | None = None,
    *,
    log: Callable[[str], None] = print,
) -> torch.Tensor:
    """Add up the gradients of this device's batches, each term of the objective divided by its count in the update.

    `counts` are those of all devices; the result is the same with and without `copies` of the weights. A sentence whose
    trees do not fit into memory is counted, but adds nothing; `log` gets its id. Return this device's sums, packed by
    `UpdateSums.pack` in the order of `counts`.
    """
    names = tuple(counts)
    sums = torch.zeros(2 + len(names), dtype=torch.float64, device=device)
    if copies is not None:
        copies.refresh()
    for batch in batches:
        with autocast(settings, device), nullcontext() if copies is None else copies.in_use():
            losses = _possible_losses(model, batch, settings, log)
        if losses is None:
            continue
        objective = losses.objective(counts)
        if objective.requires_grad:  # the weights of all terms of a batch may be 0
            objective.backward()
            if copies is not None:
                copies.move_gradients()
        sums += UpdateSums.pack(losses, objective, names)
    return sums


def _possible_losses(
    model: nn.Module, batch: Batch, settings: TrainingSettings, log: Callable[[str], None]
) -> Losses | None:
    """Compute the losses of a batch without the sentences whose trees do not fit into memory; None if none remain."""
    while len(batch):
        try:
            return model.loss(
                batch,
                label_smoothing=settings.label_smoothing,
                smoothing_over=settings.smoothing_over,
                loss_chunk=settings.loss_chunk,
            )
        except TooLongForTrees as error:
            log(f"An update leaves out a sentence: {error.problem}.")
            batch = batch.without(error.row)
    return None


def autocast(settings: TrainingSettings, device: torch.device) -> AbstractContextManager:
    """Compute in bf16 on a GPU if the settings say so; weights, sums and losses stay fp32."""
    return torch.autocast(device.type, torch.bfloat16, enabled=used_precision(settings, device) == "bf16")


def used_precision(settings: TrainingSettings, device: torch.device) -> str:
    """Return the precision in which a device trains: fp32 on a CPU, and in place of bf16 on a GPU without it."""
    if device.type != "cuda":
        return "fp32"
    if settings.precision == "bf16" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return "fp32"
    return settings.precision


def weight_copies(settings: TrainingSettings, model: nn.Module, device: torch.device) -> WeightCopies | None:
    """Make the copies of the weights with which `accumulate_gradients` computes, if it computes in bf16."""
    return WeightCopies(model) if settings.weight_copies and used_precision(settings, device) == "bf16" else None


@contextmanager
def tf32(settings: TrainingSettings, device: torch.device) -> Iterator[None]:
    """Compute fp32 matrix products with inputs in TF32 on a GPU, within a block, if the settings say so."""
    before = torch.get_float32_matmul_precision()
    if used_precision(settings, device) == "tf32":
        torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def seed_update(seed: int, update: int, rank: int) -> None:
    """Set torch's random state for the dropout of one update on one device.

    The state is a function of (seed, update, rank), so that neither resuming nor anything else that draws random
    numbers, such as validation, changes it.
    """
    torch.manual_seed(int(np.random.SeedSequence((seed, update, rank)).generate_state(1, np.uint64)[0] >> np.uint64(1)))
