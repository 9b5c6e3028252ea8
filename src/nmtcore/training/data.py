"""The examples of a run as training sees them: padded lengths, the plan of every epoch, blocks for validation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from torch import nn

from nmtcore.annotation.labels import NONE
from nmtcore.config.kinds import FEATURES
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import BatchSettings
from nmtcore.errors import UserError
from nmtcore.features.examples import Examples, SideExamples
from nmtcore.features.schema import NO_GOVERNOR
from nmtcore.training.batches import Lengths, Plan, blocks, plan_epoch, share, within


@dataclass(frozen=True, kw_only=True)
class TrainingData:
    """Training and development examples, and what follows from their lengths."""

    train: Examples
    dev: Examples
    lengths: Lengths
    longer: np.ndarray
    kept: np.ndarray
    """The rows of training pairs that are not over the maximum length."""
    dev_blocks: list[np.ndarray]
    settings: BatchSettings
    seed: int

    @property
    def left_out(self) -> int:
        """How many training pairs are over the maximum length."""
        return len(self.train) - len(self.kept)

    def plan(self, epoch: int) -> Plan:
        """Plan an epoch (from 0)."""
        return plan_epoch(self.lengths, self.kept, self.settings, seed=self.seed, epoch=epoch)

    def shares(self, rows: np.ndarray, *, rank: int, ranks: int) -> list[np.ndarray]:
        """Give what one device takes of a batch, cut to what it takes at once."""
        return share(rows, self.longer, self.settings, rank=rank, ranks=ranks)


def training_data(
    run: RunSettings, model: nn.Module, train: Examples, dev: Examples, log: Callable[[str], None]
) -> TrainingData:
    """Measure the examples of a run; `log` hears how many pairs are left out, and how many lack their syntax.

    Raises `UserError` where no training pair, or no development pair, is there.
    """
    settings = run.training.batch
    kept = within(train.source.ids.lengths, train.target.ids.lengths, max_length=settings.max_length)
    if not len(kept):
        raise UserError(
            f"None of the {len(train)} training pairs of {run.dataset} has at most {settings.max_length} subwords on "
            "both sides (training.batch.max_length): nothing to train on."
        )
    if not len(dev):
        raise UserError(f"The development set of {run.dataset} is empty: nothing to validate on.")
    if len(kept) < len(train):
        left_out = len(train) - len(kept)
        log(f"{left_out} of {len(train)} training pairs have over {settings.max_length} subwords: left out.")
    for line in without_syntax(run, train, kept):
        log(line)
    lengths = padded_lengths(model, train)
    return TrainingData(
        train=train,
        dev=dev,
        lengths=lengths,
        longer=lengths.longer,
        kept=kept,
        dev_blocks=blocks(padded_lengths(model, dev), settings),
        settings=settings,
        seed=run.seed,
    )


def without_syntax(run: RunSettings, train: Examples, kept: np.ndarray) -> Iterator[str]:
    """Say of every kind of syntax that components read how many of the training pairs `kept` lack it, if any."""
    for side, kinds in run.syntax.items():
        for kind in kinds:
            lacking = int(_unannotated(getattr(train, side), kind)[kept].sum())
            if lacking:
                found = f"{lacking} of {len(kept)} training sentences have no {kind} on the {side} side"
                yield f"{found}: they train as plain text."


def _unannotated(side: SideExamples, kind: str) -> np.ndarray:
    """Find the sentences (N,) that have words, of which none holds anything in the columns of `kind`."""
    trees = kind == "dependencies"
    annotated = np.zeros(len(side), dtype=bool)
    for column in ("governor",) if trees else FEATURES[kind].labels:
        values = side.syntax[column]
        rows, _ = values.rows_and_columns()
        annotated[rows[values.values != (NO_GOVERNOR if trees else NONE)]] = True
    return ~annotated & (side.ids.lengths > 0)


def padded_lengths(model: nn.Module, examples: Examples) -> Lengths:
    """Give the lengths with the end of sentence and the components' prefixes (`<ROOT>`), as `make_batch` pads."""
    prefix = sum(len(component.source_prefix) for component in model.components)
    return Lengths(source=examples.source.ids.lengths + 1 + prefix, target=examples.target.ids.lengths + 1)
