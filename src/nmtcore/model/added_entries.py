"""Entries added to the vocabulary while the loss is computed: GPUs are slow at matrix products of odd sizes.

An added entry has probability 0, so that no result changes; parameters and files have the vocabulary's true size.
Decoding adds none: a step scores few positions, for which copying the matrix would cost more than it gains.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

MULTIPLE = 64
"""With a multiple of so many entries, the rows of logits are aligned in any precision; 1: none are added."""


def added_entries(entries: int, device: torch.device) -> int:
    """Return how many entries are added to so many: on a GPU, up to the next multiple of `MULTIPLE`; on a CPU, none."""
    return -entries % MULTIPLE if device.type == "cuda" else 0


def add_entries(weight_VD: Tensor, bias_V: Tensor | None, added: int) -> tuple[Tensor, Tensor | None]:
    """Add entries whose logits are always -inf to the weight and bias of an output layer."""
    if not added:
        return weight_VD, bias_V
    bias_V = weight_VD.new_zeros(len(weight_VD)) if bias_V is None else bias_V
    return F.pad(weight_VD, (0, 0, 0, added)), F.pad(bias_V, (0, added), value=float("-inf"))
