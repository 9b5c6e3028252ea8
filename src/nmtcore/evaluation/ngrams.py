"""Counts of common n-grams, on which BLEU and chrF are based, for all sentences of a test at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class NgramCounts:
    """The n-grams of one order in each sentence."""

    totals_B: np.ndarray
    """N-grams of the translation."""
    reference_totals_B: np.ndarray
    """N-grams of the reference."""
    matches_B: np.ndarray
    """N-grams that both have; one that occurs several times counts as often as in the text that has fewer."""


def count_word_ngrams(
    translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]], *, orders: int
) -> list[NgramCounts]:
    """Count n-grams of words, for n = 1 to `orders`. Raises `ValueError` if the numbers of texts differ."""
    ids: dict[str, int] = {}
    texts = [*translations, *references]
    tokens_W = np.fromiter((ids.setdefault(word, len(ids)) for text in texts for word in text), dtype=np.int64)
    return _count_ngrams(tokens_W, _lengths(translations, references), orders)


def count_character_ngrams(translations: Sequence[str], references: Sequence[str], *, orders: int) -> list[NgramCounts]:
    """Count n-grams of characters, for n = 1 to `orders`. Raises `ValueError` if the numbers of texts differ."""
    texts = [*translations, *references]
    tokens_W = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    return _count_ngrams(tokens_W, _lengths(translations, references), orders)


def _lengths(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the lengths of the translations, then of the references."""
    if len(translations) != len(references):
        raise ValueError(f"{len(translations)} translations, but {len(references)} references")
    return np.array([len(text) for texts in (translations, references) for text in texts], dtype=np.int64)


def _count_ngrams(tokens_W: np.ndarray, lengths_B: np.ndarray, orders: int) -> list[NgramCounts]:
    """Count n-grams of token ids; `lengths_B` is that of the translations, then of the references.

    Each n-gram gets a number that no other n-gram has and no equal n-gram of another sentence pair: that of its first
    n - 1 tokens, combined with its last token; n-grams of order 0 have the number of their sentence.
    """
    sentences = len(lengths_B) // 2
    boundary = lengths_B[:sentences].sum()
    ends_W = np.repeat(np.cumsum(lengths_B), lengths_B)
    starts_W = np.arange(len(tokens_W))
    sentences_W = numbers_W = np.repeat(np.arange(2 * sentences) % max(sentences, 1), lengths_B)
    vocabulary = tokens_W.max(initial=0) + 1
    counts = []
    for order in range(1, orders + 1):
        inside_W = starts_W + order <= ends_W[starts_W]
        starts_W, numbers_W = starts_W[inside_W], numbers_W[inside_W]
        combined_W = numbers_W * vocabulary + tokens_W[starts_W + order - 1]
        _, first_V, numbers_W = np.unique(combined_W, return_index=True, return_inverse=True)
        own = np.searchsorted(starts_W, boundary)
        occurrences = [np.bincount(part_W, minlength=len(first_V)) for part_W in (numbers_W[:own], numbers_W[own:])]
        common_V = np.minimum(*occurrences)
        matches_B = np.bincount(sentences_W[starts_W[first_V]], weights=common_V, minlength=sentences)
        totals_B = np.maximum(lengths_B - order + 1, 0)
        counts.append(
            NgramCounts(
                totals_B=totals_B[:sentences],
                reference_totals_B=totals_B[sentences:],
                matches_B=matches_B[:sentences].astype(np.int64),
            )
        )
    return counts
