"""The gradient of one update, independent of the number of micro-batches and devices."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from nmtcore.config.training import TrainingSettings
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import Component
from nmtcore.model.losses import TRANSLATION, Losses
from nmtcore.model.trees import TooLongForTrees


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
    *,
    log: Callable[[str], None] = print,
) -> dict[str, Tensor]:
    """Add up the gradients of this device's batches, each term of the objective divided by its count in the update.

    `counts` are those of all devices. A sentence whose trees do not fit into memory is counted, but adds nothing; `log`
    gets its id. Returns this device's `loss_sums`, and its part of the "objective".
    """
    sums = {"objective": torch.zeros((), dtype=torch.float64, device=device), **loss_sums(tuple(counts), device)}
    for batch in batches:
        with autocast(settings, device):
            losses = _possible_losses(model, batch, settings, log)
        if losses is None:
            continue
        objective = losses.objective(counts)
        if objective.requires_grad:  # the weights of all terms of a batch may be 0
            objective.backward()
        sums["objective"] += objective.detach()
        add_losses(sums, losses)
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


def loss_sums(names: Sequence[str], device: torch.device) -> dict[str, Tensor]:
    """Return zeros (float64) to add the losses of batches to: "nll", and "loss/{name}" for each term."""
    keys = ("nll", *(f"loss/{name}" for name in names))
    return {key: torch.zeros((), dtype=torch.float64, device=device) for key in keys}


def add_losses(sums: Mapping[str, Tensor], losses: Losses) -> None:
    """Add the losses of a batch to sums; a term that the batch does not train adds nothing."""
    sums["nll"].add_(losses.nll_sum)
    for part in losses.parts:
        sums[f"loss/{part.name}"].add_(part.sum.detach())


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


def precision_message(settings: TrainingSettings, device: torch.device) -> str:
    """Say in which precision a GPU trains."""
    used = used_precision(settings, device)
    return f"Training in {used}{'' if used == settings.precision else f': this GPU has no {settings.precision}'}."


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
