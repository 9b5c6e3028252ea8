"""UAS: how many words are attached to the right head."""

import unicodedata
from collections.abc import Sequence
from typing import Any

from nmtcore.errors import UserError


def attachment(
    predicted: Sequence[Sequence[int] | None],
    gold: Sequence[Sequence[int] | None],
    punctuation: Sequence[Sequence[bool] | None],
) -> dict[str, Any]:
    """Compare heads (1-based, 0 = root) sentence by sentence; `punctuation` marks words as `is_punctuation` does.

    A sentence that has no heads on either side (None) is left out and counted. Returns percentages, None where there
    is nothing to count: uas (micro: over all words), uas_without_punctuation, uas_mean (the mean over sentences that
    have words); and the numbers of sentences, words, words_without_punctuation and nulls. Unequal numbers of sentences
    or of words in one are a `UserError`.
    """
    if not len(predicted) == len(gold) == len(punctuation):
        raise UserError(f"{len(predicted)} parses cannot be scored against {len(gold)} trees: they must be as many.")
    count = _Count()
    for row, (heads, right, marks) in enumerate(zip(predicted, gold, punctuation, strict=True)):
        if heads is None or right is None:
            count.nulls += 1
            continue
        marks = [False] * len(right) if marks is None else marks
        if not len(heads) == len(right) == len(marks):
            raise UserError(
                f"Sentence {row} (from 0): a parse of {len(heads)} words beside a tree of {len(right)} "
                f"and {len(marks)} words: they are of different texts."
            )
        count.add([h == r for h, r in zip(heads, right, strict=True)], marks)
    return count.result()


class _Count:
    def __init__(self) -> None:
        self.nulls = self.sentences = self.words = self.right = self.plain = self.plain_right = 0
        self.shares: list[float] = []

    def add(self, right: list[bool], punctuation: Sequence[bool]) -> None:
        plain = [r for r, mark in zip(right, punctuation, strict=True) if not mark]
        self.sentences += 1
        self.words += len(right)
        self.right += sum(right)
        self.plain += len(plain)
        self.plain_right += sum(plain)
        if right:
            self.shares.append(sum(right) / len(right))

    def result(self) -> dict[str, Any]:
        return {
            "uas": _percent(self.right, self.words),
            "uas_without_punctuation": _percent(self.plain_right, self.plain),
            "uas_mean": _percent(sum(self.shares), len(self.shares)),
            "sentences": self.sentences,
            "words": self.words,
            "words_without_punctuation": self.plain,
            "nulls": self.nulls,
        }


def _percent(part: float, whole: int) -> float | None:
    return 100 * part / whole if whole else None


def is_punctuation(words: Sequence[str], upos: Sequence[str] | None = None) -> list[bool]:
    """Mark the words that are punctuation: those tagged PUNCT where there are universal tags.

    Without tags: words made only of Unicode punctuation (P*, as in the CoNLL shared tasks) or of modifier symbols
    (Sk: the grave and acute accents that stand for quotation marks). Currency, mathematical and other symbols are read
    as words, and are no punctuation (UD tags them SYM).
    """
    if upos is not None:
        return [tag == "PUNCT" for tag in upos]
    return [bool(word) and all(_is_mark(character) for character in word) for word in words]


def _is_mark(character: str) -> bool:
    category = unicodedata.category(character)
    return category.startswith("P") or category == "Sk"
