"""The metrics that compare translations with references: what each counts in a sentence, and the score of the sums."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.own_code import has_own, own_member, own_names, own_path
from nmtcore.errors import UserError
from nmtcore.evaluation.bleu import TEXT_NOTES, bleu_text, chrf_metric, forget_lines
from nmtcore.evaluation.counts import (
    RowScores,
    SentenceCounts,
    bleu_of_counts,
    checksum_of_test,
    chrf_of_counts,
    length_ratio,
    share_of_counts,
)
from nmtcore.evaluation.ribes import ALPHA, BETA, sentence_ribes

Lines = Sequence[str]
Counted = tuple[np.ndarray, str]
"""A row of counts per sentence, and the signature."""
Count = Callable[[Lines, Lines, EvaluationSettings], Counted]
"""Counts translations and references."""


class Metric(NamedTuple):
    """A metric: its name in tables, what it counts in each sentence, and the score of a sum of counts."""

    label: str
    counts: Count
    score: RowScores

    def count(self, translations: Lines, references: Lines, evaluation: EvaluationSettings) -> SentenceCounts:
        """Count the sentences of a test, which has a reference for each translation."""
        counts_BF, signature = self.counts(translations, references, evaluation)
        return SentenceCounts(
            counts_BF=np.asarray(counts_BF, dtype=float),
            score=self.score,
            signature=signature,
            test=checksum_of_test(references),
        )


def _bleu(translations: Lines, references: Lines, evaluation: EvaluationSettings) -> Counted:
    text = bleu_text(translations, references, evaluation)
    return _sacrebleu_counts(text.metric, text.translations, text.references, columns=10), text.signature


def _multi_bleu(translations: Lines, references: Lines, evaluation: EvaluationSettings) -> Counted:
    """Count as Moses's multi-bleu.perl does: tokens are what spaces separate."""
    counts_BF, _ = _bleu(translations, references, replace(evaluation, tokenize="none", text="tokens"))
    return counts_BF, f"multi-bleu|{_case(evaluation)}|tok:none|smooth:none|text:{evaluation.text}"


def _chrf(translations: Lines, references: Lines, evaluation: EvaluationSettings) -> Counted:
    metric = chrf_metric(evaluation)
    signature = metric.get_signature().format() + TEXT_NOTES[evaluation.text]
    return _sacrebleu_counts(metric, translations, references, columns=18), signature


def _sacrebleu_counts(metric: Any, translations: Lines, references: Lines, *, columns: int) -> np.ndarray:
    """Count by sacreBLEU itself. It has no public name for that; its version is pinned, and tests hold the counts."""
    counts = metric._extract_corpus_statistics(list(translations), [list(references)]) if translations else []
    forget_lines(getattr(metric, "tokenizer", None))
    return np.array(counts, dtype=float).reshape(len(translations), columns)


def _ribes(translations: Lines, references: Lines, evaluation: EvaluationSettings) -> Counted:
    """Compute RIBES of each sentence from BLEU's tokens.

    Sentences with an empty reference do not count, as with the authors' program and its option -z.
    """
    text = bleu_text(translations, references, evaluation)
    pairs = zip(text.words(text.translations), text.words(text.references), strict=True)
    counts = [(sentence_ribes(words, reference), float(bool(reference))) for words, reference in pairs]
    tokens = text.signature.partition("|tok:")[2].partition("|")[0]
    signature = f"RIBES|nrefs:1|{_case(evaluation)}|tok:{tokens}|alpha:{ALPHA}|beta:{BETA}|definition:program"
    return np.array(counts).reshape(len(translations), 2), signature + text.note


def _case(evaluation: EvaluationSettings) -> str:
    return f"case:{'lc' if evaluation.lowercase else 'mixed'}"


_METRICS = {
    "bleu": Metric("BLEU", _bleu, bleu_of_counts),
    "chrf": Metric("chrF", _chrf, chrf_of_counts),
    "ribes": Metric("RIBES", _ribes, share_of_counts),
    "multi_bleu": Metric("multi-bleu", _multi_bleu, partial(bleu_of_counts, smoothed=False)),
}


class MetricsByName(Mapping[str, Metric]):
    """The metrics that are computed from the texts: those of the package, and files of the user's own.

    A file `config/metrics/NAME.py` (`config.own_code`) has a `LABEL` and the functions `counts` and `score`.
    """

    def __getitem__(self, name: str) -> Metric:
        if name in _METRICS or not has_own("metrics", name):
            return _METRICS[name]
        label, counts, score = (own_member("metrics", name, member) for member in ("LABEL", "counts", "score"))
        return Metric(label, partial(_own_counts, name, counts), score)

    def __contains__(self, name: object) -> bool:
        return name in _METRICS or (isinstance(name, str) and has_own("metrics", name))

    def __iter__(self) -> Iterator[str]:
        yield from dict.fromkeys([*_METRICS, *own_names("metrics")])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _own_counts(name: str, counts: Count, translations: Lines, *rest: Any) -> Counted:
    """Count by a metric of the user's own. Raises `UserError` if it does not return a row per sentence."""
    counts_BF, signature = counts(translations, *rest)
    shape = np.shape(counts_BF)
    if len(shape) != 2 or shape[0] != len(translations):
        raise UserError(
            f"{own_path('metrics', name)}: counts must have a row for each of the {len(translations)} sentences and a "
            f"column for each number, but has the shape {shape}."
        )
    return counts_BF, signature


METRICS = MetricsByName()
"""Metrics that are computed from the texts."""


def score_of(measure: str) -> RowScores:
    """Return the function of sums of a measure: that of a metric, or else the share of the first column."""
    return METRICS[measure].score if measure in METRICS else share_of_counts


def label_of(measure: str) -> str:
    """Return the name in tables of a measure of a run; empty for those that are only details of others."""
    if measure in METRICS:
        return str(METRICS[measure].label)
    detail = "directed" in measure and measure != "directed"
    return "" if detail else {"comet": LABELS["comet"], "uas": "UAS"}.get(measure, measure)


def metric_labels(scores: Mapping[str, Any]) -> dict[str, str]:
    """Return the names in tables of the metrics in a file of scores, by their keys, those of the package first.

    A metric of the user's own whose file is not here has its key as name.
    """
    own = (key for key, splits in scores.items() if key not in LABELS and _is_metric(key, splits))
    return LABELS | {key: str(METRICS[key].label) if key in METRICS else key for key in own}


def _is_metric(key: str, splits: Any) -> bool:
    return isinstance(splits, Mapping) and any(
        isinstance(split, Mapping) and f"{key}_signature" in split for split in splits.values()
    )


def count_translations(
    translations: Lines, references: Lines, evaluation: EvaluationSettings, metrics: Iterable[str] = ("bleu", "chrf")
) -> dict[str, SentenceCounts]:
    """Count the sentences of a test by some metrics. Raises `UserError` without any, or with other numbers of lines."""
    if len(translations) != len(references):
        raise UserError(
            f"{len(translations)} translations cannot be scored against {len(references)} references: "
            "provide one line for each."
        )
    if not translations:
        raise UserError("There are no translations to score.")
    return {metric: METRICS[metric].count(translations, references, evaluation) for metric in metrics}


def score_translations(translations: Lines, references: Lines, evaluation: EvaluationSettings) -> dict[str, Any]:
    """Score translations by BLEU and chrF, by a data set's settings; see `bleu_scores` and `count_translations`."""
    return bleu_scores(count_translations(translations, references, evaluation))


def bleu_scores(counts: Mapping[str, SentenceCounts]) -> dict[str, Any]:
    """Return bleu and chrf (0 to 100) with their signatures, the lengths in BLEU's tokens, and the sentences.

    `length_ratio` is the length of the translations divided by that of the references.
    """
    bleu, chrf = counts["bleu"], counts["chrf"]
    length, reference_length = bleu.counts_BF[:, :2].sum(axis=0).astype(int).tolist()
    return {
        **{"bleu": bleu.corpus_score(), "bleu_signature": bleu.signature},
        **{"chrf": chrf.corpus_score(), "chrf_signature": chrf.signature},
        "length_ratio": length_ratio(bleu),
        "length": length,
        "reference_length": reference_length,
        "sentences": len(bleu),
    }


LABELS = {**{name: metric.label for name, metric in _METRICS.items()}, "comet": "COMET"}
"""Names in tables of the package's metrics. COMET's are counted in an environment of its own (`segments`)."""
