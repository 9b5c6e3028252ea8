"""Random forests for hypothesis, and functions that walk them."""

from collections.abc import Sequence

from hypothesis import strategies as st


@st.composite
def forests(draw, words: int | None = None) -> list[int]:
    """Draw the heads (1-based, 0 = root) of a forest of `words` words (None: 1 to 9), projective or not.

    In a shuffled order, each word's head is an earlier word or the artificial root.
    """
    order = draw(st.permutations(range(1, (draw(st.integers(1, 9)) if words is None else words) + 1)))
    heads = [0] * len(order)
    for k, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:k]]))
    return heads


def climb(heads: Sequence[int], word: int) -> list[int]:
    """List the words on the path from a word up to the artificial root."""
    path = [word]
    while path[-1]:
        path.append(heads[path[-1] - 1])
    return path
