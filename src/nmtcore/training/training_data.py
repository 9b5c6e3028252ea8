"""The examples of a run as training sees them: padded lengths, the plan of every epoch, blocks for validation."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from nmtcore.annotation.labels import NO_LABEL
from nmtcore.config.features import FEATURES
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BatchSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.model.batch import Batch, make_batch
from nmtcore.model.components.base import Component
from nmtcore.model.transformer import Transformer
from nmtcore.syntax.trees import NO_GOVERNOR
from nmtcore.training.batch_plan import EndlessPlan, Lengths, Plan, blocks, plan_epoch, rows_within_length, share
from nmtcore.training.update import loss_names


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """Examples that updates draw on: translation pairs, or the sentences of treebanks."""

    examples: Examples
    lengths: Lengths
    kept: np.ndarray
    """The rows that are not over the maximum length."""
    settings: BatchSettings
    seed: int
    terms: frozenset[str] | None = None
    """The parts of the objective that they train; None: all."""

    def plan(self, epoch: int) -> Plan:
        """Plan an epoch (from 0)."""
        return plan_epoch(self.lengths, self.kept, self.settings, seed=self.seed, epoch=epoch)

    def batches(
        self, rows: np.ndarray, components: Sequence[Component], *, rank: int, ranks: int, device: torch.device
    ) -> list[Batch]:
        """Make what one device takes of the batch of rows `rows`, cut to what it takes at once."""
        shares = share(rows, self.lengths.longer, self.settings, rank=rank, ranks=ranks)
        return [make_batch(self.examples, some, components, device, terms=self.terms) for some in shares]


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """Training and development examples, and what follows from their lengths."""

    main: TrainingSet
    """Its epochs are those of training: the pairs; or the treebanks, where a run is trained on nothing else."""
    beside: TrainingSet | None = None
    """What every update has a batch of beside that of `main`: the treebanks, over and over, in epochs of their own."""
    dev: Examples
    dev_blocks: list[np.ndarray]

    def __post_init__(self) -> None:
        # A walk remembers where it is, to be fast; what it gives depends on the number of the update alone.
        object.__setattr__(self, "_walk", None if self.beside is None else EndlessPlan(self.beside.plan))

    @property
    def left_out(self) -> int:
        """How many training pairs (or sentences) are over the maximum length."""
        return len(self.main.examples) - len(self.main.kept)

    def plan(self, epoch: int) -> Plan:
        """Plan an epoch (from 0)."""
        return self.main.plan(epoch)

    def batches(self, rows: np.ndarray, update: int, components: Sequence[Component], **where: Any) -> list[Batch]:
        """Make one device's micro-batches of update `update` (counted from 0), whose batch has the rows `rows`."""
        batches = self.main.batches(rows, components, **where)
        return batches if self._walk is None else batches + self.beside.batches(self._walk[update], components, **where)


def prepare_training_data(
    run: RunSettings,
    model: Transformer,
    train: Examples | None,
    dev: Examples,
    log: Callable[[str], None],
    *,
    treebank: Examples | None = None,
) -> TrainingData:
    """Measure the examples of a run; `log` hears how many are left out, and how many lack their syntax.

    Where the run is trained on treebanks, `treebank` has their sentences, and they alone train the heads that parse;
    `train` may be None where they are all. Raises `UserError` where there is nothing to train on, or no development
    pair.
    """
    if not len(dev):
        raise UserError(f"The development set of {run.dataset} is empty: nothing to validate on.")
    stocks = []
    if train is not None:
        of_pairs = None if treebank is None else frozenset(loss_names(model.components)) - model.parser_terms
        stocks.append(_pairs(run, model, train, of_pairs, log))
    if treebank is not None:
        stocks.append(_treebank(run, model, treebank, log))
    main, *beside = stocks
    dev_blocks = blocks(padded_lengths(model, dev), run.training.batch)
    return TrainingData(main=main, beside=beside[0] if beside else None, dev=dev, dev_blocks=dev_blocks)


def _pairs(
    run: RunSettings, model: Transformer, train: Examples, terms: frozenset[str] | None, log: Callable[[str], None]
) -> TrainingSet:
    settings = run.training.batch
    if not len(train):
        raise UserError(f"The training set of {run.dataset} is empty: nothing to train on.")
    kept = rows_within_length(train.source.ids.lengths, train.target.ids.lengths, max_length=settings.max_length)
    if not len(kept):
        raise UserError(
            f"None of the {len(train)} training pairs of {run.dataset} has at most {settings.max_length} subwords on "
            "both sides (training.batch.max_length): nothing to train on."
        )
    _tell_left_out(log, train, kept, settings, what="training pairs")
    for line in without_syntax(run.split_features("train"), train, kept):
        log(line)
    lengths = padded_lengths(model, train)
    return TrainingSet(examples=train, lengths=lengths, kept=kept, settings=settings, seed=run.seed, terms=terms)


def _treebank(run: RunSettings, model: Transformer, treebank: Examples, log: Callable[[str], None]) -> TrainingSet:
    settings = replace(run.training.batch, size=run.treebank.size or run.training.batch.size)
    lengths = treebank.source.ids.lengths
    kept = rows_within_length(lengths, np.zeros_like(lengths), max_length=settings.max_length)
    lacking = unannotated(treebank.source, "trees")[kept]
    if lacking.all():
        limit = settings.max_length
        short = "" if limit is None else f" and at most {limit} subwords (training.batch.max_length)"
        raise UserError(
            f"None of the {len(treebank)} sentences of {', '.join(run.treebanks)} ({run.dataset}) has a tree{short}: "
            "nothing to train on."
        )
    _tell_left_out(log, treebank, kept, settings, what="sentences of treebanks")
    if lacking.any():
        log(f"{lacking.sum()} of {len(kept)} sentences of treebanks have no tree: they train nothing.")
    return TrainingSet(
        examples=replace(treebank, target=None),
        lengths=padded_lengths(model, replace(treebank, target=None)),
        kept=kept,
        settings=settings,
        seed=run.seed,
        terms=model.parser_terms,
    )


def _tell_left_out(
    log: Callable[[str], None], examples: Examples, kept: np.ndarray, settings: BatchSettings, *, what: str
) -> None:
    if len(kept) < len(examples):
        left_out = len(examples) - len(kept)
        log(f"{left_out} of {len(examples)} {what} have over {settings.max_length} subwords: left out.")


def without_syntax(syntax: Mapping[str, Mapping[str, str]], train: Examples, kept: np.ndarray) -> Iterator[str]:
    """Say of every feature that components read how many of the training pairs `kept` lack it, if any."""
    for side, features in syntax.items():
        for feature in features:
            lacking = int(unannotated(getattr(train, side), feature)[kept].sum())
            if lacking:
                found = f"{lacking} of {len(kept)} training sentences have no {feature} on the {side} side"
                yield f"{found}: they train as plain text."


def unannotated(side: SideExamples, feature: str) -> np.ndarray:
    """Find the sentences (N,) that have words, of which none holds anything in the columns of `feature`."""
    trees = feature == "trees"
    annotated = np.zeros(len(side), dtype=bool)
    for column in ("governor",) if trees else FEATURES[feature].labels:
        values = side.features[column]
        rows, _ = values.rows_and_columns()
        annotated[rows[values.values != (NO_GOVERNOR if trees else NO_LABEL)]] = True
    return ~annotated & (side.ids.lengths > 0)


def padded_lengths(model: Transformer, examples: Examples) -> Lengths:
    """Give the lengths with the end of sentence and the components' prefixes (`<ROOT>`), as `make_batch` pads."""
    prefix = sum(len(component.source_prefix) for component in model.components)
    source = examples.source.ids.lengths + 1 + prefix
    target = np.zeros_like(source) if examples.target is None else examples.target.ids.lengths + 1
    return Lengths(source=source, target=target)
