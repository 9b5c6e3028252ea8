"""The gradient of one update: the same whatever it is cut into and however many devices share it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

import numpy as np
import torch
from torch import nn

from nmtcore.config.training import TrainingSettings
from nmtcore.features.examples import Examples
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.components.base import Component
from nmtcore.model.losses import TRANSLATION, Losses


def loss_names(components: Sequence[Component]) -> tuple[str, ...]:
    """Name the terms of the objective: the translation's, then those of the components that have one."""
    return (TRANSLATION, *(c.name for c in components if type(c).loss is not Component.loss))


def count(batches: Sequence[Batch], names: Sequence[str]) -> list[int]:
    """Count what each term of the objective is a sum over: target tokens, then the supervised words.

    A term that a batch is not for has no count there.
    """
    return [sum(batch.counts.get(name, 0) for batch in batches) for name in names]


def accumulate(
    model: nn.Module,
    batches: Sequence[Batch],
    counts: dict[str, float],
    settings: TrainingSettings,
    device: torch.device,
) -> torch.Tensor:
    """Add up the gradients of this device's batches, each term of the objective divided by its global count.

    Gives the sums of this device, float64 (2 + terms): its part of the objective, the negative log-likelihood, then
    every term in the order of `counts`.
    """
    sums = torch.zeros(2 + len(counts), dtype=torch.float64, device=device)
    for batch in batches:
        with precision(settings, device):
            losses = model.loss(batch, label_smoothing=settings.label_smoothing, smoothing_over=settings.smoothing_over)
        objective = losses.objective(counts)
        objective.backward()
        sums += torch.stack([objective.detach().double(), losses.nll_sum.double(), *term_sums(losses, counts)])
    return sums


def term_sums(losses: Losses, names: Sequence[str]) -> list[torch.Tensor]:
    """Give the sum of every term, float64 without gradient; zero for one that the batch has not."""
    found = {part.name: part.sum.detach().double() for part in losses.parts}
    return [found.get(name, torch.zeros_like(losses.nll_sum, dtype=torch.float64)) for name in names]


def load(
    examples: Examples, shares: Sequence[np.ndarray], components: Sequence[Component], device: torch.device
) -> list[Batch]:
    """Make the batches of some lists of rows."""
    return [make_batch(examples, rows, components, device=device) for rows in shares]


def precision(settings: TrainingSettings, device: torch.device) -> AbstractContextManager:
    """Compute in bf16 on a GPU where the settings ask for it; weights, sums and losses stay fp32."""
    wanted = settings.precision == "bf16" and device.type == "cuda"
    return torch.autocast(device.type, torch.bfloat16, enabled=wanted)


def seed_update(seed: int, update: int, rank: int) -> None:
    """Set torch's random state for one update (its dropout) on one device.

    So the state is a function of (seed, update, rank): nothing else that draws random numbers, validation say, and no
    resumption can change it.
    """
    torch.manual_seed(int(np.random.SeedSequence((seed, update, rank)).generate_state(1, np.uint64)[0] >> np.uint64(1)))
