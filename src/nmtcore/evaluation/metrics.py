"""The metrics that compare translations with references."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.own_code import has_own, own_member, own_names
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


_METRICS = {
    "bleu": Metric("BLEU", bleu_statistics),
    "chrf": Metric("chrF", chrf_statistics),
    "ribes": Metric("RIBES", ribes_statistics),
    "multi_bleu": Metric("multi-bleu", multi_bleu_statistics),
}


class MetricsByName(Mapping[str, Metric]):
    """The metrics that are computed from the texts: those of the package, and files of the user's own.

    A file `config/metrics/NAME.py` (`config.own_code`) has a `LABEL` and a function `statistics`.
    """

    def __getitem__(self, name: str) -> Metric:
        if name in _METRICS or not has_own("metrics", name):
            return _METRICS[name]
        return Metric(own_member("metrics", name, "LABEL"), own_member("metrics", name, "statistics"))

    def __contains__(self, name: object) -> bool:
        return name in _METRICS or (isinstance(name, str) and has_own("metrics", name))

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*_METRICS, *own_names("metrics")])

    def __len__(self) -> int:
        return sum(1 for _ in self)


METRICS = MetricsByName()
"""Metrics that are computed from the texts."""


def metric_labels(scores: Mapping[str, Any]) -> dict[str, str]:
    """Return the names in tables of the metrics in a file of scores, by their keys, those of the package first.

    A metric of the user's own whose file is not here has its key as name. The statistics of COMET are
    `segments.segment_statistics` of its stored scores.
    """
    own = (key for key, splits in scores.items() if key not in LABELS and _is_metric(key, splits))
    return LABELS | {key: str(METRICS[key].label) if key in METRICS else key for key in own}


def _is_metric(key: str, splits: Any) -> bool:
    return isinstance(splits, Mapping) and any(
        isinstance(split, Mapping) and f"{key}_signature" in split for split in splits.values()
    )


LABELS = {**{name: metric.label for name, metric in _METRICS.items()}, "comet": "COMET"}
"""Names in tables of the package's metrics."""
