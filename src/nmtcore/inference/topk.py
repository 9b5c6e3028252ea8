"""The best extensions of all beams of a sentence, without sorting the vocabulary.

N sentences, K beams, V vocabulary, G groups of entries of one beam, C candidates, M = C * GROUP.
"""

import torch
from torch import Tensor

GROUP = 32
"""Entries in a group. The C best entries lie in the C groups whose best entries are best."""


def best_extensions(score_NK: Tensor, next_NKV: Tensor, *, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Find the `count` largest of `score_NK + next_NKV` for each sentence.

    Gives three (N, C) in falling order of value: the sum, the beam, the entry. C is `count`, or K * V if that is less.
    """
    _, beams, vocabulary = next_NKV.shape
    count = min(count, beams * vocabulary)
    group_NKG = _group_maxima(next_NKV)
    groups = group_NKG.shape[2]
    maximum_NG = (group_NKG + score_NK[:, :, None]).flatten(1)
    group_NC = maximum_NG.topk(min(count, beams * groups), dim=1, sorted=False).indices
    within = torch.arange(GROUP, device=next_NKV.device)
    token_NM = ((group_NC % groups * GROUP)[:, :, None] + within).flatten(1)
    beam_NM = (group_NC // groups).repeat_interleave(GROUP, dim=1)
    place_NM = beam_NM * vocabulary + token_NM.clamp_max(vocabulary - 1)
    value_NM = next_NKV.flatten(1).gather(1, place_NM) + score_NK.gather(1, beam_NM)
    # The last group reaches over the vocabulary's end; what is there counts as its last entry at -inf.
    outside_NM = token_NM >= vocabulary
    value_NC, chosen_NC = value_NM.masked_fill(outside_NM, -torch.inf).topk(count, dim=1)
    return value_NC, beam_NM.gather(1, chosen_NC), token_NM.gather(1, chosen_NC).clamp_max(vocabulary - 1)


def _group_maxima(next_NKV: Tensor) -> Tensor:
    """Give the largest value of each group of `GROUP` neighbours; the last group has what is left over."""
    whole = next_NKV.shape[2] // GROUP * GROUP
    maxima = next_NKV[:, :, :whole].unflatten(2, (-1, GROUP)).amax(dim=3) if whole else next_NKV[:, :, :0]
    if whole == next_NKV.shape[2]:
        return maxima
    return torch.cat([maxima, next_NKV[:, :, whole:].amax(dim=2, keepdim=True)], dim=2)
