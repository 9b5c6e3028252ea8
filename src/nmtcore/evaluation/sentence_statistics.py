"""The counts behind BLEU, sentence by sentence: they add up, so that any part or sample of a test set can be scored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.evaluation.bleu import bleu_text


@dataclass(frozen=True, kw_only=True)
class BleuStatistics:
    """sacreBLEU's counts; a row is a sentence, or the sum over a sample of sentences."""

    lengths_B: np.ndarray
    """Tokens of the translation."""
    reference_lengths_B: np.ndarray
    """Tokens of the reference."""
    matches_B4: np.ndarray
    """N-grams of the translation that are in the reference, n = 1 to 4."""
    totals_B4: np.ndarray
    """N-grams of the translation."""
    signature: str
    """sacreBLEU's signature of scores."""

    def __len__(self) -> int:
        return len(self.lengths_B)

    def rows(self, rows: np.ndarray) -> "BleuStatistics":
        """Select some of the rows."""
        return self._changed(lambda counts: counts[rows])

    def weighted_sums(self, weights_AB: np.ndarray) -> "BleuStatistics":
        """Add up the rows once per sample, each as often as the sample's weights (floats) say.

        Products of float matrices are fast, and sums of whole numbers are exact up to 2^53.
        """
        return self._changed(lambda counts: weights_AB @ counts)

    def _changed(self, change: Callable[[np.ndarray], np.ndarray]) -> "BleuStatistics":
        names = ("lengths_B", "reference_lengths_B", "matches_B4", "totals_B4")
        return replace(self, **{name: change(getattr(self, name)) for name in names})

    def corpus_bleu(self) -> float:
        """Compute sacreBLEU's score of all rows together, by sacreBLEU itself. Raises `ValueError` without rows."""
        from sacrebleu.metrics import BLEU

        if not len(self):
            raise ValueError("an empty set of sentences has no BLEU")
        lengths = {"sys_len": int(self.lengths_B.sum()), "ref_len": int(self.reference_lengths_B.sum())}
        counts = {"correct": self.matches_B4.sum(axis=0).tolist(), "total": self.totals_B4.sum(axis=0).tolist()}
        return BLEU.compute_bleu(**counts, **lengths, smooth_method="exp").score

    def bleu_by_row(self) -> np.ndarray:
        """Compute BLEU for each row alone, with sacreBLEU's exponential smoothing but not its effective order.

        Equals `corpus_bleu` of each row up to rounding, and is fast for thousands of samples.
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
        return np.where((totals_B4 > 0).all(axis=1) & ~unmatched_B4.all(axis=1), scores_B, 0.0)


def bleu_statistics(
    hypotheses: Sequence[str], references: Sequence[str], evaluation: EvaluationSettings
) -> BleuStatistics:
    """Count the n-grams and tokens of each sentence as BLEU does under a data set's settings.

    Raises `ValueError` if the numbers of translations and references differ.
    """
    text = bleu_text(
        hypotheses,
        references,
        tokenize=evaluation.tokenize,
        lowercase=evaluation.lowercase,
        text=evaluation.text,
    )
    pairs = zip(text.hypotheses, text.references, strict=True)
    text.metric.effective_order = True  # no warning about scores of sentences; the counts are the same
    scores = [text.metric.sentence_score(hypothesis, [reference]) for hypothesis, reference in pairs]
    text.metric.effective_order = False
    return BleuStatistics(
        lengths_B=np.array([score.sys_len for score in scores], dtype=np.int64),
        reference_lengths_B=np.array([score.ref_len for score in scores], dtype=np.int64),
        matches_B4=np.array([score.counts for score in scores], dtype=np.int64).reshape(-1, 4),
        totals_B4=np.array([score.totals for score in scores], dtype=np.int64).reshape(-1, 4),
        signature=text.signature if scores else "",
    )
