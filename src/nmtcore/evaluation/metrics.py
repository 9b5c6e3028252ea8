"""The metrics that compare translations with references."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.sentence_statistics import (
    SentenceStatistics,
    bleu_statistics,
    chrf_statistics,
    multi_bleu_statistics,
    ribes_statistics,
)


class Metric(NamedTuple):
    """A metric's name in tables, and the function that computes its statistics of each sentence."""

    label: str
    statistics: Callable[[Sequence[str], Sequence[str], EvaluationSettings], SentenceStatistics]


METRICS = {
    "bleu": Metric("BLEU", bleu_statistics),
    "chrf": Metric("chrF", chrf_statistics),
    "ribes": Metric("RIBES", ribes_statistics),
    "multi_bleu": Metric("multi-bleu", multi_bleu_statistics),
}
"""Metrics that are computed from the texts."""

LABELS = {**{name: metric.label for name, metric in METRICS.items()}, "comet": "COMET"}
"""Names in tables of all metrics; the statistics of COMET are `segments.segment_statistics` of its stored scores."""
