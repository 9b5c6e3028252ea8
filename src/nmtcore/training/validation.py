"""Validation: perplexity, losses and translation scores on the dev set, without dropout.

Shapes: B sentences.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

from nmtcore.config.training import TrainingSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.components.base import measure_names
from nmtcore.model.losses import TRANSLATION
from nmtcore.training.data import TrainingData
from nmtcore.training.update import add_losses, count_terms, perplexity, possible_losses, term_names, zero_sums
from nmtcore.training.world import Signals, World

Validate = Callable[[nn.Module], dict[str, float]]
"""Scores a model (in evaluation mode) by translating; only the first process calls it."""


def validation_scores(
    model: nn.Module,
    data: TrainingData,
    settings: TrainingSettings,
    world: World,
    signals: Signals,
    validate: Validate | None,
    log: Callable[[str], None],
) -> dict[str, float] | None:
    """Return "perplexity", each component's mean loss as "loss/{name}", its measures, and the scores of `validate`.

    Every process gets the recipe's metric; only the first one gets the other scores of `validate`. A sentence whose
    trees do not fit into memory is left out, and `log` gets its id. Return None if a signal interrupted validation.
    """
    model.eval()
    try:
        sums = signals.interruptible(lambda: _process_sums(model, data, settings, world, log))
        scores = {} if not world.is_main or validate is None else signals.interruptible(lambda: dict(validate(model)))
    finally:
        model.train()
    if world.any(sums is None or scores is None):
        return None
    all_scores = _means(world.sum_by_name(sums), measure_names(model.components)) | scores
    metric = settings.validation.metric
    all_scores[metric] = world.sum([all_scores[metric] if world.is_main else 0.0])[0]
    return all_scores


def _process_sums(
    model: nn.Module, data: TrainingData, settings: TrainingSettings, world: World, log: Callable[[str], None]
) -> dict[str, float]:
    """Sum over this process's batches, every `world.size`-th one: `zero_sums`, "count/{name}" and measures."""
    names = term_names(model.components)
    counts = dict.fromkeys(names, 0)
    sums = zero_sums(names, world.device)
    sums |= {name: torch.zeros_like(sums["nll"]) for name in measure_names(model.components)}
    for rows_B in data.dev_batches[world.rank :: world.size]:
        batch = make_batch(data.dev, rows_B, model.components, world.device)
        with torch.no_grad():
            losses, batch = possible_losses(model, batch, settings, "A validation", log)
        if losses is not None:
            add_losses(sums, losses)
            for name, measured in losses.measures.items():
                sums[name].add_(measured)
            counts = {name: counts[name] + count for name, count in count_terms([batch], names).items()}
    numbers = torch.stack(list(sums.values())).tolist()
    return dict(zip(sums, numbers, strict=True)) | {f"count/{name}": float(count) for name, count in counts.items()}


def _means(sums: Mapping[str, float], measures: Sequence[str]) -> dict[str, float]:
    """Divide sums by the counts of their terms; a measure "{measure}/{name}" is a sum over what its term is over."""
    counts = {key.removeprefix("count/"): max(value, 1) for key, value in sums.items() if key.startswith("count/")}
    losses = {f"loss/{name}": sums[f"loss/{name}"] / count for name, count in counts.items() if name != TRANSLATION}
    measured = {key: sums[key] / counts[key.partition("/")[2]] for key in measures}
    return {"perplexity": perplexity(sums["nll"] / counts[TRANSLATION]), **losses, **measured}
