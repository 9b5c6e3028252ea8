"""RIBES, against a plain computation from its definition and published examples."""

import itertools
import math
import random

import pytest

from nmtcore.evaluation.ribes import aligned_positions, sentence_ribes


def occurrences(ngram, words):
    return [i for i in range(len(words)) if words[i : i + len(ngram)] == ngram]


def plain_alignment(translation, reference, longest):
    positions = []
    for i, word in enumerate(translation):
        contexts = [(i, 1)] if word in reference else []
        for size in range(2, longest + 1) if contexts else ():
            contexts += [(i, size)] * (i + size <= len(translation)) + [(i - size + 1, size)] * (i - size + 1 >= 0)
        for first, size in contexts:
            ngram = translation[first : first + size]
            if len(occurrences(ngram, reference)) == len(occurrences(ngram, translation)) == 1:
                positions.append(occurrences(ngram, reference)[0] + i - first)
                break
    return positions


def plain_ribes(translation, reference, alpha=0.25, beta=0.1):
    positions = plain_alignment(translation, reference, longest=len(translation))
    if len(positions) == 1 and len(reference) == 1:
        order = 1.0
    elif len(positions) < 2:
        return 0.0
    else:
        pairs = list(itertools.combinations(positions, 2))
        tau = sum((a < b) - (a >= b) for a, b in pairs) / len(pairs)
        order = (tau + 1) / 2
    penalty = math.exp(min(0.0, 1 - len(reference) / len(translation)))
    return order * (len(positions) / len(translation)) ** alpha * penalty**beta


def test_it_is_that_of_a_plain_loop():
    rng = random.Random(1)
    scores = []
    for _ in range(400):
        words = "abcdef"[: rng.randint(1, 6)]
        translation, reference = (rng.choices(words, k=rng.randint(0, 9)) for _ in range(2))
        assert aligned_positions(translation, reference) == plain_alignment(translation, reference, len(translation))
        scores.append(sentence_ribes(translation, reference))
        assert scores[-1] == pytest.approx(plain_ribes(translation, reference), abs=1e-12)
    assert len(set(scores)) > 50


@pytest.mark.parametrize(
    ("translation", "reference", "positions"),
    [
        (
            "he read the book because he was interested in world history",
            "he was interested in world history because he read the book",
            [7, 8, 9, 10, 6, 0, 1, 2, 3, 4, 5],
        ),
        (
            "This is a nice sentence which I quite like",
            "Okay well that's nice and all but the reference is different",
            [9, 3],
        ),
        (
            "This is a nice sentence which I quite like",
            "Okay well that's nice and all but the reference's different",
            [3],
        ),
        (
            "This is a nice sentence which I quite like",
            "Okay well that's neat and all but the reference's different",
            [],
        ),
    ],
)
def test_published_alignments(translation, reference, positions):
    """The first is the article's example, the others are NLTK's."""
    assert aligned_positions(translation.split(), reference.split()) == positions


def test_a_published_score():
    """The article's example again: all words are aligned, and Kendall's tau is -.236, normalised .382."""
    first, second = "he read the book", "he was interested in world history"
    history, reference = (f"{a} because {b}".split() for a, b in ((first, second), (second, first)))
    assert sentence_ribes(history, reference) == pytest.approx(0.382, abs=5e-4)
    assert 2 * sentence_ribes(history, reference) - 1 == pytest.approx(-0.236, abs=5e-4)


def test_exponents():
    translation, reference = list("abcx"), list("abcde")
    assert sentence_ribes(translation, reference, beta=0) == pytest.approx(0.75**0.25)
    assert sentence_ribes(translation, reference, alpha=0) == pytest.approx(math.exp(1 - 5 / 4) ** 0.1)
    assert sentence_ribes(reference, reference) == 1
    assert sentence_ribes(["a", "b"], ["b", "a"]) == 0


def test_short_texts():
    assert sentence_ribes(["a"], ["a"]) == 1
    assert sentence_ribes(["a", "b"], ["a"]) == pytest.approx(0.5**0.25)
    assert sentence_ribes(["a"], ["a", "b"]) == 0
    assert sentence_ribes([], ["a"]) == sentence_ribes(["a"], []) == sentence_ribes([], []) == 0
