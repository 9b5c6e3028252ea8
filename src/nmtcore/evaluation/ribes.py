"""RIBES (Isozaki et al. 2010): how far a translation has the reference's words in the reference's order."""

import math
from collections import defaultdict
from collections.abc import Sequence

PRECISION_EXPONENT = 0.25
"""Exponent of the precision, alpha."""
BREVITY_EXPONENT = 0.1
"""Exponent of the brevity penalty, beta; the article has no such penalty (0), the authors' program since has."""


def sentence_ribes(
    translation: Sequence[str],
    reference: Sequence[str],
    *,
    alpha: float = PRECISION_EXPONENT,
    beta: float = BREVITY_EXPONENT,
) -> float:
    """Compute RIBES (0 to 1) of the words of a sentence, as the authors' program 1.03 defines it.

    It is the product of Kendall's tau of the aligned positions, normalised to 0 to 1; the share of the translation's
    words that are aligned, to the power of `alpha`; and BLEU's brevity penalty, to the power of `beta`. With fewer than
    two aligned words it is 0, unless the reference has a single word.
    """
    positions = aligned_positions(translation, reference)
    if len(positions) < 2 and not len(positions) == len(reference) == 1:
        return 0.0
    order = _ascending_share(positions) if len(positions) > 1 else 1.0
    brevity = min(1.0, math.exp(1 - len(reference) / len(translation)))
    return order * (len(positions) / len(translation)) ** alpha * brevity**beta


def aligned_positions(translation: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Align the words of a translation, and return the reference's position of each aligned word, in their order.

    A word is aligned by the shortest n-gram that begins or ends with it and occurs once in both texts: the word itself,
    then two words and so on; of two equally long n-grams, by the one that begins with it. (The article goes up to two
    words, and the authors' program up to the whole sentence.) A word without such an n-gram is not aligned.
    """
    positions = []
    known, own = _places(reference, 1), _places(translation, 1)
    longer: dict[int, tuple[dict, dict]] = {}
    for place, word in enumerate(translation):
        if (word,) not in known:
            continue
        if len(known[(word,)]) == len(own[(word,)]) == 1:
            positions.append(known[(word,)][0])
            continue
        for size in range(2, min(len(translation), len(reference)) + 1):
            if size not in longer:
                longer[size] = _places(reference, size), _places(translation, size)
            reference_places, translation_places = longer[size]
            if not reference_places.keys() & translation_places.keys():
                break  # no longer n-gram is common
            for first, offset in ((place, 0), (place - size + 1, size - 1)):
                ngram = tuple(translation[first : first + size]) if first >= 0 else ()
                if len(reference_places.get(ngram, ())) == len(translation_places.get(ngram, ())) == 1:
                    positions.append(reference_places[ngram][0] + offset)
                    break
            else:
                continue
            break
    return positions


def _places(words: Sequence[str], size: int) -> dict[tuple[str, ...], list[int]]:
    """Map each n-gram to the positions where it begins."""
    places: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for first in range(len(words) - size + 1):
        places[tuple(words[first : first + size])].append(first)
    return dict(places)


def _ascending_share(positions: Sequence[int]) -> float:
    """Return the share of pairs whose positions ascend: Kendall's tau, normalised to 0 to 1."""
    pairs = len(positions) * (len(positions) - 1) // 2
    ascending = sum(first < second for i, first in enumerate(positions) for second in positions[i + 1 :])
    return ascending / pairs
