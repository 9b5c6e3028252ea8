"""Unlabelled attachment scores (UAS): the percentage of words with the correct head."""

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from nmtcore.errors import UserError
from nmtcore.evaluation.counts import SentenceCounts, share_of_counts


def attachment(
    predicted: Sequence[Sequence[int] | None],
    gold: Sequence[Sequence[int] | None],
    punctuation: Sequence[Sequence[bool] | None],
) -> dict[str, Any]:
    """Compare heads (1-based, 0 = root) sentence by sentence; `punctuation` marks words as `is_punctuation` does.

    A sentence without predicted or gold heads (None) is counted under nulls and otherwise ignored. Returns percentages,
    None if there are no words: uas (over all words), uas_without_punctuation, uas_mean (the mean over sentences with
    words); and the numbers of sentences, words, words_without_punctuation and nulls. Raises `UserError` if the numbers
    of sentences, or of words in a sentence, differ.
    """
    if not len(predicted) == len(gold) == len(punctuation):
        raise UserError(
            f"{len(predicted)} parses cannot be scored against {len(gold)} trees: the numbers must be equal."
        )
    counts = MatchCounts()
    nulls = 0
    for row, (heads, gold_heads, marks) in enumerate(zip(predicted, gold, punctuation, strict=True)):
        if heads is None or gold_heads is None:
            nulls += 1
            continue
        marks = [False] * len(gold_heads) if marks is None else marks
        if not len(heads) == len(gold_heads) == len(marks):
            raise UserError(
                f"Sentence {row} (from 0): the parse has {len(heads)} words, the tree {len(gold_heads)} and the text "
                f"{len(marks)}: score files of the same text."
            )
        counts.add([h == g for h, g in zip(heads, gold_heads, strict=True)], marks)
    return {
        "uas": counts.percent,
        "uas_without_punctuation": counts.percent_without_punctuation,
        "uas_mean": counts.mean_percent,
        "sentences": counts.sentences,
        "words": counts.words,
        "words_without_punctuation": counts.words_without_punctuation,
        "nulls": nulls,
    }


def attachment_counts(
    predicted: Sequence[Sequence[int] | None], gold: Sequence[Sequence[int] | None]
) -> SentenceCounts:
    """Count the right heads and the words of each sentence; one without predicted or gold heads (None) has none."""
    pairs = [([], []) if None in (heads, own) else (heads, own) for heads, own in zip(predicted, gold, strict=True)]
    counts = [(sum(a == b for a, b in zip(*pair, strict=True)), len(pair[1])) for pair in pairs]
    return SentenceCounts(
        counts_BF=np.array(counts, dtype=float).reshape(len(counts), 2), score=share_of_counts, signature="UAS"
    )


def attachment_line(
    predicted: Sequence[Sequence[int]],
    gold: Sequence[Sequence[int]],
    words: Sequence[Sequence[str]],
    upos: Sequence[Sequence[str] | None],
) -> str:
    """Summarise the attachment scores on a treebank in one line."""
    scores = attachment(predicted, gold, [is_punctuation(*sentence) for sentence in zip(words, upos, strict=True)])
    uas, plain = (_format_percent(scores[key]) for key in ("uas", "uas_without_punctuation"))
    return f"UAS {uas} ({plain} without punctuation), {scores['sentences']} sentences, {scores['words']} words."


def _format_percent(percent: float | None) -> str:
    return "n/a" if percent is None else f"{percent:.2f}"


class MatchCounts:
    """Running counts of correct words, sentence by sentence; percentages are None if there are no words."""

    def __init__(self) -> None:
        self.sentences = self.words = self.correct = 0
        self.words_without_punctuation = self.correct_without_punctuation = 0
        self._sum_of_shares = 0.0
        self._sentences_with_words = 0

    def add(self, correct: Sequence[bool], punctuation: Sequence[bool]) -> None:
        """Count the words of one sentence: which are correct, and which are punctuation."""
        plain = [c for c, mark in zip(correct, punctuation, strict=True) if not mark]
        self.sentences += 1
        self.words += len(correct)
        self.correct += sum(correct)
        self.words_without_punctuation += len(plain)
        self.correct_without_punctuation += sum(plain)
        if correct:
            self._sum_of_shares += sum(correct) / len(correct)
            self._sentences_with_words += 1

    @property
    def percent(self) -> float | None:
        """Percentage of all words."""
        return _percent(self.correct, self.words)

    @property
    def percent_without_punctuation(self) -> float | None:
        """Percentage of all words other than punctuation."""
        return _percent(self.correct_without_punctuation, self.words_without_punctuation)

    @property
    def mean_percent(self) -> float | None:
        """Mean of the percentages of the sentences with words."""
        return _percent(self._sum_of_shares, self._sentences_with_words)


def _percent(part: float, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def is_punctuation(words: Sequence[str], upos: Sequence[str] | None = None) -> list[bool]:
    """Mark the words that are punctuation: those tagged PUNCT, if there are universal tags.

    Without tags: words that consist of Unicode punctuation (P*, as in the CoNLL shared tasks) or modifier symbols (Sk:
    grave and acute accents used as quotation marks). Currency, mathematical and other symbols count as words (UD tags
    them SYM).
    """
    if upos is not None:
        return [tag == "PUNCT" for tag in upos]
    return [bool(word) and all(_is_punctuation_mark(character) for character in word) for word in words]


def _is_punctuation_mark(character: str) -> bool:
    category = unicodedata.category(character)
    return category.startswith("P") or category == "Sk"
