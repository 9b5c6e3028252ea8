"""Random tags, a control for supertags (Aycock 2021, section 5.1): one tag per word, uniform over the tag types."""

import numpy as np

_SIDE_BITS = {"source": 0, "target": 1}
_STEP = np.uint64(0x9E3779B97F4A7C15)


def random_tags(ids_B: np.ndarray, lengths_B: np.ndarray, *, types: int, seed: int, side: str) -> np.ndarray:
    """Draw a tag from 0..types-1 for each word of B sentences: (W,) int64, sentence after sentence.

    A tag depends only on `seed`, `side` (source or target), the sentence's id in `ids_B` and the word's position in the
    sentence, so not on other sentences or the machine. The generator is SplitMix64 (Steele, Lea and Flood 2014) on
    64-bit integers. Raises ValueError unless 1 <= types < 2**31.
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
