"""RIBES (Isozaki et al. 2010): how far a translation has the reference's words in the reference's order.

By the definition of the authors' program RIBES.py since 1.02.4, by which the shared tasks on Asian translation score:
n-grams of any length align words, and their occurrences may overlap.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import combinations

ALPHA = 0.25
"""Exponent of the precision, the program's default."""
BETA = 0.1
"""Exponent of the brevity penalty, the program's default."""


def sentence_ribes(translation: Sequence[str], reference: Sequence[str]) -> float:
    """Compute RIBES (0 to 1) of the words of a sentence.

    It is the product of Kendall's tau of the aligned positions, normalised to 0 to 1; the share of the translation's
    words that are aligned, to the power of alpha; and BLEU's brevity penalty, to the power of beta. With fewer than two
    aligned words it is 0, unless the reference has a single word.
    """
    positions = aligned_positions(translation, reference)
    if len(positions) < 2 and not len(positions) == len(reference) == 1:
        return 0.0
    # Kendall's tau, normalised to 0 to 1: the share of pairs whose positions ascend.
    pairs = [first < second for first, second in combinations(positions, 2)]
    order = sum(pairs) / len(pairs) if pairs else 1.0
    brevity = min(1.0, math.exp(1 - len(reference) / len(translation)))
    return order * (len(positions) / len(translation)) ** ALPHA * brevity**BETA


def aligned_positions(translation: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Align the words of a translation, and return the reference's position of each aligned word, in their order.

    A word is aligned by the shortest n-gram that ends or begins with it and occurs once in both texts: the word itself,
    then two words and so on. A word without such an n-gram is not aligned.
    """
    places = cache(lambda size: (_places(translation, size), _places(reference, size)))

    def position_of(place: int) -> int | None:
        for size in range(1, min(len(translation), len(reference)) + 1):
            in_translation, known = places(size)
            common = False
            for offset in (size - 1, 0):
                ngram = tuple(translation[place - offset : place - offset + size]) if place >= offset else ()
                common = common or ngram in known
                if len(in_translation.get(ngram, ())) == len(known.get(ngram, ())) == 1:
                    return known[ngram][0] + offset
            if not common:  # nor is a longer one
                return None
        return None

    positions = map(position_of, range(len(translation)))
    return [position for position in positions if position is not None]


def _places(words: Sequence[str], size: int) -> dict[tuple[str, ...], list[int]]:
    """Map each n-gram to the positions where it begins."""
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for first in range(len(words) - size + 1):
        places[tuple(words[first : first + size])].append(first)
    return dict(places)
