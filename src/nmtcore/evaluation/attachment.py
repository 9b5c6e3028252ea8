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

    See `matching_heads` and `attachment_scores`.
    """
    return attachment_scores(matching_heads(predicted, gold, punctuation))


def attachment_scores(rows: Sequence[Sequence[int] | None]) -> dict[str, Any]:
    """Score the matches of each sentence; one that is not compared (None) is counted under nulls.

    Returns percentages, None if there are no words: uas (over all words), uas_without_punctuation, uas_mean (the mean
    over sentences with words); and the numbers of sentences, words, words_without_punctuation and nulls.
    """
    compared = [row for row in rows if row is not None]
    right, words, right_without, words_without = np.array([[0] * 4, *compared]).sum(axis=0).tolist()
    shares = [row[0] / row[1] for row in compared if row[1]]
    return {
        "uas": percent(right, words),
        "uas_without_punctuation": percent(right_without, words_without),
        "uas_mean": percent(sum(shares), len(shares)),
        "sentences": len(compared),
        "words": words,
        "words_without_punctuation": words_without,
        "nulls": len(rows) - len(compared),
    }


def attachment_counts(rows: Sequence[Sequence[int] | None], *, test: str) -> SentenceCounts:
    """Keep the right heads and the words of each sentence of `matching_heads`; one that is not compared has none."""
    counts = [(0, 0) if row is None else row[:2] for row in rows]
    counts_BF = np.array(counts, dtype=float).reshape(len(counts), 2)
    return SentenceCounts(counts_BF=counts_BF, score=share_of_counts, signature="UAS", test=test)


def matching_heads(
    predicted: Sequence[Sequence[int] | None],
    gold: Sequence[Sequence[int] | None],
    punctuation: Sequence[Sequence[bool] | None],
) -> list[list[int] | None]:
    """Count the matches of each sentence (`count_matches`); None for one without predicted or gold heads.

    Raises `UserError` if the numbers of sentences, or of words in a sentence, differ.
    """
    if not len(predicted) == len(gold) == len(punctuation):
        raise UserError(
            f"{len(predicted)} parses cannot be scored against {len(gold)} trees: the numbers must be equal."
        )
    rows: list[list[int] | None] = []
    for row, (heads, gold_heads, marks) in enumerate(zip(predicted, gold, punctuation, strict=True)):
        if heads is None or gold_heads is None:
            rows.append(None)
            continue
        marks = [False] * len(gold_heads) if marks is None else marks
        if not len(heads) == len(gold_heads) == len(marks):
            raise UserError(
                f"Sentence {row} (from 0): the parse has {len(heads)} words, the tree {len(gold_heads)} and the text "
                f"{len(marks)}: score files of the same text."
            )
        rows.append(count_matches([h == g for h, g in zip(heads, gold_heads, strict=True)], marks))
    return rows


def count_matches(matches: Sequence[bool], punctuation: Sequence[bool]) -> list[int]:
    """Count a sentence's words that match and all its words, then the same without punctuation."""
    plain = [match for match, mark in zip(matches, punctuation, strict=True) if not mark]
    return [sum(matches), len(matches), sum(plain), len(plain)]


def percent(part: float, whole: int) -> float | None:
    """Return a percentage; None of nothing."""
    return 100 * part / whole if whole else None


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
