"""The metrics that compare translations with references: what each counts in a sentence, and the score of the sums.

Shapes: B sentences, F features.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.metrics import command_metric
from nmtcore.config.registry import has_own, own_member, own_names, own_path
from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import UAS_LABELS
from nmtcore.evaluation.counts import (
    RowScores,
    SentenceCounts,
    bleu_of_counts,
    checksum_of_test,
    chrf_of_counts,
    empty_count,
    length_ratio,
    share_of_counts,
)
from nmtcore.evaluation.ribes import ALPHA, BETA, sentence_ribes

Lines = Sequence[str]
Counted = tuple[np.ndarray, str]
"""A row of counts per sentence, and the signature."""
Count = Callable[[Lines, Lines, EvaluationSettings], Counted]
"""Counts translations and references."""

TEXT_NOTES = {"detokenised": "", "tokens": "|text:tokens"}
"""What is appended to signatures, by the form of the strings: such scores are comparable only with each other."""


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
    metric, note, lines = _bleu_text([*translations, *references], evaluation)
    counts_BF = _sacrebleu_counts(metric, lines[: len(translations)], lines[len(translations) :], columns=10)
    return counts_BF, metric.get_signature().format() + note


def _multi_bleu(translations: Lines, references: Lines, evaluation: EvaluationSettings) -> Counted:
    """Count as Moses's multi-bleu.perl does: tokens are what spaces separate."""
    counts_BF, _ = _bleu(translations, references, replace(evaluation, tokenize="none", text="tokens"))
    return counts_BF, f"multi-bleu|{_case(evaluation)}|tok:none|smooth:none|text:{evaluation.text}"


def _chrf(translations: Lines, references: Lines, evaluation: EvaluationSettings) -> Counted:
    from sacrebleu.metrics import CHRF

    metric = CHRF(lowercase=evaluation.lowercase)
    counts_BF = _sacrebleu_counts(metric, translations, references, columns=18)
    return counts_BF, metric.get_signature().format() + TEXT_NOTES[evaluation.text]


def _sacrebleu_counts(metric: Any, translations: Lines, references: Lines, *, columns: int) -> np.ndarray:
    """Count by sacreBLEU itself. It has no public name for that; its version is pinned, and tests hold the counts."""
    counts = metric._extract_corpus_statistics(list(translations), [list(references)])
    # The caches of a tokeniser keep 65,536 lines (40 MB) that no other score finds: training with validations grew.
    tokenizer = getattr(metric, "tokenizer", None)
    for part in (tokenizer, getattr(tokenizer, "_post_tokenizer", None)):
        if clear := getattr(type(part).__call__, "cache_clear", None):
            clear()
    return np.array(counts, dtype=float).reshape(len(translations), columns)


def _ribes(translations: Lines, references: Lines, evaluation: EvaluationSettings) -> Counted:
    """Compute RIBES of each sentence from BLEU's tokens.

    Sentences with an empty reference do not count, as with the authors' program and its option -z.
    """
    metric, note, lines = _bleu_text([*translations, *references], evaluation)
    lines = [line.lower() for line in lines] if evaluation.lowercase else lines
    words = [metric.tokenizer(line.rstrip()).split() for line in lines]
    pairs = zip(words[: len(translations)], words[len(translations) :], strict=True)
    counts = [(sentence_ribes(translation, reference), float(bool(reference))) for translation, reference in pairs]
    signature = f"RIBES|nrefs:1|{_case(evaluation)}|tok:{metric.tokenizer.signature()}|alpha:{ALPHA}|beta:{BETA}"
    return np.array(counts).reshape(len(translations), 2), f"{signature}|definition:program{note}"


def _case(evaluation: EvaluationSettings) -> str:
    return f"case:{'lc' if evaluation.lowercase else 'mixed'}"


def _bleu_text(lines: Lines, evaluation: EvaluationSettings) -> tuple[Any, str, Lines]:
    """Return sacreBLEU's BLEU, what is appended to its signature, and the lines as it reads them.

    The tokeniser `ja` means KyTea's words on both sides if KyTea is installed (`|words:kytea-VERSION` in the
    signature), else sacreBLEU's `ja-mecab`. Raises `UserError` if that needs MeCab and MeCab is not installed.
    """
    from sacrebleu.metrics import BLEU

    tokenize, note = evaluation.tokenize, TEXT_NOTES[evaluation.text]
    if tokenize == "ja":
        tokenize, version = "ja-mecab", kytea_version()
        if version is not None:
            tokenize, note, lines = "none", f"|words:kytea-{version}{note}", kytea_lines(lines)
    try:
        # `force` suppresses sacreBLEU's warning about tokenised text.
        metric = BLEU(tokenize=tokenize, lowercase=evaluation.lowercase, force=bool(note))
    except RuntimeError as error:
        raise UserError(
            "Scores on Japanese words need the program kytea, or the packages mecab-python3 and ipadic: "
            "pip install mecab-python3 ipadic."
        ) from error
    return metric, note, lines


def kytea_version() -> str | None:
    """Return the version of KyTea; None if it is not installed."""
    return _kytea(["--version"], "").split()[-1] if shutil.which("kytea") else None


def kytea_lines(lines: Sequence[str]) -> list[str]:
    """Segment each line into words joined by spaces, with KyTea's default model or KYTEA_MODEL."""
    # KyTea treats a space like any other character, and skips a last line without a line end.
    text = "".join(" ".join(line.split()) + "\n" for line in lines)
    output = _kytea(["-notags", "-out", "tok"], text).split("\n")[: len(lines)]
    return [" ".join(line.split()) for line in output]


def _kytea(options: Sequence[str], text: str) -> str:
    """Return what KyTea prints. Raises `UserError` if it fails."""
    try:
        process = subprocess.run(
            ["kytea", *options], input=text, capture_output=True, encoding="utf-8", errors="replace", check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "").strip().splitlines()
        raise UserError(
            f"The program kytea fails ({said[-1] if said else error}): try `kytea < file`, and check that its model "
            "exists (KYTEA_MODEL names another)."
        ) from error
    return process.stdout or process.stderr


_METRICS = {
    "bleu": Metric("BLEU", _bleu, bleu_of_counts),
    "chrf": Metric("chrF", _chrf, chrf_of_counts),
    "ribes": Metric("RIBES", _ribes, share_of_counts),
    "multi_bleu": Metric("multi-bleu", _multi_bleu, partial(bleu_of_counts, smoothed=False)),
}


class MetricsByName(Mapping[str, Metric]):
    """The metrics that are computed from the texts: those of the package, and files of the user's own.

    A file `config/metrics/NAME.py` (`config.registry`) has a `LABEL` and the functions `counts` and `score`.
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
    if (metric := command_metric(measure)) is not None:
        return metric.label
    detail = "directed" in measure and measure != "directed"
    return "" if detail else UAS_LABELS.get(measure, measure)


def metric_labels(scores: Mapping[str, Any]) -> dict[str, str]:
    """Return the names in tables of the metrics in a file of scores, by their keys, those of the package first.

    A metric of the user's own whose file is not here has its key as name.
    """
    keys = (
        key
        for key, splits in scores.items()
        if isinstance(splits, Mapping) and any(f"{key}_signature" in split for split in splits.values())
    )
    return LABELS | {key: label_of(key) for key in keys}


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
    """Return bleu and chrf (0 to 100) with their signatures, the lengths in BLEU's tokens, and numbers of sentences.

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
        "empty_translations": empty_count(bleu),
    }


LABELS = {name: metric.label for name, metric in _METRICS.items()}
"""Names in tables of the package's metrics."""
