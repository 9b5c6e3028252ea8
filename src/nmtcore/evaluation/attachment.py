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
    count = MatchCounts()
    nulls = 0
    for row, (heads, right, marks) in enumerate(zip(predicted, gold, punctuation, strict=True)):
        if heads is None or right is None:
            nulls += 1
            continue
        marks = [False] * len(right) if marks is None else marks
        if not len(heads) == len(right) == len(marks):
            raise UserError(
                f"Sentence {row} (from 0): a parse of {len(heads)} words beside a tree of {len(right)} "
                f"and {len(marks)} words: they are of different texts."
            )
        count.add([h == r for h, r in zip(heads, right, strict=True)], marks)
    return {
        "uas": count.micro,
        "uas_without_punctuation": count.without_punctuation,
        "uas_mean": count.mean,
        "sentences": count.sentences,
        "words": count.words,
        "words_without_punctuation": count.plain,
        "nulls": nulls,
    }


def attachment_line(
    predicted: Sequence[Sequence[int]],
    gold: Sequence[Sequence[int]],
    words: Sequence[Sequence[str]],
    upos: Sequence[Sequence[str] | None],
) -> str:
    """Say in a line how many heads of a treebank are right."""
    found = attachment(predicted, gold, [is_punctuation(*sentence) for sentence in zip(words, upos, strict=True)])
    shares = [_told(found[key]) for key in ("uas", "uas_without_punctuation")]
    return f"UAS {shares[0]} ({shares[1]} without punctuation), {found['sentences']} sentences, {found['words']} words."


def _told(share: float | None) -> str:
    return "of nothing" if share is None else f"{share:.2f}"


class MatchCounts:
    """Adds up which words are right, sentence by sentence; shares are percentages, None where nothing was counted."""

    def __init__(self) -> None:
        self.sentences = self.words = self.right = 0
        self.plain = self.plain_right = 0
        """Those that are no punctuation."""
        self._shares = 0.0
        self._with_words = 0

    def add(self, right: Sequence[bool], punctuation: Sequence[bool]) -> None:
        """MatchCounts the words of one sentence: which are right, and which are punctuation."""
        plain = [r for r, mark in zip(right, punctuation, strict=True) if not mark]
        self.sentences += 1
        self.words += len(right)
        self.right += sum(right)
        self.plain += len(plain)
        self.plain_right += sum(plain)
        if right:
            self._shares += sum(right) / len(right)
            self._with_words += 1

    @property
    def micro(self) -> float | None:
        """Over all words."""
        return _percent(self.right, self.words)

    @property
    def without_punctuation(self) -> float | None:
        """Over all words that are no punctuation."""
        return _percent(self.plain_right, self.plain)

    @property
    def mean(self) -> float | None:
        """The mean over the sentences that have words."""
        return _percent(self._shares, self._with_words)


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
