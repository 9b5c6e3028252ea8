"""Accuracy of the induced trees of a table's runs, and their differences, from the stored counts of sentences."""

from functools import cache
from typing import NamedTuple

import numpy as np

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import (
    OTHER_SEED,
    SEED,
    Difference,
    SampledScores,
    bootstrap_weights,
    difference_of,
    sampled_scores,
    signed_sum,
)
from nmtcore.evaluation.counts import SentenceCounts
from nmtcore.evaluation.induction import (
    BASELINES,
    GoldTree,
    baseline_trees,
    checksum_of_treebank,
    induction_counts,
)
from nmtcore.evaluation.scores import read_gold_trees
from nmtcore.layout import Layout
from nmtcore.parquet import row_count
from nmtcore.reporting.measurements import Measurements
from nmtcore.reporting.table_treebanks import TableTreebanks

MEASURES_OF_METRICS = {"directed": "directed", "undirected": "undirected_gold_edges"}
"""The measure that each metric of the paper stands for (`nmtcore.evaluation.induction.MEASURES`)."""


class Treebank(NamedTuple):
    """A gold treebank of a data set of ours."""

    dataset: str
    split: str


class ScoredTrees(NamedTuple):
    """Trees that are scored: those of runs, or of a baseline that knows no syntax."""

    name: str
    """A key of `PlannedTable.runs`, or one of `BASELINES`."""
    untrained: bool = False
    """Whether they are those of the runs' initial weights."""


class TreesOfTreebank(NamedTuple):
    """Trees that are scored on a treebank."""

    treebank: Treebank
    trees: ScoredTrees


class InductionMeasurements:
    """The accuracy of a table's trees; each is computed once."""

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self._table = table
        self._treebanks = TableTreebanks(table, layout)
        self._measurements = Measurements(table, layout)
        self._baselines, self._gold = cache(self._count_baseline), cache(self._read_gold)

    def counts(self, treebank: Treebank, trees: ScoredTrees, measure: str) -> list[SentenceCounts]:
        """Return the counts of each seed, one entry for a baseline, by one of `MEASURES`.

        Raises `UserError` if runs parsed other sentences than each other.
        """
        if trees.name in BASELINES:
            return [self._baselines(treebank, trees.name)[measure]]
        column = f"untrained_{measure}" if trees.untrained else measure
        return self._measurements.counts(trees.name, treebank.split, column)

    def scored_words(self, treebank: Treebank) -> int:
        """Return the number of words that are scored, the same for all trees."""
        return sum(int(tree.scored_W.sum()) for tree in self._gold(treebank) if tree is not None)

    def scores(self, treebank: Treebank, trees: ScoredTrees, measure: str) -> list[float]:
        """Return the percentage of right words for each seed, by one of `MEASURES`."""
        return [own.corpus_score() for own in self.counts(treebank, trees, measure)]

    def same_trees(self, first: Treebank, second: Treebank) -> bool:
        """Return whether two treebanks have the same gold trees and scored words."""
        return first == second or len({checksum_of_treebank(self._gold(own)) for own in (first, second)}) == 1

    def compare(
        self,
        system: TreesOfTreebank,
        baseline: TreesOfTreebank,
        minus_system: TreesOfTreebank | None = None,
        minus_baseline: TreesOfTreebank | None = None,
        *,
        measure: str,
    ) -> Difference:
        """Compare two kinds of trees by one of `MEASURES`, on treebanks with the same gold trees.

        From their difference, that of the trees `minus_...` is subtracted; their treebank may be another one, whose
        sentences then count as independent.
        """
        if len({self.counts(*tested, measure)[0].test for tested in (system, baseline)}) > 1:
            raise UserError(
                f"{system.trees.name} and {baseline.trees.name} parsed different sentences of {system.treebank.split}, "
                "so that they cannot be compared: delete the results of the older one and run the workflow again."
            )
        own, other = (self._sampled(*tested, measure, SEED) for tested in (system, baseline))
        if baseline.trees.name in BASELINES:
            # Such a baseline is not trained: its variance over seeds is known to be 0.
            runs = len(own.scores)
            other = SampledScores([*other.scores] * runs, np.repeat(other.sampled_RA, runs, axis=0))
        if minus_system is None or minus_baseline is None:
            return difference_of(own, other)
        seed = SEED if self.same_trees(system.treebank, minus_system.treebank) else OTHER_SEED
        subtracted = [self._sampled(*tested, measure, seed) for tested in (minus_system, minus_baseline)]
        return signed_sum((1, own), (-1, other), (-1, subtracted[0]), (1, subtracted[1]))

    def _count_baseline(self, treebank: Treebank, name: str) -> dict[str, SentenceCounts]:
        gold = self._gold(treebank)
        return induction_counts(gold, baseline_trees(gold)[name])

    def _read_gold(self, treebank: Treebank) -> list[GoldTree | None]:
        """Read the gold trees of the sentences that runs parse; of all, if there are no runs."""
        pairs, trees = self._treebanks.files(*treebank)
        parsed = (
            key
            for key, splits in self._table.more["parsed"].items()
            if self._table.runs[key].dataset == treebank.dataset and treebank.split in splits
        )
        runs = next(parsed, None)
        counted = None if runs is None else len(self._measurements.counts(runs, treebank.split, "uas")[0])
        return read_gold_trees(pairs, trees, row_count(trees) if counted is None else counted)

    def _sampled(self, treebank: Treebank, trees: ScoredTrees, measure: str, seed: int) -> SampledScores:
        counts = self.counts(treebank, trees, measure)
        return sampled_scores(counts, bootstrap_weights(len(counts[0]), seed=seed))
