"""Statistics of sentences behind each metric: they add up, so that any part or sample of a test can be scored."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.bleu import BleuText, bleu_text, chrf_metric
from nmtcore.evaluation.ngrams import count_character_ngrams, count_word_ngrams
from nmtcore.evaluation.ribes import PROGRAM, sentence_ribes


@dataclass(frozen=True, kw_only=True)
class SentenceStatistics(ABC):
    """What a metric counts; a row is a sentence, or the sum over a sample of sentences."""

    signature: str
    """Signature of the scores."""

    def __len__(self) -> int:
        return len(next(iter(self._counts().values())))

    def rows(self, rows: np.ndarray) -> Self:
        """Select some of the rows."""
        return self._changed(lambda counts: counts[rows])

    def weighted_sums(self, weights_AB: np.ndarray) -> Self:
        """Add up the rows once per sample, each as often as the sample's weights (floats) say.

        Products of float matrices are fast, and sums of whole numbers are exact up to 2^53.
        """
        return self._changed(lambda counts: weights_AB @ counts)

    def plus(self, other: Self) -> Self:
        """Add other statistics of the metric, row by row; a single row is combined with each row of the other."""
        counts = other._counts()
        return replace(self, **{name: own + counts[name] for name, own in self._counts().items()})

    def minus(self, other: Self) -> Self:
        """Subtract other statistics of the metric, row by row; see `plus`."""
        return self.plus(other._changed(np.negative))

    def corpus_score(self) -> float:
        """Compute the score (0 to 100) of all rows together. Raises `ValueError` without rows."""
        if not len(self):
            raise ValueError("an empty set of sentences has no score")
        return float(self._changed(lambda counts: counts.sum(axis=0, keepdims=True)).scores_by_row()[0])

    @abstractmethod
    def scores_by_row(self) -> np.ndarray:
        """Compute the score of each row alone, as if it were a test; fast for thousands of samples."""

    def _counts(self) -> dict[str, np.ndarray]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def _changed(self, change: Callable[[np.ndarray], np.ndarray]) -> Self:
        return replace(self, **{name: change(counts) for name, counts in self._counts().items()})


@dataclass(frozen=True, kw_only=True)
class BleuStatistics(SentenceStatistics):
    """Counts behind BLEU, which are sacreBLEU's."""

    lengths_B: np.ndarray
    """Tokens of the translation."""
    reference_lengths_B: np.ndarray
    """Tokens of the reference."""
    matches_B4: np.ndarray
    """N-grams of the translation that are in the reference, n = 1 to 4."""
    totals_B4: np.ndarray
    """N-grams of the translation."""
    smoothed: bool = True
    """Whether an order without matches gets sacreBLEU's exponential smoothing; else it makes the score 0."""

    def corpus_score(self) -> float:
        """Compute BLEU of all rows together, by sacreBLEU itself. Raises `ValueError` without rows."""
        from sacrebleu.metrics import BLEU

        if not len(self):
            raise ValueError("an empty set of sentences has no BLEU")
        lengths = {"sys_len": int(self.lengths_B.sum()), "ref_len": int(self.reference_lengths_B.sum())}
        counts = {"correct": self.matches_B4.sum(axis=0).tolist(), "total": self.totals_B4.sum(axis=0).tolist()}
        return BLEU.compute_bleu(**counts, **lengths, smooth_method="exp" if self.smoothed else "none").score

    def scores_by_row(self) -> np.ndarray:
        """Compute BLEU of each row alone, without sacreBLEU's effective order.

        Equals `corpus_score` of each row up to rounding.
        """
        matches_B4, totals_B4 = self.matches_B4.astype(np.float64), self.totals_B4.astype(np.float64)
        lengths_B = self.lengths_B.astype(np.float64)
        unmatched_B4 = matches_B4 == 0
        halvings_B4 = np.cumsum(unmatched_B4, axis=1)  # each order without a match halves the count of the next one
        counts_B4 = np.where(unmatched_B4, 0.5**halvings_B4, matches_B4)
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithms_B = np.log(100 * counts_B4 / totals_B4).mean(axis=1)
            penalties_B = np.exp(np.minimum(0.0, 1 - self.reference_lengths_B / lengths_B))
            scores_B = penalties_B * np.exp(logarithms_B)
        enough_B = ~unmatched_B4.all(axis=1) if self.smoothed else ~unmatched_B4.any(axis=1)
        return np.where((totals_B4 > 0).all(axis=1) & enough_B, scores_B, 0.0)


@dataclass(frozen=True, kw_only=True)
class ChrfStatistics(SentenceStatistics):
    """Counts behind chrF, which are sacreBLEU's."""

    totals_B6: np.ndarray
    """Character n-grams of the translation, n = 1 to 6; 0 if the reference has none."""
    reference_totals_B6: np.ndarray
    """Character n-grams of the reference."""
    matches_B6: np.ndarray
    """Character n-grams that both have."""

    def scores_by_row(self) -> np.ndarray:
        """Compute chrF2 of each row alone, in the same steps as sacreBLEU, so that scores are equal to the last bit."""
        counted_B6 = (self.totals_B6 > 0) & (self.reference_totals_B6 > 0)
        precisions_B, recalls_B = np.zeros(len(self)), np.zeros(len(self))
        for order in range(6):
            counted_B, matches_B = counted_B6[:, order], self.matches_B6[:, order]
            precisions_B += np.divide(matches_B, self.totals_B6[:, order], where=counted_B, out=np.zeros(len(self)))
            recalls_B += np.divide(
                matches_B, self.reference_totals_B6[:, order], where=counted_B, out=np.zeros(len(self))
            )
        orders_B = np.maximum(counted_B6.sum(axis=1), 1)
        precisions_B, recalls_B = precisions_B / orders_B, recalls_B / orders_B
        scores_B = 5 * precisions_B * recalls_B
        below_B = 4 * precisions_B + recalls_B
        return 100 * np.divide(scores_B, below_B, where=below_B > 0, out=np.zeros(len(self)))


@dataclass(frozen=True, kw_only=True)
class MeanStatistics(SentenceStatistics):
    """Scores of sentences whose mean is the score of a test, as of RIBES and COMET."""

    scores_B: np.ndarray
    """Score (0 to 1), or the sum of a sample's scores."""
    sentences_B: np.ndarray
    """1, or 0 for a sentence that does not count; or the sentences of a sample."""

    def scores_by_row(self) -> np.ndarray:
        """Compute the mean of each row, in percent; 0 if none of its sentences counts."""
        zeros_B = np.zeros(len(self))
        return 100 * np.divide(self.scores_B, self.sentences_B, where=self.sentences_B > 0, out=zeros_B)


def bleu_statistics(
    translations: Sequence[str], references: Sequence[str], evaluation: EvaluationSettings
) -> BleuStatistics:
    """Count the n-grams and tokens of each sentence as BLEU does under a data set's settings.

    Raises `ValueError` if the numbers of translations and references differ.
    """
    text = _bleu_text(translations, references, evaluation)
    return _count_words(text.words(text.hypotheses), text.words(text.references), text.signature)


def multi_bleu_statistics(
    translations: Sequence[str], references: Sequence[str], evaluation: EvaluationSettings
) -> BleuStatistics:
    """Count as Moses's multi-bleu.perl does: tokens are what spaces separate, and nothing is smoothed.

    Raises `ValueError` if the numbers of translations and references differ.
    """
    texts = [[line.lower() if evaluation.lowercase else line for line in lines] for lines in (translations, references)]
    words = [[line.split() for line in lines] for lines in texts]
    signature = f"multi-bleu|{_case(evaluation)}|tok:none|smooth:none|text:{evaluation.text}"
    return replace(_count_words(*words, signature), smoothed=False)


def _count_words(
    translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]], signature: str
) -> BleuStatistics:
    counts = count_word_ngrams(translations, references, orders=4)
    return BleuStatistics(
        signature=signature,
        lengths_B=counts[0].totals_B,
        reference_lengths_B=counts[0].reference_totals_B,
        matches_B4=np.stack([order.matches_B for order in counts], axis=1),
        totals_B4=np.stack([order.totals_B for order in counts], axis=1),
    )


def chrf_statistics(
    translations: Sequence[str], references: Sequence[str], evaluation: EvaluationSettings
) -> ChrfStatistics:
    """Count the character n-grams of each sentence as chrF does under a data set's settings.

    Raises `ValueError` if the numbers of translations and references differ.
    """
    chrf = chrf_metric(lowercase=evaluation.lowercase, text=evaluation.text)
    texts = [
        ["".join((line.lower() if evaluation.lowercase else line).split()) for line in lines]
        for lines in (translations, references)
    ]
    counts = count_character_ngrams(*texts, orders=6)
    reference_totals_B6 = np.stack([order.reference_totals_B for order in counts], axis=1)
    totals_B6 = np.stack([order.totals_B for order in counts], axis=1)
    return ChrfStatistics(
        signature=chrf.signature,
        totals_B6=np.where(reference_totals_B6 > 0, totals_B6, 0),
        reference_totals_B6=reference_totals_B6,
        matches_B6=np.stack([order.matches_B for order in counts], axis=1),
    )


def ribes_statistics(
    translations: Sequence[str], references: Sequence[str], evaluation: EvaluationSettings
) -> MeanStatistics:
    """Compute RIBES of each sentence, by its authors' program, from BLEU's tokens under a data set's settings.

    Sentences with an empty reference do not count, as with the program's option -z. Raises `ValueError` if the numbers
    of translations and references differ.
    """
    text = _bleu_text(translations, references, evaluation)
    words = text.words(text.references)
    pairs = zip(text.words(text.hypotheses), words, strict=True)
    scores_B = np.array([sentence_ribes(*pair) for pair in pairs], dtype=np.float64)
    tokens = text.signature.partition("|tok:")[2].partition("|")[0]
    exponents = f"alpha:{PROGRAM.alpha}|beta:{PROGRAM.beta}"
    return MeanStatistics(
        signature=f"RIBES|nrefs:1|{_case(evaluation)}|tok:{tokens}|{exponents}|definition:{PROGRAM.name}{text.note}",
        scores_B=scores_B,
        sentences_B=np.array([float(bool(reference)) for reference in words]),
    )


def _bleu_text(translations: Sequence[str], references: Sequence[str], evaluation: EvaluationSettings) -> BleuText:
    return bleu_text(
        translations,
        references,
        tokenize=evaluation.tokenize,
        lowercase=evaluation.lowercase,
        text=evaluation.text,
    )


def _case(evaluation: EvaluationSettings) -> str:
    return f"case:{'lc' if evaluation.lowercase else 'mixed'}"
