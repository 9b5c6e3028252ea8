"""Adam, and the length of the gradient."""

from collections.abc import Sequence

import torch
from torch import nn

from nmtcore.config.training import TrainingSettings


def make_optimiser(parameters: Sequence[nn.Parameter], settings: TrainingSettings) -> torch.optim.Optimizer:
    """Make Adam (Kingma and Ba 2015), or AdamW (Loshchilov and Hutter 2019) where the weights decay.

    The learning rate is set before every update.
    """
    kind = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam
    return kind(
        parameters,
        lr=0.0,
        betas=settings.betas,
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
        fused=True,
    )


def step(optimiser: torch.optim.Optimizer, *, rate: float) -> None:
    """Move the weights with learning rate `rate`, and forget the gradients."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)


def clip(parameters: Sequence[nn.Parameter], longest: float | None) -> torch.Tensor:
    """Give the L2 norm of the whole gradient; where it is longer than `longest`, scale the gradient down to that."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = nn.utils.get_total_norm(gradients)
    if longest is not None:
        nn.utils.clip_grads_with_norm_(parameters, longest, norm)
    return norm
