"""The examples of a run prepared for training: what is left out, padded lengths, epoch plans and validation batches.

Shapes: B sentences.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BatchSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.ragged import compact
from nmtcore.features.sources import MAX_SUBWORDS, long_pairs
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.components.base import Component
from nmtcore.syntax.trees import NO_GOVERNOR
from nmtcore.training.batch_plan import (
    EpochPlan,
    Lengths,
    micro_batches,
    plan_epoch,
    rows_within_length,
    validation_batches,
)
from nmtcore.training.update import term_names
from nmtcore.training.world import World


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """Examples that updates are drawn from: sentence pairs, or sentences of treebanks."""

    examples: Examples
    lengths: Lengths
    kept: np.ndarray
    """The rows that are not over the maximum length."""
    settings: BatchSettings
    seed: int
    terms: frozenset[str] | None = None
    """The terms of the objective that the examples train; None means all."""

    def plan(self, epoch: int) -> EpochPlan:
        """Plan an epoch (counted from 0)."""
        return plan_epoch(self.lengths, self.kept, self.settings, seed=self.seed, epoch=epoch)

    def batches_from(self, number: int) -> Iterator[np.ndarray]:
        """Yield the rows of batch `number` and of those after it, counted from 0, epoch after epoch without end."""
        for epoch in count():
            plan = self.plan(epoch)
            yield from (plan[step] for step in range(number, len(plan)))
            number = max(0, number - len(plan))

    def make_batches(self, rows_B: np.ndarray, components: Sequence[Component], world: World) -> list[Batch]:
        """Make this device's micro-batches of the batch with the rows `rows_B`."""
        pieces = micro_batches(rows_B, self.lengths, self.settings, rank=world.rank, world_size=world.size)
        return [make_batch(self.examples, piece, components, world.device, terms=self.terms) for piece in pieces]


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """Training and dev examples with their batches."""

    main: TrainingSet
    """The set whose epochs are those of training: the sentence pairs, or the treebanks if the run has no pairs."""
    auxiliary: TrainingSet | None = None
    """The treebanks of a run on pairs: each update has a batch of them as well, drawn in epochs of their own."""
    dev: Examples
    dev_batches: list[np.ndarray]
    """The rows of each validation batch."""


def prepare_training_data(
    run: RunSettings,
    model: TranslationModel,
    train: Examples | None,
    dev: Examples,
    log: Callable[[str], None],
    *,
    treebank: Examples | None = None,
) -> TrainingData:
    """Select and measure the examples of a run, and cut its dev set into batches.

    `train` is None if the run has no sentence pairs. `treebank` has the sentences of the run's treebanks; only they
    train the terms of parsing components. `log` gets the numbers of sentences that are too long or lack a tree.
    Raises `UserError` if there is nothing to train or validate on.
    """
    if not len(dev):
        raise UserError(f"The dev set of {run.dataset} is empty: there is nothing to validate on.")
    if len(long := long_pairs(dev)):
        lines = sorted({max(id + 1, -id) for id in dev.id[long].tolist()})  # a transform's rows have negative ids
        pairs = f"{len(long)} of {len(dev)} dev examples have more than {MAX_SUBWORDS:,} subwords on a side"
        if len(long) == len(dev):
            raise UserError(f"{pairs}: there is nothing to validate on. Shorten the dev set of {run.dataset}.")
        shown = ", ".join(map(str, lines[:5])) + ", ..." * (len(lines) > 5)
        log(f"{pairs}: left out of the losses of validations (dev, line {shown}).")
        dev = dev.take(np.delete(np.arange(len(dev)), long))
    sets = []
    if train is not None:
        terms = None if treebank is None else frozenset(term_names(model.components)) - model.parser_terms
        pairs = _training_set(run, model, train, run.training.batch, log, sentences="training pairs", terms=terms)
        sets.append(pairs)
    if treebank is not None:
        treebank = replace(treebank, target=None)
        batch = replace(run.training.batch, size=run.treebank.size or run.training.batch.size)
        terms = model.parser_terms
        trees = _training_set(run, model, treebank, batch, log, sentences="treebank sentences", terms=terms)
        unparsed = without_tree(treebank.source)[trees.kept]
        if unparsed.all():
            treebanks = f"{', '.join(run.treebanks)} ({run.dataset})"
            short = f"None of the {len(unparsed)} short enough sentences of {treebanks}"
            raise UserError(f"{short} has a tree: there is nothing to train on.")
        if unparsed.any():
            log(f"{unparsed.sum()} of {len(unparsed)} treebank sentences have no tree: training ignores them.")
        sets.append(trees)
    main, *others = sets
    dev_batches = validation_batches(padded_lengths(model, dev), run.training.batch)
    return TrainingData(main=main, auxiliary=others[0] if others else None, dev=dev, dev_batches=dev_batches)


def _training_set(
    run: RunSettings,
    model: TranslationModel,
    examples: Examples,
    settings: BatchSettings,
    log: Callable[[str], None],
    *,
    sentences: str,
    terms: frozenset[str] | None,
) -> TrainingSet:
    """Leave out examples that are too long, and measure all; `sentences` is what messages call them."""
    source, target = examples.source, examples.target or examples.source
    kept = rows_within_length(source.subword_counts, target.subword_counts, max_length=settings.max_length)
    if not len(kept):
        raise UserError(
            f"None of the {len(examples)} {sentences} of {run.dataset} has at most {settings.max_length} subwords on "
            "each side: there is nothing to train on. Raise training.batch.max_length."
            if len(examples)
            else f"There are no {sentences} of {run.dataset}: there is nothing to train on."
        )
    if len(kept) < len(examples):
        too_long = f"{len(examples) - len(kept)} of {len(examples)} {sentences}"
        log(f"{too_long} have more than {settings.max_length} subwords: left out.")
    lengths = padded_lengths(model, examples)
    return TrainingSet(examples=examples, lengths=lengths, kept=kept, settings=settings, seed=run.seed, terms=terms)


def without_tree(side: SideExamples) -> np.ndarray:
    """Mark (bool, one entry per sentence) the sentences with words none of which has a governor."""
    parsed = side.features["governor"].count_other_values(NO_GOVERNOR) > 0
    return ~parsed & (side.ids.offsets[1:] > side.ids.offsets[:-1])


def padded_lengths(model: TranslationModel, examples: Examples) -> Lengths:
    """Return the lengths to which `make_batch` pads: subwords, `</s>` and the components' prefixes (`<ROOT>`)."""
    prefix = sum(len(component.source_prefix) for component in model.components)
    source = compact(examples.source.ids.lengths + 1 + prefix)
    target = np.zeros_like(source) if examples.target is None else compact(examples.target.ids.lengths + 1)
    return Lengths(longer=np.maximum(source, target), shorter=np.minimum(source, target))
