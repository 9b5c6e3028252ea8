"""Random tags: a control for supertags (Aycock 2021, section 5.1), one tag a word, uniform over so many types."""

import numpy as np

_SIDES = {"source": 0, "target": 1}
_STEP = np.uint64(0x9E3779B97F4A7C15)


def random_tags(ids: np.ndarray, lengths: np.ndarray, *, types: int, seed: int, side: str) -> np.ndarray:
    """Draw a tag for each word of N sentences: (W,) int64, 0..types-1, sentence after sentence.

    A tag depends on nothing but `seed`, `side` (source or target), the sentence's id in `ids` (N,) and the word's
    number in it: neither on the other sentences nor on the machine. The bits are those of SplitMix64 (Steele, Lea and
    Flood 2014) in integers of 64 bits. `types` is at least 1 and below 2**31.
    """
    if not 1 <= types < 2**31:
        raise ValueError(f"tags are drawn from at least one type and fewer than 2**31, not {types}")
    lengths = lengths.astype(np.int64)
    start = _mixed(np.array([seed * 2 + _SIDES[side]], dtype=np.int64).astype(np.uint64))
    sentence = _mixed(start ^ ids.astype(np.int64).astype(np.uint64))
    number = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    bits = _mixed(np.repeat(sentence, lengths) + number.astype(np.uint64) * _STEP)
    # The upper half as a fraction of 2**32: off from uniform by less than types / 2**32.
    return ((bits >> np.uint64(32)) * np.uint64(types) >> np.uint64(32)).astype(np.int64)


def _mixed(values: np.ndarray) -> np.ndarray:
    """Take a step of SplitMix64 from each state and scramble it; arithmetic is modulo 2**64."""
    values = values + _STEP
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
