"""Scores of the runs behind a table by any measure, and their differences, from the stored counts of sentences."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.datasets import GOLD
from nmtcore.config.planned_tables import ComparedRuns, PlannedClaim, PlannedTable
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import (
    OTHER_SEED,
    SEED,
    Difference,
    SampledScores,
    bootstrap_weights,
    difference_of,
    sampled_scores,
    score_interval,
    signed_sum,
)
from nmtcore.evaluation.counts import SentenceCounts, length_ratio, read_counts
from nmtcore.evaluation.metrics import LABELS, METRICS, score_of
from nmtcore.layout import Layout, file_name

ATTACHMENT = {"uas": "UAS", "diagonal_precision": "precision of chains"}
"""Measures of heads, and their labels."""

SEGMENT_MEASURES = {"comet": LABELS["comet"]}
"""Measures of translations whose scores of segments are files of a run, and their labels."""


def measure_label(measure: str) -> str:
    """Return the name of a measure in tables."""
    return METRICS[measure].label if measure in METRICS else (ATTACHMENT | SEGMENT_MEASURES).get(measure, measure)


def is_of_translations(measure: str) -> bool:
    """Return whether a measure scores translations, from the texts or by stored scores of segments."""
    return measure in METRICS or measure in SEGMENT_MEASURES


class Subset(NamedTuple):
    """Some sentences of a test."""

    name: str
    rows_B: np.ndarray
    """Their positions, from 0."""


class Measurements:
    """The scores of a table's runs, from counts that are read once: `scored(runs, split, measure, rows)`.

    A measure is a column of the files of counts (`evaluation.counts.write_counts`), with a function of its sums. To
    make a new one, count it where runs are scored: a metric of translations is an entry of `METRICS`, or a file of the
    user's own; what is counted in parses is written by `evaluation.scores.score_tests` and `score_gold`.
    """

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self._table, self._layout = table, layout
        self._trees: Mapping[str, Any] = table.more.get("trees", {})
        self._scored: dict[tuple[Any, ...], SampledScores] = {}
        self.counts = cache(self._counts)
        self._weights = cache(lambda sentences, seed: bootstrap_weights(sentences, seed=seed))

    def measure(self, metric: str) -> str:
        """Return the measure that a metric of the paper stands for."""
        return self._table.measure(metric)

    def has(self, runs: str, split: str, measure: str) -> bool:
        """Return whether runs have a measure: attachment scores need parses."""
        return is_of_translations(measure) or split in self._trees.get(runs, {})

    def sentences(self, runs: str, split: str) -> int:
        """Return the number of sentences of a test that some runs translated."""
        return len(self.counts(runs, split, "bleu")[0])

    def _counts(self, runs: str, split: str, measure: str) -> list[SentenceCounts]:
        """Return the counts of each seed of some runs on a split.

        Raises `UserError` if there are none by this measure, or if the seeds' tests differ.
        """
        planned = self._table.runs[runs]
        names = {"scale": self._table.scale, "dataset": planned.dataset, "system": planned.system}
        file_type = "comet_counts" if measure in SEGMENT_MEASURES else "counts"
        column = "uas" if measure in ATTACHMENT else measure
        folders = [
            Path(self._layout.path("gold_counts" if split.startswith(GOLD) else file_type, **names, seed=seed))
            for seed in planned.seeds
        ]
        paths = [folder / file_name("split_counts", split=split) for folder in folders]
        counts = [read_counts(path, column, score_of(measure)) for path in paths]
        for path, own in zip(paths, counts, strict=True):
            if own.test != counts[0].test:
                raise UserError(
                    f"{paths[0]} and {path} are of different sentences, so that they cannot be compared: delete the "
                    "results of the older run and run the workflow again."
                )
        return counts

    def scored(
        self, runs: str, split: str, measure: str, rows_B: np.ndarray | None = None, *, seed: int = SEED
    ) -> SampledScores:
        """Return the score of each seed of some runs, on all or some sentences of a split, and on samples of these."""
        key = (runs, split, measure, None if rows_B is None else rows_B.tobytes(), seed)
        if key not in self._scored:
            counts = self.counts(runs, split, measure)
            parts = counts if rows_B is None else [own.rows(rows_B) for own in counts]
            self._scored[key] = sampled_scores(parts, self._weights(len(parts[0]), seed))
        return self._scored[key]

    def scores(self, runs: str, split: str, measure: str, rows_B: np.ndarray | None = None) -> list[float]:
        """Return the score of each seed of some runs."""
        counts = self.counts(runs, split, measure)
        return [(own if rows_B is None else own.rows(rows_B)).corpus_score() for own in counts]

    def length_ratios(self, runs: str, split: str) -> list[float]:
        """Return, for each seed, the length of the translations divided by that of the references, in BLEU's tokens."""
        return [length_ratio(own) for own in self.counts(runs, split, "bleu")]

    def interval(self, runs: str, split: str, measure: str, rows_B: np.ndarray | None = None) -> tuple[float, float]:
        """Return the 95 % interval of the mean score of some runs on a split or some of its sentences."""
        return score_interval(self.scored(runs, split, measure, rows_B))

    def compare(
        self, system: str, baseline: str, split: str, measure: str, rows_B: np.ndarray | None = None
    ) -> Difference:
        """Compare two runs on a split or some of its sentences. Raises `UserError` if their sentences differ."""
        self._check_same(system, baseline, split, measure)
        return difference_of(*(self.scored(runs, split, measure, rows_B) for runs in (system, baseline)))

    def compare_gains(
        self, system: str, baseline: str, split: str, measure: str, rows_B: np.ndarray, other_B: np.ndarray
    ) -> Difference:
        """Compare the gain on some sentences with that on others, which may be partly the same: samples are of all."""
        self._check_same(system, baseline, split, measure)
        return difference_of(*(self._gap(runs, split, measure, rows_B, other_B) for runs in (system, baseline)))

    def compare_claimed(self, claim: PlannedClaim, runs: ComparedRuns, *, measure: str = "") -> Difference | str:
        """Compare runs on the split that a claim is about, or say why they cannot be compared.

        The measure is by default that of the claim's metric. A gain that is subtracted is measured on the same
        sentences or counts as independent.
        """
        split, metric = claim.split, claim.claim["metric"]
        if runs.baseline is None or split is None or metric is None:
            return "there is no score to compare"
        measure = measure or self.measure(metric)
        compared = [((runs.system, split), (runs.baseline, split))]
        if runs.minus and claim.minus:
            compared.append(((runs.minus[0], claim.minus.split), (runs.minus[1], claim.minus.split)))
        for key, own in (tested for pair in compared for tested in pair):
            if not self.has(key, own, measure):
                return f"{key} has no {ATTACHMENT[measure]}"
        for (first, own), (second, _) in compared:
            if self._table.runs[first].dataset != self._table.runs[second].dataset and not self._same(
                (first, own), (second, own), measure
            ):
                return f"{first} and {second} are not tested on the same sentences"
            self._check_same(first, second, own, measure)
        if len(compared) == 1:
            return self.compare(runs.system, runs.baseline, split, measure)
        seed = SEED if self._same(compared[0][0], compared[1][0], measure) else OTHER_SEED
        system, baseline = (self.scored(*tested, measure) for tested in compared[0])
        others = [self.scored(*tested, measure, seed=seed) for tested in compared[1]]
        return signed_sum((1, system), (-1, baseline), (-1, others[0]), (1, others[1]))

    def _same(self, first: tuple[str, str], second: tuple[str, str], measure: str) -> bool:
        """Return whether two runs, each with a split, are tested on the same sentences."""
        return self.counts(*first, measure)[0].test == self.counts(*second, measure)[0].test

    def _check_same(self, system: str, baseline: str, split: str, measure: str) -> None:
        if not self._same((system, split), (baseline, split), measure):
            raise UserError(
                f"{system} and {baseline} have different references of {split}, so that they cannot be compared: "
                "delete the results of the older one and run the workflow again."
            )

    def _gap(self, runs: str, split: str, measure: str, rows_B: np.ndarray, other_B: np.ndarray) -> SampledScores:
        counts = self.counts(runs, split, measure)
        weights_AB = self._weights(len(counts[0]), SEED)
        first, second = (
            sampled_scores([own.rows(part_B) for own in counts], weights_AB[:, part_B]) for part_B in (rows_B, other_B)
        )
        return first.minus(second)
