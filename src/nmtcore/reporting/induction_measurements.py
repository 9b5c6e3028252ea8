"""Accuracy of the induced trees of a table's runs, and their differences, from stored parses of gold treebanks."""

from functools import cache
from typing import NamedTuple

import numpy as np

from nmtcore.config.planned_tables import PlannedTable
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
from nmtcore.evaluation.induction import BASELINES, GoldTree, baseline_trees, checked_trees, induction_counts
from nmtcore.evaluation.scores import read_gold_trees
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows, row_count
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
        self._treebanks = TableTreebanks(table, layout)
        for method in ("counts", "_gold", "_weights", "_sampled"):
            setattr(self, method, cache(getattr(self, method)))

    def counts(self, treebank: Treebank, trees: ScoredTrees) -> list[dict[str, SentenceCounts]]:
        """Return the counts of each seed, one entry for a baseline, by measure.

        Raises `UserError` if parses do not fit the treebank.
        """
        gold = self._gold(treebank)
        if trees.name in BASELINES:
            return [induction_counts(gold, baseline_trees(gold)[trees.name])]
        files = self._treebanks.parses(trees.name, treebank.split).values()
        paths = [own.untrained_parses if trees.untrained else own.parses for own in files]
        predicted = [[row["one_root"] for row in read_rows(path, columns=["one_root"])] for path in paths]
        return [
            induction_counts(gold, checked_trees(heads, gold, str(path)))
            for heads, path in zip(predicted, paths, strict=True)
        ]

    def scored_words(self, treebank: Treebank) -> int:
        """Return the number of words that are scored, the same for all trees."""
        return sum(int(tree.scored_W.sum()) for tree in self._gold(treebank) if tree is not None)

    def scores(self, treebank: Treebank, trees: ScoredTrees, measure: str) -> list[float]:
        """Return the percentage of right words for each seed, by one of `MEASURES`."""
        return [own[measure].corpus_score() for own in self.counts(treebank, trees)]

    def same_trees(self, first: Treebank, second: Treebank) -> bool:
        """Return whether two treebanks have the same gold trees and scored words."""
        if first == second:
            return True
        return [_key(tree) for tree in self._gold(first)] == [_key(tree) for tree in self._gold(second)]

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

    def _gold(self, treebank: Treebank) -> list[GoldTree | None]:
        pairs, trees = self._treebanks.files(*treebank)
        sentences = self._treebanks.sentences(*treebank)
        return read_gold_trees(pairs, trees, row_count(trees) if sentences is None else sentences)

    def _weights(self, sentences: int, seed: int) -> np.ndarray:
        return bootstrap_weights(sentences, seed=seed)

    def _sampled(self, treebank: Treebank, trees: ScoredTrees, measure: str, seed: int) -> SampledScores:
        parts = [own[measure] for own in self.counts(treebank, trees)]
        return sampled_scores(parts, self._weights(len(parts[0]), seed))


def _key(tree: GoldTree | None) -> tuple[list[int], list[bool]] | None:
    return None if tree is None else (tree.heads_W.tolist(), tree.scored_W.tolist())
