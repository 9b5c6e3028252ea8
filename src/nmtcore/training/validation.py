"""Validation: perplexity, losses and translation scores on the dev set, without dropout."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import nn

from nmtcore.config.training import TrainingSettings
from nmtcore.features.examples import Examples
from nmtcore.model.batch import make_batch
from nmtcore.model.components.base import measure_names
from nmtcore.model.losses import TRANSLATION
from nmtcore.training.distributed import World
from nmtcore.training.loss_sums import DevSums
from nmtcore.training.signals import Signals
from nmtcore.training.update import autocast, term_names

Validate = Callable[[nn.Module], dict[str, float]]
"""Scores a model (in evaluation mode) by translating; only the first process calls it."""


def validation_scores(
    model: nn.Module,
    dev: Examples,
    dev_batches: Sequence[np.ndarray],
    settings: TrainingSettings,
    world: World,
    signals: Signals,
    validate: Validate | None,
) -> dict[str, float] | None:
    """Return "perplexity", each component's mean loss as "loss/{name}", its measures, and the scores of `validate`.

    Every process gets the recipe's metric; only the first one gets the other scores of `validate`. Return None if a
    signal interrupted validation.
    """
    names, measures = term_names(model.components), measure_names(model.components)
    model.eval()
    try:
        sums = signals.interruptible(lambda: _process_sums(model, dev, dev_batches, settings, world))
        scores = {} if not world.is_main or validate is None else signals.interruptible(lambda: dict(validate(model)))
    finally:
        model.train()
    if world.any(sums is None or scores is None):
        return None
    all_scores = _means(DevSums.unpack(world.sum(sums), names, measures)) | scores
    metric = settings.validation.metric
    all_scores[metric] = world.sum([all_scores[metric] if world.is_main else 0.0])[0]
    return all_scores


def is_better(score: float, best: float | None) -> bool:
    """Return whether a score (more is better) is finite and above the best so far."""
    return math.isfinite(score) and (best is None or score > best)


def metric_score(scores: Mapping[str, float], metric: str) -> float:
    """Return the score of the recipe's metric with a sign such that more is better."""
    return -scores["perplexity"] if metric == "perplexity" else scores[metric]


def perplexity(nll: float) -> float:
    """Raise e to the mean negative log-likelihood; infinity if the result does not fit into a float."""
    return math.exp(nll) if nll < 700 else math.inf


def _process_sums(
    model: nn.Module, dev: Examples, dev_batches: Sequence[np.ndarray], settings: TrainingSettings, world: World
) -> list[float]:
    """Sum over this process's batches, every `world.size`-th one; the sums are packed by `DevSums.pack`."""
    names, measures = term_names(model.components), measure_names(model.components)
    sums = torch.zeros(1 + 2 * len(names) + len(measures), dtype=torch.float64, device=world.device)
    for rows_B in dev_batches[world.rank :: world.size]:
        batch = make_batch(dev, rows_B, model.components, world.device)
        with torch.no_grad(), autocast(settings, world.device):
            losses = model.loss(batch, loss_chunk=settings.loss_chunk)
        sums += DevSums.pack(losses, batch.counts, names, measures)
    return sums.tolist()


def _means(sums: DevSums) -> dict[str, float]:
    means = {name: total / max(sums.counts[name], 1) for name, total in sums.terms.items()}
    losses = {f"loss/{name}": mean for name, mean in means.items() if name != TRANSLATION}
    measures = {key: total / max(sums.counts[key.partition("/")[2]], 1) for key, total in sums.measures.items()}
    return {"perplexity": perplexity(sums.nll / max(sums.counts[TRANSLATION], 1)), **losses, **measures}
