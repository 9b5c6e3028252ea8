"""Sinusoidal positions (Vaswani et al. 2017, section 3.5) for sentences of any length."""

import torch
from torch import Tensor, nn


class Sinusoids(nn.Module):
    """Adds `PE(p, 2i) = sin(p / 10000^(2i/D))`, `PE(p, 2i+1) = cos(...)` to vectors; its table grows as needed."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("table_PD", torch.zeros(0, width), persistent=False)

    def forward(self, embedded: Tensor, *, start: int = 0) -> Tensor:
        """Add the encodings of positions start, start+1... to vectors of shape (B, S, D) or (B, T, D)."""
        stop = start + embedded.size(1)
        table_PD = self.table_PD
        if table_PD.size(0) < stop or table_PD.dtype != embedded.dtype or table_PD.device != embedded.device:
            length = max(256, 1 << (stop - 1).bit_length())
            table_PD = sinusoids(length, self.table_PD.size(1)).to(embedded)
            self.table_PD = table_PD
        return embedded + table_PD[start:stop]


def sinusoids(length: int, width: int) -> Tensor:
    """Compute the table in float64: (length, width)."""
    positions_P1 = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    rates_I = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles_PI = positions_P1 * rates_I
    return torch.stack([angles_PI.sin(), angles_PI.cos()], dim=-1).flatten(1)
