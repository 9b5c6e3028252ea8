"""The examples of a run prepared for training: padded lengths, epoch plans and validation batches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nmtcore.annotation.labels import NO_LABEL
from nmtcore.config.features import FEATURES
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BatchSettings
from nmtcore.errors import UserError
from nmtcore.features.arrays import compact_lengths
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.components.base import Component
from nmtcore.syntax.trees import NO_GOVERNOR
from nmtcore.training.batch_plan import (
    EndlessPlan,
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
    """The rows that are not over the maximum length, in 32 bits if they suffice."""
    settings: BatchSettings
    seed: int
    terms: frozenset[str] | None = None
    """The terms of the objective that the examples train; None means all."""

    def plan(self, epoch: int) -> EpochPlan:
        """Plan an epoch (counted from 0)."""
        return plan_epoch(self.lengths, self.kept, self.settings, seed=self.seed, epoch=epoch)

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

    def __post_init__(self) -> None:
        # The plan caches its current epoch for speed; a batch depends only on the number of its update.
        plan = None if self.auxiliary is None else EndlessPlan(self.auxiliary.plan)
        object.__setattr__(self, "_auxiliary_plan", plan)

    def plan(self, epoch: int) -> EpochPlan:
        """Plan an epoch (counted from 0)."""
        return self.main.plan(epoch)

    def make_batches(
        self, rows_B: np.ndarray, update: int, components: Sequence[Component], world: World
    ) -> list[Batch]:
        """Make this device's micro-batches of update `update` (counted from 0), whose main batch has `rows_B`."""
        batches = self.main.make_batches(rows_B, components, world)
        if self.auxiliary is not None:
            batches += self.auxiliary.make_batches(self._auxiliary_plan[update], components, world)
        return batches


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
    train the terms of parsing components. `log` gets the numbers of sentences that are too long or lack a feature.
    Raises `UserError` if there is nothing to train on, or if the dev set is empty.
    """
    if not len(dev):
        raise UserError(f"The dev set of {run.dataset} is empty: there is nothing to validate on.")
    sets = []
    if train is not None:
        pair_terms = None if treebank is None else frozenset(term_names(model.components)) - model.parser_terms
        sets.append(_pair_set(run, model, train, pair_terms, log))
    if treebank is not None:
        sets.append(_treebank_set(run, model, treebank, log))
    main, *others = sets
    dev_batches = validation_batches(padded_lengths(model, dev), run.training.batch)
    return TrainingData(main=main, auxiliary=others[0] if others else None, dev=dev, dev_batches=dev_batches)


def _pair_set(
    run: RunSettings, model: TranslationModel, train: Examples, terms: frozenset[str] | None, log: Callable[[str], None]
) -> TrainingSet:
    settings = run.training.batch
    if not len(train):
        raise UserError(f"The training set of {run.dataset} is empty: there is nothing to train on.")
    kept = rows_within_length(train.source.subword_counts, train.target.subword_counts, max_length=settings.max_length)
    if not len(kept):
        raise UserError(
            f"None of the {len(train)} training pairs of {run.dataset} has at most {settings.max_length} subwords on "
            "both sides: there is nothing to train on. Raise training.batch.max_length."
        )
    _log_too_long(log, train, kept, settings, unit="training pairs")
    for line in count_unannotated(run.split_features("train"), train, kept):
        log(line)
    lengths = padded_lengths(model, train)
    return TrainingSet(examples=train, lengths=lengths, kept=kept, settings=settings, seed=run.seed, terms=terms)


def _treebank_set(
    run: RunSettings, model: TranslationModel, treebank: Examples, log: Callable[[str], None]
) -> TrainingSet:
    settings = replace(run.training.batch, size=run.treebank.size or run.training.batch.size)
    source_lengths = treebank.source.subword_counts
    kept = rows_within_length(source_lengths, np.zeros_like(source_lengths), max_length=settings.max_length)
    unparsed = unannotated(treebank.source, "trees")[kept]
    if unparsed.all():
        limit = settings.max_length
        short = "" if limit is None else f" and at most {limit} subwords (training.batch.max_length)"
        raise UserError(
            f"None of the {len(treebank)} sentences of {', '.join(run.treebanks)} ({run.dataset}) has a tree{short}: "
            "there is nothing to train on."
        )
    _log_too_long(log, treebank, kept, settings, unit="treebank sentences")
    if unparsed.any():
        log(f"{unparsed.sum()} of {len(kept)} treebank sentences have no tree: training ignores them.")
    return TrainingSet(
        examples=replace(treebank, target=None),
        lengths=padded_lengths(model, replace(treebank, target=None)),
        kept=kept,
        settings=settings,
        seed=run.seed,
        terms=model.parser_terms,
    )


def _log_too_long(
    log: Callable[[str], None], examples: Examples, kept: np.ndarray, settings: BatchSettings, *, unit: str
) -> None:
    too_long = len(examples) - len(kept)
    if too_long:
        log(f"{too_long} of {len(examples)} {unit} have more than {settings.max_length} subwords: left out.")


def count_unannotated(features: Mapping[str, Mapping[str, str]], train: Examples, kept: np.ndarray) -> Iterator[str]:
    """Yield a sentence per feature that some of the training pairs `kept` lack, with their number.

    `features` has the annotator of each feature that components and transforms read, by side. Rows that a transform has
    added, whose ids are negative, do not count: they have no features by design.
    """
    if not any(features.values()):
        return
    pairs = kept[(train.id >= 0)[kept]]
    for side, annotators in features.items():
        for feature in annotators:
            unannotated_count = int(unannotated(getattr(train, side), feature)[pairs].sum())
            if unannotated_count:
                lacking = f"{unannotated_count} of {len(pairs)} training sentences have no {feature} on the {side} side"
                yield f"{lacking}: they are trained on as plain text."


def unannotated(side: SideExamples, feature: str) -> np.ndarray:
    """Mark (bool, one entry per sentence) the sentences with words none of which has a value of `feature`."""
    is_tree = feature == "trees"
    annotated = np.zeros(len(side), dtype=bool)
    for column in ("governor",) if is_tree else FEATURES[feature].labels:
        annotated |= side.features[column].count_other_values(NO_GOVERNOR if is_tree else NO_LABEL) > 0
    return ~annotated & (side.ids.offsets[1:] > side.ids.offsets[:-1])


def padded_lengths(model: TranslationModel, examples: Examples) -> Lengths:
    """Return the lengths to which `make_batch` pads: subwords, `</s>` and the components' prefixes (`<ROOT>`)."""
    prefix = sum(len(component.source_prefix) for component in model.components)
    source = compact_lengths(examples.source.ids.offsets, added=1 + prefix)
    if examples.target is None:
        return Lengths(source=source, target=np.zeros_like(source))
    return Lengths(source=source, target=compact_lengths(examples.target.ids.offsets, added=1))
