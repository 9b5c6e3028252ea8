"""langdetect's random walk over the n-grams of a sentence, for many sentences at a time.

As `langdetect.detector.Detector` does it (Shuyo Nakatani's Language Detection Library for Java, ported): several times
over, n-grams are drawn from a sentence and the probability of each language multiplied with the n-gram's, until one
language has nearly all of it; the mean of these trials decides. Every sentence draws from its own generator, seeded
anew, exactly what a Detector would draw; only the arithmetic of all sentences is done together, operation by operation
in the Detector's order, so probabilities are equal to the last bit.

Letters in names: N sentences, A sentences whose trial still goes on, L languages.
"""

import sys
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

AT_A_TIME = 500
"""Sentences whose probabilities fit into a processor's cache."""
DRAWS = 5
"""Draws between two looks at whether a trial has come to its end."""


class Walker:
    """Finds the languages of texts, as detectors of a factory would. Takes over the factory and changes it."""

    def __init__(self, factory: Any) -> None:
        words = factory.word_lang_prob_map
        self._table = np.array(list(words.values()))
        # From here on, the factory's detectors are only asked which n-grams they see.
        factory.word_lang_prob_map = {word: row for row, word in enumerate(words)}
        self._factory = factory
        self.names: list[str] = factory.get_lang_list()
        self._randoms = [Random() for _ in range(AT_A_TIME)]

    def languages(self, texts: Sequence[str]) -> list[str | None]:
        """Name the most probable language of each text; None where there is none, or no n-gram that is known."""
        found: list[str | None] = []
        for first in range(0, len(texts), AT_A_TIME):
            means_NL = self.probabilities(texts[first : first + AT_A_TIME])
            best = means_NL.argmax(axis=1)
            likely = means_NL.max(axis=1) > self._factory.create().PROB_THRESHOLD
            found += [self.names[row] if fine else None for row, fine in zip(best, likely, strict=True)]
        return found

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        """Give the probability of each language for at most `AT_A_TIME` texts, [texts, languages]; zeros for None."""
        detector = self._factory.create()
        rows_by_text = [self._rows(text) for text in texts]
        known = np.array([bool(rows) for rows in rows_by_text], dtype=bool)
        walks = []
        for random, rows in zip(self._randoms, filter(None, rows_by_text), strict=False):
            random.seed(self._factory.seed)
            walks.append((random, rows))
        means_NL = np.zeros((len(texts), len(self.names)))
        for _ in range(detector.n_trial if walks else 0):
            means_NL[known] += self._trial(walks, detector) / detector.n_trial
        return means_NL

    def _rows(self, text: str) -> list[int]:
        detector = self._factory.create()
        detector.append(text)
        detector.cleaning_text()
        rows = self._factory.word_lang_prob_map
        return [rows[word] for word in detector._extract_ngrams()]

    def _trial(self, walks: list[tuple[Random, list[int]]], detector: Any) -> np.ndarray:
        """Walk until every sentence has come to the end of its trial; give their probabilities [sentences, L]."""
        alphas = [detector.alpha + random.gauss(0.0, 1.0) * detector.ALPHA_WIDTH for random, _ in walks]
        weights_A1 = np.array(alphas)[:, None] / detector.BASE_FREQ
        prob_AL = np.full((len(walks), len(self.names)), 1.0 / len(self.names))
        result_NL = np.empty_like(prob_AL)
        going = np.arange(len(walks))
        draws = [(random.choice, rows) for random, rows in walks]
        drawn, count = 0, 1  # it looks for the first time after the first draw
        while True:
            rows_A = np.array([choose(rows) for choose, rows in draws for _ in range(count)]).reshape(-1, count)
            for row_A in rows_A.T:
                factors_AL = self._table.take(row_A, axis=0)
                factors_AL += weights_A1
                prob_AL *= factors_AL
            prob_AL /= _sums(prob_AL)[:, None]
            drawn, count = drawn + count, DRAWS
            ended = prob_AL.max(axis=1) > detector.CONV_THRESHOLD
            if drawn > detector.ITERATION_LIMIT:
                ended[:] = True
            if ended.any():
                result_NL[going[ended]] = prob_AL[ended]
                left = ~ended
                going, prob_AL, weights_A1 = going[left], prob_AL[left], weights_A1[left]
                draws = [draw for draw, goes_on in zip(draws, left, strict=True) if goes_on]
            if not draws:
                return result_NL


def _sums(table: np.ndarray) -> np.ndarray:
    """Add up each row as Python's `sum` does: from left to right, since Python 3.12 with compensation."""
    if sys.version_info < (3, 12):
        return np.add.accumulate(table, axis=1)[:, -1]
    return np.array(list(map(sum, table.tolist())))
