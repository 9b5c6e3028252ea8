"""Statistics of sentences behind attachment scores, so that they have intervals as the scores of translations do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nmtcore.evaluation.induction import MEASURES, GoldTree, count_hits
from nmtcore.evaluation.sentence_statistics import SentenceStatistics


@dataclass(frozen=True, kw_only=True)
class AttachmentStatistics(SentenceStatistics):
    """Words with the right head, and all words that are compared."""

    correct_B: np.ndarray
    words_B: np.ndarray

    def scores_by_row(self) -> np.ndarray:
        """Compute the percentage of the words of each row; 0 if it has none."""
        return 100 * np.divide(self.correct_B, self.words_B, where=self.words_B > 0, out=np.zeros(len(self)))

    @property
    def sentence_mean(self) -> float:
        """The mean of the percentages of the sentences with words, 0 if there are none."""
        scored_B = self.words_B > 0
        return float(self.scores_by_row()[scored_B].mean()) if scored_B.any() else 0.0


def attachment_statistics(
    predicted: Sequence[Sequence[int] | None], gold: Sequence[Sequence[int] | None]
) -> AttachmentStatistics:
    """Count the right heads of each sentence; one without predicted or gold heads (None) has no words."""
    pairs = [([], []) if None in (heads, own) else (heads, own) for heads, own in zip(predicted, gold, strict=True)]
    return AttachmentStatistics(
        signature="UAS",
        correct_B=np.array([sum(a == b for a, b in zip(*pair, strict=True)) for pair in pairs], dtype=np.float64),
        words_B=np.array([len(own) for _, own in pairs], dtype=np.float64),
    )


def induction_statistics(
    gold: Sequence[GoldTree | None], trees: Iterable[np.ndarray]
) -> dict[str, AttachmentStatistics]:
    """Count the scored words of each sentence that are right by each of `MEASURES`; see `count_hits`.

    The corpus score is that of `score_induction`, if any word is scored.
    """
    hits_B3 = count_hits(gold, trees)
    words_B = np.array([0 if tree is None else tree.scored_W.sum() for tree in gold], dtype=np.float64)
    return {
        measure: AttachmentStatistics(signature=label, correct_B=hits_B3[:, column], words_B=words_B)
        for column, (measure, label) in enumerate(MEASURES.items())
    }
