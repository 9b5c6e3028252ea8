"""The values of the cells of a table, and their differences; each is computed once.

Shapes: A draws, B sentences.
"""

import json
from collections.abc import Callable
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from nmtcore.errors import UserError
from nmtcore.evaluation.compare import (
    Difference,
    SampledScores,
    bootstrap_weights,
    difference_of,
    sampled_scores,
    score_interval,
)
from nmtcore.evaluation.counts import SentenceCounts, empty_count
from nmtcore.evaluation.subsets import FEW
from nmtcore.tables.cells import Cell
from nmtcore.tables.measures import measure_label, measure_named

WITH_LENGTHS = ("bleu", "multi_bleu")
"""The scores that count the length of the translations."""


class PartOfTest(NamedTuple):
    """Some sentences of a test."""

    name: str
    rows_B: np.ndarray
    """Their positions, from 0."""


class Undecided(NamedTuple):
    """A difference that decides nothing, and why."""

    difference: Difference
    reason: str


Compared = Difference | Undecided | str
"""A difference, with or without the power to decide, or the reason why there is none."""


class Results:
    """The values of a table's cells, and their differences."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def reason(self, cell: Cell) -> str:
        """Say why a cell has no value; empty if it has one, or if nobody expects one."""
        measure = measure_named(cell.measure)
        return measure.lacks(cell.source) if cell.source and measure and measure.lacks else cell.reason

    def values(self, cell: Cell, part: PartOfTest | None = None) -> list[float]:
        """Return the value of a cell, or of a part of its test, for each seed; none if there is a reason why not."""
        measure = measure_named(cell.measure)
        if not cell.source or measure is None or self.reason(cell):
            return []
        if measure.values is not None:
            return measure.values(cell.source)
        return [own.corpus_score() for own in self._parts(cell, part)]

    def counts(self, cell: Cell) -> list[SentenceCounts]:
        """Return the counts of each seed of a cell with a score."""
        return self._once(_key(cell), lambda: measure_named(cell.measure).counts(cell.source))

    def empty(self, cell: Cell, part: PartOfTest | None = None) -> float | None:
        """Count the empty translations behind a score, on average over seeds; None if its measure does not know."""
        return fmean(map(empty_count, self._parts(cell, part))) if cell.measure in WITH_LENGTHS else None

    def is_scored(self, cell: Cell) -> bool:
        """Return whether a cell has scores that can be compared."""
        measure = measure_named(cell.measure)
        return bool(cell.source and measure and measure.counts and not self.reason(cell))

    def interval(self, cell: Cell, part: PartOfTest | None = None) -> tuple[float, float]:
        """Return the 95 % interval of the mean score of a cell, or of a part of its test."""
        return score_interval(self._scores(cell, part))

    def compare(self, cell: Cell, baseline: Cell, part: PartOfTest | None = None) -> Difference:
        """Compare two cells by their scores on the same sentences. Raises `UserError` if these differ."""
        if not self._have_same_test(cell, baseline):
            raise UserError(
                f"{cell.runs} and {baseline.runs} have different references of {cell.test}, so that they cannot be "
                "compared: delete the results of the older one and run the workflow again."
            )
        own, other = self._scores(cell, part), self._scores(baseline, part)
        if baseline.runs is None:
            # Such a baseline is not trained: its variance over seeds is known to be 0.
            runs = len(own.scores)
            other = SampledScores([*other.scores] * runs, np.repeat(other.sampled_RA, runs, axis=0))
        return difference_of(own, other)

    def compare_claimed(self, cell: Cell, baseline: Cell, part: PartOfTest | None = None) -> Compared:
        """Compare the cells of a claim, or say why nothing can be compared; few sentences decide nothing."""
        for own in (cell, baseline):
            if reason := self.reason(own):
                return reason
            if not self.is_scored(own):
                label = measure_label(own.measure)
                return f"{own.runs or own.system} has no {label}" if own.metric else "there is no score to compare"
        if cell.ours != baseline.ours and not self._have_same_test(cell, baseline):
            return f"{cell.runs} and {baseline.runs} are not tested on the same sentences"
        if part is None:
            return self.compare(cell, baseline)
        count = len(part.rows_B)
        few = f"the subset ({part.name}) has {count:,} of the test's sentences, and fewer than {FEW} are too few"
        if count < 2:
            return few
        difference = self.compare(cell, baseline, part)
        return Undecided(difference, few) if count < FEW else difference

    def _have_same_test(self, cell: Cell, baseline: Cell) -> bool:
        return self.counts(cell)[0].test == self.counts(baseline)[0].test

    def _parts(self, cell: Cell, part: PartOfTest | None) -> list[SentenceCounts]:
        counts = self.counts(cell)
        return counts if part is None else [own.rows(part.rows_B) for own in counts]

    def _scores(self, cell: Cell, part: PartOfTest | None) -> SampledScores:
        def sampled() -> SampledScores:
            parts = self._parts(cell, part)
            weights_AB = self._once(len(parts[0]), lambda: bootstrap_weights(len(parts[0])))
            return sampled_scores(parts, weights_AB)

        return self._once((_key(cell), None if part is None else part.rows_B.tobytes()), sampled)

    def _once(self, key: Any, computed: Callable[[], Any]) -> Any:
        """Return what was computed for a key the first time."""
        if key not in self._known:
            self._known[key] = computed()
        return self._known[key]


def _key(cell: Cell) -> str:
    return json.dumps(cell.source, sort_keys=True)
