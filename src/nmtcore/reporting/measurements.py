"""Scores of the runs behind a table of a paper, and their differences, from stored translations and parses."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.datasets import GOLD, EvaluationSettings
from nmtcore.config.planned_tables import PlannedRuns, PlannedTable
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment_statistics import attachment_statistics
from nmtcore.evaluation.bootstrap import bootstrap_weights
from nmtcore.evaluation.differences import Difference, SampledScores, difference_of, sampled_scores, score_interval
from nmtcore.evaluation.metrics import LABELS, METRICS
from nmtcore.evaluation.outputs import SplitOutputs, read_outputs
from nmtcore.evaluation.paired_tests import PairedTests, run_paired_tests
from nmtcore.evaluation.scores import output_files, read_compared
from nmtcore.evaluation.segments import segment_statistics
from nmtcore.evaluation.sentence_statistics import SentenceStatistics
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
    """The scores of a table's runs; each is computed once."""

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self._table, self._layout = table, layout
        self._trees: Mapping[str, Any] = table.more.get("trees", {})
        for method in ("outputs", "statistics", "_weights", "_sampled"):
            setattr(self, method, cache(getattr(self, method)))

    def measure(self, metric: str) -> str:
        """Return the measure that a metric of the paper stands for."""
        return self._table.measures.get(metric, metric)

    def has(self, runs: str, split: str, measure: str) -> bool:
        """Return whether runs have a measure: attachment scores need parses."""
        return is_of_translations(measure) or split in self._trees.get(runs, {})

    def outputs(self, runs: str, split: str) -> SplitOutputs:
        """Read the translations of some runs, whose only system is `runs`. Raises the errors of `read_outputs`."""
        planned = self._table.runs[runs]
        return read_outputs({runs: {seed: self._path("hypotheses", planned, seed) for seed in planned.seeds}}, split)

    def statistics(self, runs: str, split: str, measure: str) -> list[SentenceStatistics]:
        """Return the statistics of each seed of some runs on a split."""
        if measure in ATTACHMENT:
            return self._attachment(runs, split)
        if measure in SEGMENT_MEASURES:
            return self._segments(runs, split)
        outputs = self.outputs(runs, split)
        dataset = self._table.runs[runs].dataset
        evaluation = build(EvaluationSettings, self._table.evaluation[dataset], where=dataset)
        lines_by_seed = outputs.translations[runs].values()
        return [METRICS[measure].statistics(lines, outputs.references, evaluation) for lines in lines_by_seed]

    def scores(self, runs: str, split: str, measure: str, subset: Subset | None = None) -> list[float]:
        """Return the score of each seed of some runs."""
        return [part.corpus_score() for part in self._parts(runs, split, measure, subset)]

    def compare(self, system: str, baseline: str, split: str, measure: str, subset: Subset | None = None) -> Difference:
        """Compare two runs on a split or a subset of it. Raises `UserError` if their references differ."""
        self._check_references(system, baseline, split)
        sampled = [self._sampled(runs, split, measure, _key(subset)) for runs in (system, baseline)]
        return difference_of(*sampled)

    def interval(self, runs: str, split: str, measure: str, subset: Subset | None = None) -> tuple[float, float]:
        """Return the 95 % interval of the mean score of some runs on a split or a subset of it."""
        return score_interval(self._sampled(runs, split, measure, _key(subset)))

    def test(self, system: str, baseline: str, split: str, measure: str) -> PairedTests | None:
        """Run sacreBLEU's paired tests; None if both have the same translations."""
        if measure in ATTACHMENT:
            return None
        translations = [list(self.outputs(runs, split).translations[runs].values()) for runs in (system, baseline)]
        if translations[0] == translations[1]:
            return None
        statistics = {runs: self.statistics(runs, split, measure) for runs in (system, baseline)}
        return run_paired_tests(statistics, baseline=baseline)[system]

    def _path(self, file_type: str, runs: PlannedRuns, seed: int) -> Path:
        names = {"scale": self._table.scale, "dataset": runs.dataset, "system": runs.system, "seed": seed}
        return Path(self._layout.path(file_type, **names))

    def _attachment(self, runs: str, split: str) -> list[SentenceStatistics]:
        planned, files = self._table.runs[runs], self._trees[runs][split]
        trees = None if files["trees"] is None else Path(files["trees"])
        folder = "gold_parses" if split.startswith(GOLD) else "hypotheses"
        parses = [output_files(self._path(folder, planned, seed), split).parses for seed in planned.seeds]
        compared = [read_compared(path, Path(files["pairs"]), trees) for path in parses]
        return [attachment_statistics([row["argmax"] for row in own.predicted], own.gold) for own in compared]

    def _segments(self, runs: str, split: str) -> list[SentenceStatistics]:
        """Read the stored scores of segments. Raises `UserError` if they are not those of the translations."""
        planned, statistics = self._table.runs[runs], []
        sentences = len(self.outputs(runs, split).references)
        for seed in planned.seeds:
            path = self._path("segment_scores", planned, seed) / file_name("comet_segments", split=split)
            own = segment_statistics(path)
            if len(own) != sentences:
                raise UserError(
                    f"{path} has {len(own):,} scores for {sentences:,} translations: delete it and score again."
                )
            statistics.append(own)
        return statistics

    def _check_references(self, system: str, baseline: str, split: str) -> None:
        if split.startswith(GOLD):
            return
        if self.outputs(system, split).references != self.outputs(baseline, split).references:
            raise UserError(
                f"{system} and {baseline} have different references of {split}, so that they cannot be compared: "
                "delete the results of the older one and run the workflow again."
            )

    def _parts(self, runs: str, split: str, measure: str, subset: Subset | None) -> Sequence[SentenceStatistics]:
        parts = self.statistics(runs, split, measure)
        return parts if subset is None else [part.rows(subset.rows_B) for part in parts]

    def _weights(self, sentences: int) -> np.ndarray:
        return bootstrap_weights(sentences)

    def _sampled(self, runs: str, split: str, measure: str, key: "_SubsetKey | None") -> SampledScores:
        parts = self._parts(runs, split, measure, None if key is None else key.subset)
        return sampled_scores(parts, self._weights(len(parts[0])))


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
