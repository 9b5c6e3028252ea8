"""Selection of the best extensions of a sentence's beams, without sorting the vocabulary."""

from typing import NamedTuple

import torch
from torch import Tensor

GROUP = 32
"""Vocabulary entries per group. The C best entries lie in the C groups with the best maxima."""


class Extensions(NamedTuple):
    """The C best extensions of each sentence's beams by one token, best first."""

    log_probability_BC: Tensor
    """Log probability of the extended beam."""
    beam_BC: Tensor
    """The beam that is extended."""
    token_BC: Tensor
    """The token that extends it."""


def best_extensions(log_probability_BM: Tensor, next_BMV: Tensor, *, count: int) -> Extensions:
    """Find the `count` best extensions of each sentence's beams (M * V if there are fewer).

    `log_probability_BM` and `next_BMV` are the log probabilities of the beams and of the next tokens given each beam.
    """
    _, beams, vocabulary = next_BMV.shape
    count = min(count, beams * vocabulary)
    maximum_BMG = _group_maxima(next_BMV)
    groups = maximum_BMG.shape[2]
    log_probability_BMG = maximum_BMG + log_probability_BM[:, :, None]
    group_BO = log_probability_BMG.flatten(1).topk(min(count, beams * groups), dim=1, sorted=False).indices
    offsets = torch.arange(GROUP, device=next_BMV.device)
    token_BX = ((group_BO % groups * GROUP)[:, :, None] + offsets).flatten(1)
    beam_BX = (group_BO // groups).repeat_interleave(GROUP, dim=1)
    index_BX = beam_BX * vocabulary + token_BX.clamp_max(vocabulary - 1)
    value_BX = next_BMV.flatten(1).gather(1, index_BX) + log_probability_BM.gather(1, beam_BX)
    # The last group may reach past the end of the vocabulary: what lies there counts as the last entry, at -inf.
    outside_BX = token_BX >= vocabulary
    value_BC, chosen_BC = value_BX.masked_fill(outside_BX, -torch.inf).topk(count, dim=1)
    return Extensions(
        log_probability_BC=value_BC,
        beam_BC=beam_BX.gather(1, chosen_BC),
        token_BC=token_BX.gather(1, chosen_BC).clamp_max(vocabulary - 1),
    )


def _group_maxima(next_BMV: Tensor) -> Tensor:
    """Compute the maximum of each group of `GROUP` neighbouring entries; the last group may be smaller."""
    whole = next_BMV.shape[2] // GROUP * GROUP
    maximum_BMG = next_BMV[:, :, :whole].unflatten(2, (-1, GROUP)).amax(dim=3) if whole else next_BMV[:, :, :0]
    if whole == next_BMV.shape[2]:
        return maximum_BMG
    return torch.cat([maximum_BMG, next_BMV[:, :, whole:].amax(dim=2, keepdim=True)], dim=2)
