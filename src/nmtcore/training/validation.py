"""What the development set says of a model, without dropout."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import nn

from nmtcore.config.training import TrainingSettings
from nmtcore.features.examples import Examples
from nmtcore.training.distributed import World
from nmtcore.training.signals import Signals
from nmtcore.training.update import count, load, loss_names, precision, term_sums

Validate = Callable[[nn.Module], dict[str, float]]
"""Scores a model (in evaluation mode) by translating; the first process alone calls it."""


def validation_scores(
    model: nn.Module,
    dev: Examples,
    blocks: Sequence[np.ndarray],
    settings: TrainingSettings,
    team: World,
    signals: Signals,
    validate: Validate | None,
) -> dict[str, float] | None:
    """Give perplexity, each component's mean loss as "loss/{name}", and what `validate` gives (in the first process).

    The recipe's metric is there in every process. None where a signal came before the end.
    """
    names = loss_names(model.components)
    model.eval()
    try:
        sums = signals.unless_stopped(lambda: _sums(model, dev, blocks, settings, team))
        scores = {} if not team.main or validate is None else signals.unless_stopped(lambda: dict(validate(model)))
    finally:
        model.train()
    if team.any(sums is None or scores is None):
        return None
    found = _means(names, team.total(sums)) | scores
    metric = settings.validation.metric
    found[metric] = team.total([found[metric] if team.main else 0.0])[0]
    return found


def is_better(score: float, best: float | None) -> bool:
    """Say whether a score (more is better) is a number above the best so far."""
    return math.isfinite(score) and (best is None or score > best)


def score_of(scores: Mapping[str, float], metric: str) -> float:
    """Give the score that decides, turned so that more is better."""
    return -scores["perplexity"] if metric == "perplexity" else scores[metric]


def perplexity(nll: float) -> float:
    """Give e to the mean negative log-likelihood; infinite where that is too large for a float."""
    return math.exp(nll) if nll < 700 else math.inf


def _sums(
    model: nn.Module, dev: Examples, blocks: Sequence[np.ndarray], settings: TrainingSettings, team: World
) -> list[float]:
    """Sum over this device's blocks, every `team.size`-th: negative log-likelihood, each term's sum, its count."""
    names = loss_names(model.components)
    sums = torch.zeros(1 + len(names), dtype=torch.float64, device=team.device)
    counts = np.zeros(len(names))
    for rows in blocks[team.rank :: team.size]:
        batches = load(dev, [rows], model.components, team.device)
        with torch.no_grad(), precision(settings, team.device):
            losses = model.loss(batches[0], label_smoothing=0.0, smoothing_over=settings.smoothing_over)
        sums += torch.stack([losses.nll_sum.double(), *term_sums(losses, names)])
        counts += count(batches, names)
    return [*sums.tolist(), *counts.tolist()]


def _means(names: Sequence[str], sums: Sequence[float]) -> dict[str, float]:
    nll, terms, counts = sums[0], sums[1 : 1 + len(names)], sums[1 + len(names) :]
    means = {f"loss/{n}": s / max(c, 1) for n, s, c in zip(names[1:], terms[1:], counts[1:], strict=True)}
    return {"perplexity": perplexity(nll / max(counts[0], 1)), **means}
