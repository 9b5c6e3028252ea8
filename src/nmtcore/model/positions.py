"""Sinusoidal positions (Vaswani et al. 2017, section 3.5), to any length.

B batch, S length, D width.
"""

import torch
from torch import Tensor, nn


class Sinusoids(nn.Module):
    """Adds `PE(p, 2i) = sin(p / 10000^(2i/D))`, `PE(p, 2i+1) = cos(...)` to vectors; the table grows when needed."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("table_PD", torch.zeros(0, width), persistent=False)

    def forward(self, embedded_BSD: Tensor, *, start: int = 0) -> Tensor:
        """Add the positions start, start+1... to `embedded_BSD`."""
        stop = start + embedded_BSD.size(1)
        table_PD = self.table_PD
        if table_PD.size(0) < stop or table_PD.dtype != embedded_BSD.dtype or table_PD.device != embedded_BSD.device:
            length = max(256, 1 << (stop - 1).bit_length())
            table_PD = sinusoids(length, self.table_PD.size(1)).to(embedded_BSD)
            self.table_PD = table_PD
        return embedded_BSD + table_PD[start:stop]


def sinusoids(length: int, width: int) -> Tensor:
    """Compute the table (length, width) in float64."""
    positions_P1 = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    rates_I = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles_PI = positions_P1 * rates_I
    return torch.stack([angles_PI.sin(), angles_PI.cos()], dim=-1).flatten(1)
