"""Losses as sums with their counts, so that gradient accumulation and several devices can divide by global counts.

Shapes: D width, N target tokens, V vocabulary.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from nmtcore.model.linear import linear
from nmtcore.segmentation.vocabulary import PAD

SmoothingOver = Literal["all", "others", "others_but_padding"]

TRANSLATION = "translation"
"""The name of the translation loss."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One term of the objective: `weight * sum / count`."""

    name: str
    sum: Tensor
    count: int
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Losses:
    """All terms of a batch; the translation loss comes first if the batch has one."""

    parts: tuple[Part, ...]
    nll_sum: Tensor
    """Sum of the negative log-likelihoods of the target tokens, without smoothing or gradient; for perplexity."""
    measures: Mapping[str, Tensor] = field(default_factory=dict)
    """In evaluation mode, the numbers of correct tags (`Component.correct_tags`), by "accuracy/{name}"."""

    def objective(self, counts: Mapping[str, int | float] | None = None) -> Tensor:
        """Sum the weighted means of the terms; `counts` are their divisors by name (default: this batch's counts)."""
        counts = counts if counts is not None else {part.name: part.count for part in self.parts}
        terms = [part.sum * (part.weight / max(counts[part.name], 1)) for part in self.parts]
        return torch.stack(terms).sum()


def smoothed_cross_entropy(
    states_ND: Tensor,
    weight_VD: Tensor,
    bias_V: Tensor | None,
    targets_N: Tensor,
    *,
    smoothing: float,
    over: SmoothingOver,
) -> tuple[Tensor, Tensor]:
    """Sum the cross-entropy of the logits `weight x + bias` with smoothed targets, and the negative log-likelihood.

    The second sum has no gradient; both are fp32 or float64.

    The target distribution q of a token y, with eps = `smoothing`:
    - "all": eps / V on every entry, including y and padding, and 1 - eps in addition on y (fairseq up to 0.10:
      `(1 - eps) * nll + eps / V * sum over V of -log p`).
    - "others": 1 - eps on y, eps / (V - 1) on each other entry, including padding (Tensor2Tensor, fairseq from 0.12).
    - "others_but_padding": 1 - eps on y, 0 on padding, eps / (V - 2) on each other entry (JoeyNMT).

    The loss is `-sum_v q(v) log p(v)`; it differs from the Kullback-Leibler divergence of JoeyNMT and Tensor2Tensor by
    the constant entropy of q. No target may be padding. If q has b on n entries E, and 1 - n b in addition on y,

    `-sum_v q(v) log p(v) = nll + b (n logit(y) - sum of logit(e) over E)`,

    and the last sum needs no logits: it is the product of x and the sum of the rows E of the weight.
    """
    on_gpu = states_ND.device.type == "cuda"
    logits_NV = linear(states_ND, *(aligned(weight_VD, bias_V) if on_gpu else (weight_VD, bias_V)))
    log_NV = logits_NV.log_softmax(dim=-1, dtype=torch.promote_types(logits_NV.dtype, torch.float32))
    nll = F.nll_loss(log_NV, targets_N, reduction="sum")
    if not smoothing:
        return nll, nll.detach()
    with torch.autocast(states_ND.device.type, enabled=False):
        states_ND, weight_VD = at_least_fp32(states_ND), at_least_fp32(weight_VD)
        if bias_V is not None:  # a bias is the weight of one more input, which is 1
            states_ND, weight_VD = F.pad(states_ND, (0, 1), value=1.0), torch.cat([weight_VD, bias_V[:, None]], dim=1)
        entries, sum_D = len(weight_VD), weight_VD.sum(dim=0)
        if over == "others_but_padding":
            entries, sum_D = entries - 1, sum_D - weight_VD[PAD]
        share = smoothing / (entries if over == "all" else entries - 1)
        on_targets = (states_ND * F.embedding(targets_N, weight_VD)).sum()
        return nll + share * (entries * on_targets - states_ND.sum(dim=0) @ sum_D), nll.detach()


def aligned(weight_VD: Tensor, bias_V: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Add entries of probability 0 up to a multiple of 64: products of other sizes take a GPU a fifth longer."""
    if not (added := -len(weight_VD) % 64):
        return weight_VD, bias_V
    bias_V = weight_VD.new_zeros(len(weight_VD)) if bias_V is None else bias_V
    return F.pad(weight_VD, (0, 0, 0, added)), F.pad(bias_V, (0, added), value=float("-inf"))


def at_least_fp32(tensor: Tensor) -> Tensor:
    """Convert tensors in half precision to fp32: losses and sums need the digits."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))
