"""langdetect's random walk over the n-grams of a sentence, for many sentences at a time.

The algorithm is that of `langdetect.detector.Detector` (a port of Shuyo Nakatani's Language Detection Library for
Java). In each of several trials, n-grams are drawn from a sentence, and the probability of each language is multiplied
by that of the n-gram, until one language has nearly all of the probability; the result is the mean over the trials.
Every sentence has its own generator, reseeded so that it draws exactly what a Detector would draw. Only the arithmetic
is done for all sentences at once, in the Detector's order of operations, so probabilities are equal to the last bit.
"""

import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

TEXTS_PER_BATCH = 500
"""Texts whose probabilities fit into a processor's cache."""
DRAWS_PER_TEST = 5
"""Draws between two tests of whether a trial has converged."""


class Walker:
    """Identifies the languages of texts like the detectors of a factory. Takes over the factory and modifies it."""

    def __init__(self, factory: Any) -> None:
        probabilities_of_ngram = factory.word_lang_prob_map
        self._table_VL = np.array(list(probabilities_of_ngram.values()))
        # From here on, the factory's detectors are only used to extract n-grams.
        factory.word_lang_prob_map = {ngram: row for row, ngram in enumerate(probabilities_of_ngram)}
        self._factory = factory
        self.names: list[str] = factory.get_lang_list()
        self._generators = [Random() for _ in range(TEXTS_PER_BATCH)]

    def languages(self, texts: Sequence[str]) -> list[str | None]:
        """Name the most probable language of each text; None if none is probable enough or no n-gram is known."""
        languages: list[str | None] = []
        for first in range(0, len(texts), TEXTS_PER_BATCH):
            means_BL = self.probabilities(texts[first : first + TEXTS_PER_BATCH])
            best_B = means_BL.argmax(axis=1)
            probable_B = means_BL.max(axis=1) > self._factory.create().PROB_THRESHOLD
            languages += [
                self.names[best] if probable else None for best, probable in zip(best_B, probable_B, strict=True)
            ]
        return languages

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Return the languages' probabilities for up to `TEXTS_PER_BATCH` texts, [B, L]; zeros for no language."""
        detector = self._factory.create()
        rows_of_text = [self._ngram_rows(text) for text in texts]
        has_ngrams_B = np.array([bool(rows) for rows in rows_of_text], dtype=bool)
        walks = []
        for generator, rows in zip(self._generators, filter(None, rows_of_text), strict=False):
            generator.seed(self._factory.seed)
            walks.append((generator, rows))
        means_BL = np.zeros((len(texts), len(self.names)))
        for _ in range(detector.n_trial if walks else 0):
            means_BL[has_ngrams_B] += self._trial(walks, detector) / detector.n_trial
        return means_BL

    def _ngram_rows(self, text: str) -> list[int]:
        """Return the table rows of a text's known n-grams."""
        detector = self._factory.create()
        detector.append(text)
        detector.cleaning_text()
        rows = self._factory.word_lang_prob_map
        return [rows[ngram] for ngram in detector._extract_ngrams()]

    def _trial(self, walks: list[tuple[Random, list[int]]], detector: Any) -> np.ndarray:
        """Run one trial per sentence until all have ended; return their probabilities [B, L]."""
        alphas = [detector.alpha + generator.gauss(0.0, 1.0) * detector.ALPHA_WIDTH for generator, _ in walks]
        weights_A1 = np.array(alphas)[:, None] / detector.BASE_FREQ
        prob_AL = np.full((len(walks), len(self.names)), 1.0 / len(self.names))
        result_BL = np.empty_like(prob_AL)
        running_A = np.arange(len(walks))
        draws = [(generator.choice, rows) for generator, rows in walks]
        drawn, count = 0, 1  # the first test follows the first draw
        while True:
            for _ in range(count):
                rows_A = np.array([choose(rows) for choose, rows in draws])
                factors_AL = self._table_VL.take(rows_A, axis=0)
                factors_AL += weights_A1
                prob_AL *= factors_AL
            prob_AL /= _row_sums(prob_AL)[:, None]
            drawn, count = drawn + count, DRAWS_PER_TEST
            ended_A = prob_AL.max(axis=1) > detector.CONV_THRESHOLD
            if drawn > detector.ITERATION_LIMIT:
                ended_A[:] = True
            if ended_A.any():
                result_BL[running_A[ended_A]] = prob_AL[ended_A]
                continues_A = ~ended_A
                running_A, prob_AL, weights_A1 = running_A[continues_A], prob_AL[continues_A], weights_A1[continues_A]
                draws = [draw for draw, continues in zip(draws, continues_A, strict=True) if continues]
            if not draws:
                return result_BL


def _row_sums(table: np.ndarray) -> np.ndarray:
    """Sum each row as Python's `sum` does: from left to right, with compensation since Python 3.12."""
    if sys.version_info < (3, 12):
        return np.add.accumulate(table, axis=1)[:, -1]
    return np.array(list(map(sum, table.tolist())))
