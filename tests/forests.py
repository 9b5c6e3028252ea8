"""Forests for hypothesis, and what they are by walking them."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st


@st.composite
def forests(draw, most: int = 9) -> list[int]:
    """Heads of a forest: each word in a shuffled order hangs from an earlier one, or from the root."""
    order = draw(st.permutations(range(1, draw(st.integers(1, most)) + 1)))
    heads = [0] * len(order)
    for k, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:k]]))
    return heads


def climb(heads: Sequence[int], word: int) -> list[int]:
    """List the words from one up to the artificial root."""
    path = [word]
    while path[-1]:
        path.append(heads[path[-1] - 1])
    return path


def flat(sentences: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Put sentences one after the other, and tell their lengths."""
    values = np.array([value for sentence in sentences for value in sentence], dtype=np.int32)
    return values, np.array([len(sentence) for sentence in sentences], dtype=np.int64)
