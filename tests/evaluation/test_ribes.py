"""RIBES, against a plain computation from its definition and published examples."""

import itertools
import math
import random

import pytest

from nmtcore.evaluation.ribes import aligned_positions, sentence_ribes


def occurrences(ngram, words):
    """Where an n-gram occurs, also overlapping, as in the program since 1.02.4."""
    return [i for i in range(len(words)) if words[i : i + len(ngram)] == ngram]


def plain_alignment(translation, reference):
    positions = []
    for i, word in enumerate(translation):
        contexts = [(i, 1)] if word in reference else []
        for size in range(2, len(translation) + 1) if contexts else ():
            contexts += [(i - size + 1, size), (i, size)]
        for first, size in contexts:
            ngram = translation[first : first + size] if first >= 0 else []
            if len(ngram) == size and len(occurrences(ngram, reference)) == len(occurrences(ngram, translation)) == 1:
                positions.append(occurrences(ngram, reference)[0] + i - first)
                break
    return positions


def plain_ribes(translation, reference):
    positions = plain_alignment(translation, reference)
    if len(positions) == 1 and len(reference) == 1:
        order = 1.0
    elif len(positions) < 2:
        return 0.0
    else:
        pairs = list(itertools.combinations(positions, 2))
        tau = sum((a < b) - (a >= b) for a, b in pairs) / len(pairs)
        order = (tau + 1) / 2
    penalty = math.exp(min(0.0, 1 - len(reference) / len(translation)))
    return order * (len(positions) / len(translation)) ** 0.25 * penalty**0.1


def test_it_is_that_of_a_plain_loop():
    rng = random.Random(1)
    scores = []
    for _ in range(400):
        words = "abcdef"[: rng.randint(1, 6)]
        translation, reference = (rng.choices(words, k=rng.randint(0, 9)) for _ in range(2))
        positions = aligned_positions(translation, reference)
        assert positions == plain_alignment(translation, reference)
        scores.append(sentence_ribes(translation, reference))
        assert scores[-1] == pytest.approx(plain_ribes(translation, reference), abs=1e-12)
    assert len(set(scores)) > 30


def test_the_example_of_the_article():
    """All words are aligned; "was" by "because he was", since the program prefers the n-gram that ends with a word."""
    first, second = "he read the book", "he was interested in world history"
    translation, reference = (f"{a} because {b}".split() for a, b in ((first, second), (second, first)))
    assert aligned_positions(translation, reference) == [7, 8, 9, 10, 6, 7, 1, 2, 3, 4, 5]


def test_examples_of_mteval():
    """The documented scores of an independent implementation of the program's definition."""
    scores = [sentence_ribes(text.split(), list("abcde")) for text in ("a b c d e f", "a b c d e", "a c d e")]
    assert scores == pytest.approx([0.955443, 1, 0.975310], abs=5e-7)
    assert sum(scores) / 3 == pytest.approx(0.976918, abs=5e-7)
