"""Losses as sums with their counts, so that accumulation and several devices can divide by global counts.

N target tokens, V vocabulary.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from nmtcore.segmentation.vocabulary import PAD

SmoothingOver = Literal["all", "others", "others_but_padding"]

TRANSLATION = "translation"
"""The name of the translation's own part."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One term of the objective: `weight * sum / count`."""

    name: str
    sum: Tensor
    count: int
    weight: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Losses:
    """All terms of a batch; the first is the translation's, over its real target tokens, where it has one."""

    parts: tuple[Part, ...]
    nll_sum: Tensor
    """Sum of the translation's negative log-likelihoods, without smoothing and gradient: for perplexity."""
    tokens: int

    def objective(self, counts: Mapping[str, int | float] | None = None) -> Tensor:
        """Sum the terms; `counts` are those of the whole update by name (default: this batch's own)."""
        counts = counts if counts is not None else {part.name: part.count for part in self.parts}
        terms = [part.sum * (part.weight / max(counts[part.name], 1)) for part in self.parts]
        return torch.stack(terms).sum()


def smoothed_cross_entropy(
    logits_NV: Tensor, targets_N: Tensor, *, smoothing: float, over: SmoothingOver
) -> tuple[Tensor, Tensor]:
    """Sum the cross-entropy with smoothed targets; also the plain negative log-likelihood (no gradient), both fp32.

    The target distribution q of a token y, with eps = `smoothing`:
    - "all": eps / V on every entry, y and padding included, and 1 - eps more on y (fairseq up to 0.10:
      `(1 - eps) * nll + eps / V * sum over V of -log p`).
    - "others": 1 - eps on y, eps / (V - 1) on each other entry, padding included (Tensor2Tensor, fairseq from 0.12).
    - "others_but_padding": 1 - eps on y, eps / (V - 2) on each other entry but padding's, which has 0 (JoeyNMT).

    The loss is `-sum_v q(v) log p(v)`; it differs from JoeyNMT's and Tensor2Tensor's Kullback-Leibler divergence by
    the constant entropy of q. No target may be padding.
    """
    logits_NV = logits_NV.float() if logits_NV.dtype.itemsize < 4 else logits_NV
    return _Smoothed.apply(logits_NV, targets_N, smoothing, over)


def target_weights(entries: int, smoothing: float, over: SmoothingOver) -> tuple[float, float]:
    """Give (a, b): q is b everywhere, and a more on the right entry; without padding's b for "others_but_padding"."""
    if over == "all":
        return 1 - smoothing, smoothing / entries
    share = smoothing / (entries - (1 if over == "others" else 2))
    return 1 - smoothing - share, share


class _Smoothed(torch.autograd.Function):
    """One log-softmax forward, turned in place into the gradient `softmax - q`: nothing else of size (N, V)."""

    @staticmethod
    def forward(
        ctx: Any, logits_NV: Tensor, targets_N: Tensor, smoothing: float, over: SmoothingOver
    ) -> tuple[Tensor, Tensor]:
        """Sum the smoothed loss and the plain one."""
        a, b = target_weights(logits_NV.size(1), smoothing, over)
        log_NV = torch.log_softmax(logits_NV, dim=-1)
        nll = -log_NV.gather(1, targets_N.unsqueeze(1)).sum()
        total = a * nll
        if b:
            total = total - b * log_NV.sum()
            if over == "others_but_padding":
                total = total + b * log_NV[:, PAD].sum()
        ctx.log_NV, ctx.targets_N, ctx.a, ctx.b, ctx.over = log_NV, targets_N, a, b, over
        ctx.mark_non_differentiable(nll)
        return total, nll

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        """Return `gradient * (softmax - q)`; the buffer is used up, so a second call is an error."""
        if ctx.log_NV is None:
            raise RuntimeError("the gradient of this loss was already taken, and its buffer used up")
        gradient_NV, ctx.log_NV = ctx.log_NV.exp_(), None
        if ctx.b:
            gradient_NV.sub_(ctx.b)
            if ctx.over == "others_but_padding":
                gradient_NV[:, PAD] += ctx.b
        rows = torch.arange(len(ctx.targets_N), device=gradient_NV.device)
        gradient_NV[rows, ctx.targets_N] -= ctx.a
        return gradient_NV.mul_(gradient), None, None, None
