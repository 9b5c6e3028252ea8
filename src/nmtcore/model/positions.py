"""Sinusoidal positions (Vaswani et al. 2017, section 3.5) for sentences of any length."""

import torch
from torch import Tensor, nn


class Sinusoids(nn.Module):
    """Adds `PE(p, 2i) = sin(p / 10000^(2i/D))`, `PE(p, 2i+1) = cos(...)` to vectors; its table grows as needed."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("table_PD", torch.zeros(0, width), persistent=False)

    def forward(self, embedded: Tensor) -> Tensor:
        """Add the encodings of positions 0, 1... to vectors of shape (B, S, D) or (B, T, D)."""
        length = embedded.size(1)
        return embedded + self._table(length, embedded)[:length]

    def add_position(self, embedded_RD: Tensor, position: int) -> Tensor:
        """Add the encoding of one position to all vectors."""
        return embedded_RD + self._table(position + 1, embedded_RD)[position]

    def _table(self, positions: int, embedded: Tensor) -> Tensor:
        table_PD = self.table_PD
        if table_PD.size(0) < positions or table_PD.dtype != embedded.dtype or table_PD.device != embedded.device:
            length = max(256, 1 << (positions - 1).bit_length())
            table_PD = sinusoids(length, table_PD.size(1)).to(embedded)
            self.table_PD = table_PD
        return table_PD


def sinusoids(length: int, width: int) -> Tensor:
    """Compute the table in float64: (length, width)."""
    positions_P1 = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    rates_I = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles_PI = positions_P1 * rates_I
    return torch.stack([angles_PI.sin(), angles_PI.cos()], dim=-1).flatten(1)
