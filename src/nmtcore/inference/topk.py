"""Selection of the best extensions of a sentence's beams, without sorting the vocabulary."""

from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

SMALLEST_GROUP, LARGEST_GROUP = 8, 32
"""Vocabulary entries per group, of small and of large vocabularies."""
BEST_BY_NUMPY = True
"""Whether NumPy finds the best entries on a CPU: in a tenth of torch's time (docs/benchmarks.md)."""


Values = TypeVar("Values", Tensor, np.ndarray)


class Extensions(NamedTuple, Generic[Values]):
    """The C best extensions of each sentence's beams by one token, best first; on a device, or on the host."""

    log_probability_BC: Values
    """Log probability of the extended beam."""
    beam_BC: Values
    """The beam that is extended."""
    token_BC: Values
    """The token that extends it."""


def best_extensions(log_probability_BM: Tensor, next_BMV: Tensor, *, count: int) -> Extensions[Tensor]:
    """Find the `count` best extensions of each sentence's beams (M * V if there are fewer).

    `log_probability_BM` and `next_BMV` are the log probabilities of the beams and of the next tokens given each beam.

    Group g of G has the entries g, g + G, g + 2G...; the entries after the last whole round are in no group. The C best
    entries are in the C groups with the best maxima, or in no group.
    """
    sentences, beams, vocabulary = next_BMV.shape
    count = min(count, beams * vocabulary)
    size = group_size(vocabulary)
    groups = vocabulary // size
    grouped = groups * size
    maximum_BMG = next_BMV[:, :, :grouped].unflatten(2, (size, groups)).amax(dim=2)
    log_probability_BMG = maximum_BMG + log_probability_BM[:, :, None]
    group_BO = log_probability_BMG.flatten(1).topk(min(count, beams * groups), dim=1, sorted=False).indices
    beam_BO = group_BO // groups
    # Of entry v of beam m, m * V + v; X counts the entries of the chosen groups.
    first_BO = group_BO + beam_BO * (vocabulary - groups)
    rounds_S = torch.arange(size, device=next_BMV.device) * groups
    index_BX = (first_BO[:, :, None] + rounds_S).flatten(1)
    next_BOS = next_BMV.flatten(1).gather(1, index_BX).view(*beam_BO.shape, size)
    value_BX = (next_BOS + log_probability_BM.gather(1, beam_BO)[:, :, None]).flatten(1)
    if grouped < vocabulary:
        every_MV = torch.arange(beams * vocabulary, device=next_BMV.device).view(beams, vocabulary)
        index_BX = torch.cat([index_BX, every_MV[:, grouped:].flatten().expand(sentences, -1)], dim=1)
        rest_BMV = next_BMV[:, :, grouped:] + log_probability_BM[:, :, None]
        value_BX = torch.cat([value_BX, rest_BMV.flatten(1)], dim=1)
    value_BC, chosen_BC = value_BX.topk(count, dim=1)
    index_BC = index_BX.gather(1, chosen_BC)
    beam_BC = index_BC // vocabulary
    return Extensions(
        log_probability_BC=value_BC,
        beam_BC=beam_BC,
        token_BC=index_BC - beam_BC * vocabulary,
    )


def best_entries(values_RV: Tensor) -> Tensor:
    """Find the largest entry of each row, the first if there are several (R); NaN counts as the largest."""
    if BEST_BY_NUMPY and values_RV.device.type == "cpu" and values_RV.dtype in (torch.float32, torch.float64):
        return torch.from_numpy(values_RV.numpy().argmax(axis=1))
    return values_RV.argmax(dim=1)


def group_size(vocabulary: int) -> int:
    """Compute the entries per group: few groups of many entries, or many of few, take longer (docs/benchmarks.md)."""
    return min(LARGEST_GROUP, max(SMALLEST_GROUP, vocabulary // 500))
