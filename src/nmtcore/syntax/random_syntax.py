"""Random trees and tags, the controls for parsed ones.

Shapes: A draws, B sentences, W words.
"""

import numpy as np

_SIDE_BITS = {"source": 0, "target": 1}
_STEP = np.uint64(0x9E3779B97F4A7C15)


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


def random_tags(ids_B: np.ndarray, lengths_B: np.ndarray, *, types: int, seed: int, side: str) -> np.ndarray:
    """Draw a tag from 0..types-1 for each word of B sentences: (W,) int64, sentence after sentence.

    Random tags are a control for supertags (Aycock 2021, section 5.1). A tag depends only on `seed`, `side` (source or
    target), the sentence's id in `ids_B` and the word's position in the sentence, so not on other sentences or the
    machine. The generator is SplitMix64 (Steele, Lea and Flood 2014) on 64-bit integers. Raises ValueError unless
    1 <= types < 2**31.
    """
    if not 1 <= types < 2**31:
        raise ValueError(f"the number of tag types must be at least 1 and below 2**31, not {types}")
    lengths_B = lengths_B.astype(np.int64)
    start_1 = _split_mix(np.array([seed * 2 + _SIDE_BITS[side]], dtype=np.int64).astype(np.uint64))
    states_B = _split_mix(start_1 ^ ids_B.astype(np.int64).astype(np.uint64))
    positions_W = np.arange(lengths_B.sum()) - np.repeat(np.cumsum(lengths_B) - lengths_B, lengths_B)
    bits_W = _split_mix(np.repeat(states_B, lengths_B) + positions_W.astype(np.uint64) * _STEP)
    # The upper 32 bits as a fraction of 2**32: the tags deviate from uniform by less than types / 2**32.
    return ((bits_W >> np.uint64(32)) * np.uint64(types) >> np.uint64(32)).astype(np.int64)


def _split_mix(values: np.ndarray) -> np.ndarray:
    """Advance each state by one step of SplitMix64 and scramble it; arithmetic is modulo 2**64."""
    values = values + _STEP
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
