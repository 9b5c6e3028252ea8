"""Uniformly random dependency trees."""

import numpy as np


def random_trees(words: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """Draw `count` trees independently from all n^(n-1) trees, projective or not, of n words with one root.

    A random walk on the complete graph visits each word for the first time from the word before it in the walk, its
    head (Aldous 1990, "The random walk construction of uniform spanning trees", algorithm 2); it starts at the root.

    Returns:
        The heads (A, W), 1-based, 0 = root.
    """
    order_AW = generator.permuted(np.tile(np.arange(words), (count, 1)), axis=1)
    if words < 2:
        return order_AW
    # The i-th new word is reached from the last one found, or from any word found before.
    from_AW = np.minimum(generator.integers(words, size=(count, words)), np.arange(words) - 1)
    heads_AW = np.zeros_like(order_AW)
    heads = np.take_along_axis(order_AW, from_AW[:, 1:], axis=1) + 1
    np.put_along_axis(heads_AW, order_AW[:, 1:], heads, axis=1)
    return heads_AW
