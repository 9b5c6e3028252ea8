"""Scores of the runs behind a table of a paper, and their differences, from stored translations and parses."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.datasets import GOLD, EvaluationSettings
from nmtcore.config.planned_tables import ComparedRuns, PlannedClaim, PlannedRuns, PlannedTable
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import attachment_counts
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
from nmtcore.evaluation.counts import SentenceCounts
from nmtcore.evaluation.metrics import LABELS, METRICS
from nmtcore.evaluation.outputs import SplitOutputs, read_outputs
from nmtcore.evaluation.scores import output_files, read_compared
from nmtcore.evaluation.segments import segment_counts
from nmtcore.layout import Layout, file_name
from nmtcore.parquet import read_rows, row_count

ATTACHMENT = {"uas": "UAS", "diagonal_precision": "precision of chains"}
"""Measures of heads, and their labels."""

INDEPENDENT = 0.05
"""Share of common sentences up to which two tests count as independent: short sentences occur in many."""

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
    """The scores of a table's runs; each is computed once."""

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self._table, self._layout = table, layout
        self._trees: Mapping[str, Any] = table.more.get("trees", {})
        for method in ("outputs", "counts", "_weights", "_sampled"):
            setattr(self, method, cache(getattr(self, method)))

    def measure(self, metric: str) -> str:
        """Return the measure that a metric of the paper stands for."""
        return self._table.measure(metric)

    def has(self, runs: str, split: str, measure: str) -> bool:
        """Return whether runs have a measure: attachment scores need parses."""
        return is_of_translations(measure) or split in self._trees.get(runs, {})

    def outputs(self, runs: str, split: str) -> SplitOutputs:
        """Read the translations of some runs, whose only system is `runs`. Raises the errors of `read_outputs`."""
        planned = self._table.runs[runs]
        return read_outputs({runs: {seed: self._path("hypotheses", planned, seed) for seed in planned.seeds}}, split)

    def counts(self, runs: str, split: str, measure: str) -> list[SentenceCounts]:
        """Return the counts of each seed of some runs on a split."""
        if measure in ATTACHMENT:
            return self._attachment(runs, split)
        if measure in SEGMENT_MEASURES:
            return self._segments(runs, split)
        outputs = self.outputs(runs, split)
        dataset = self._table.runs[runs].dataset
        evaluation = build(EvaluationSettings, self._table.evaluation[dataset], where=dataset)
        lines_by_seed = outputs.translations[runs].values()
        return [METRICS[measure].count(lines, outputs.references, evaluation) for lines in lines_by_seed]

    def scores(self, runs: str, split: str, measure: str, subset: Subset | None = None) -> list[float]:
        """Return the score of each seed of some runs."""
        return [part.corpus_score() for part in self._parts(runs, split, measure, subset)]

    def compare(
        self,
        system: str,
        baseline: str,
        split: str,
        measure: str,
        subset: Subset | None = None,
        other: Subset | None = None,
    ) -> Difference:
        """Compare two runs on a split or a subset of it, or the gain on the subset with that on another one.

        Raises `UserError` if their references differ.
        """
        self._check_references(system, baseline, split)
        if subset is not None and other is not None:
            return difference_of(*(self._gap(runs, split, measure, (subset, other)) for runs in (system, baseline)))
        sampled = [self._sampled(runs, split, measure, _key(subset), SEED) for runs in (system, baseline)]
        return difference_of(*sampled)

    def compare_claimed(self, claim: PlannedClaim, runs: ComparedRuns, *, measure: str = "") -> Difference | str:
        """Compare runs on the split that a claim is about, or say why they cannot be compared.

        The measure is by default that of the claim's metric.
        Raises `UserError` if runs on the same data set have different references.
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
        for first, second in compared:
            if self._dataset(first[0]) != self._dataset(second[0]) and not self.same_sentences(first, second):
                return f"{first[0]} and {second[0]} are not tested on the same sentences"
            self._check_references(first[0], second[0], first[1])
        if len(compared) == 1:
            return self.compare(runs.system, runs.baseline, split, measure)
        first, second = (tests[0] for tests in compared)
        same = self.same_sentences(first, second)
        if not same and (shared := self._shared_sentences(first, second)):
            return shared
        # Of a run that occurs twice, the cache returns the same object, which then counts once.
        system, baseline = (self._sampled(*tested, measure, None, SEED) for tested in compared[0])
        others = [self._sampled(*tested, measure, None, SEED if same else OTHER_SEED) for tested in compared[1]]
        return signed_sum((1, system), (-1, baseline), (-1, others[0]), (1, others[1]))

    def same_sentences(self, first: tuple[str, str], second: tuple[str, str]) -> bool:
        """Return whether two runs, each with a split, are tested on the same sentences."""
        return self._identity(*first) == self._identity(*second)

    def interval(self, runs: str, split: str, measure: str, subset: Subset | None = None) -> tuple[float, float]:
        """Return the 95 % interval of the mean score of some runs on a split or a subset of it."""
        return score_interval(self._sampled(runs, split, measure, _key(subset), SEED))

    def _path(self, file_type: str, runs: PlannedRuns, seed: int) -> Path:
        names = {"scale": self._table.scale, "dataset": runs.dataset, "system": runs.system, "seed": seed}
        return Path(self._layout.path(file_type, **names))

    def _attachment(self, runs: str, split: str) -> list[SentenceCounts]:
        files = self._trees[runs][split]
        trees = None if files["trees"] is None else Path(files["trees"])
        compared = [read_compared(path, Path(files["pairs"]), trees) for path in self._parses(runs, split)]
        return [attachment_counts([row["argmax"] for row in own.predicted], own.gold) for own in compared]

    def _parses(self, runs: str, split: str) -> list[Path]:
        """Return the parses of each seed of some runs."""
        planned, folder = self._table.runs[runs], "gold_parses" if split.startswith(GOLD) else "hypotheses"
        return [output_files(self._path(folder, planned, seed), split).parses for seed in planned.seeds]

    def _segments(self, runs: str, split: str) -> list[SentenceCounts]:
        """Read the stored scores of segments. Raises `UserError` if they are not those of the translations."""
        planned, counts = self._table.runs[runs], []
        sentences = len(self.outputs(runs, split).references)
        for seed in planned.seeds:
            path = self._path("segment_scores", planned, seed) / file_name("comet_segments", split=split)
            own = segment_counts(path)
            if len(own) != sentences:
                raise UserError(
                    f"{path} has {len(own):,} scores for {sentences:,} translations: delete it and score again."
                )
            counts.append(own)
        return counts

    def _dataset(self, runs: str) -> str:
        return self._table.runs[runs].dataset

    def _identity(self, runs: str, split: str) -> Sequence[Any]:
        """Return what tells the sentences of a test from others: the references; of a treebank the words."""
        if not split.startswith(GOLD):
            return self.outputs(runs, split).references
        files = self._trees[runs][split]
        parses = self._parses(runs, split)[0]
        rows = read_rows(Path(files["pairs"]), columns=["source_words"], stop=row_count(parses))
        return [tuple(row["source_words"]) for row in rows]

    def _shared_sentences(self, first: tuple[str, str], second: tuple[str, str]) -> str:
        """Say how many sentences two tests share, if so many that they are not independent; else return nothing."""
        identities = [set(self._identity(*tested)) for tested in (first, second)]
        shared = len(identities[0] & identities[1])
        if shared <= INDEPENDENT * min(map(len, identities)):
            return ""
        return (
            f"the tests of {first[0]} and {second[0]} share {shared:,} sentences, but not all, so that they are "
            "neither paired nor independent"
        )

    def _check_references(self, system: str, baseline: str, split: str) -> None:
        if split.startswith(GOLD):
            return
        if self.outputs(system, split).references != self.outputs(baseline, split).references:
            raise UserError(
                f"{system} and {baseline} have different references of {split}, so that they cannot be compared: "
                "delete the results of the older one and run the workflow again."
            )

    def _parts(self, runs: str, split: str, measure: str, subset: Subset | None) -> Sequence[SentenceCounts]:
        parts = self.counts(runs, split, measure)
        return parts if subset is None else [part.rows(subset.rows_B) for part in parts]

    def _weights(self, sentences: int, seed: int) -> np.ndarray:
        return bootstrap_weights(sentences, seed=seed)

    def _sampled(self, runs: str, split: str, measure: str, key: "_SubsetKey | None", seed: int) -> SampledScores:
        parts = self._parts(runs, split, measure, None if key is None else key.subset)
        return sampled_scores(parts, self._weights(len(parts[0]), seed))

    def _gap(self, runs: str, split: str, measure: str, subsets: tuple[Subset, Subset]) -> SampledScores:
        """Score runs on a subset minus another, which may share sentences: samples are of the whole split."""
        weights_AB = self._weights(len(self.outputs(runs, split).references), SEED)
        first, second = (
            sampled_scores(self._parts(runs, split, measure, subset), weights_AB[:, subset.rows_B])
            for subset in subsets
        )
        return first.minus(second)


class _SubsetKey:
    """A subset as a key: two subsets of a test are the same if they have the same sentences."""

    def __init__(self, subset: Subset) -> None:
        self.subset = subset
        self._rows = tuple(subset.rows_B.tolist())

    def __hash__(self) -> int:
        return hash(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SubsetKey) and self._rows == other._rows


def _key(subset: Subset | None) -> _SubsetKey | None:
    return None if subset is None else _SubsetKey(subset)
