"""The sentences that two systems translate most differently, by chrF."""

from collections.abc import Sequence
from dataclasses import dataclass

from nmtcore.config.datasets import EvaluationSettings


@dataclass(frozen=True, kw_only=True)
class ScoredSentence:
    """The position of a sentence in its test, and the chrF of its two translations."""

    row: int
    chrf: float
    """Of the first system's translation."""
    other_chrf: float
    """Of the second system's."""


def differing_sentences(
    translations: Sequence[str],
    others: Sequence[str],
    references: Sequence[str],
    evaluation: EvaluationSettings,
    *,
    most: int,
) -> list[ScoredSentence]:
    """List at most `most` sentences whose two translations differ, the largest difference in chrF first.

    Sentences with equal differences keep their order. Raises `ValueError` if the numbers of sentences differ.
    """
    differing = [
        row
        for row, (translation, other, _) in enumerate(zip(translations, others, references, strict=True))
        if translation != other
    ]
    sentences = scored_sentences(translations, others, references, evaluation, rows=differing)
    return sorted(sentences, key=lambda sentence: -abs(sentence.chrf - sentence.other_chrf))[:most]


def scored_sentences(
    translations: Sequence[str],
    others: Sequence[str],
    references: Sequence[str],
    evaluation: EvaluationSettings,
    *,
    rows: Sequence[int],
) -> list[ScoredSentence]:
    """Score both translations of the sentences at some positions, in their order."""
    from sacrebleu.metrics import CHRF

    chrf = CHRF(lowercase=evaluation.lowercase)
    return [
        ScoredSentence(
            row=row,
            chrf=chrf.sentence_score(translations[row], [references[row]]).score,
            other_chrf=chrf.sentence_score(others[row], [references[row]]).score,
        )
        for row in rows
    ]
