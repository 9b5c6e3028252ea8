"""Random output layers, and losses that must be equal, for tests of the ways to compute the loss."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nmtcore.model.losses import CrossEntropy

OVER = ["all", "others", "others_but_padding"]
"""The ways to smooth."""


def random_output_layer(
    tokens: int, entries: int, *, biased: bool, seed: int
) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    """Draw float64 states, a weight and perhaps a bias, all of which have gradients, and targets without padding."""
    torch.manual_seed(seed)
    targets = torch.randint(1, entries, (tokens,))
    sizes = [(tokens, 4), (entries, 4), (entries,)]
    states, weight, bias = (torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes)
    return states, weight, bias if biased else None, targets


def assert_same_losses(losses: CrossEntropy, expected: CrossEntropy, inputs: Sequence[Tensor]) -> None:
    """Compare two losses, and their gradients with respect to the same inputs."""
    torch.testing.assert_close(losses, expected)
    gradients = [torch.autograd.grad(1.7 * loss.smoothed, inputs) for loss in (losses, expected)]
    torch.testing.assert_close(*gradients)
