"""Draw a random sample of row numbers without replacement, in constant memory."""

from collections.abc import Iterator

import numpy as np

BLOCK = 1 << 20
"""Rows per block."""
MAX_POPULATION = 10**9
"""numpy's hypergeometric distribution requires a smaller population."""


def draw_sample(population: int, sample: int, *, seed: int) -> Iterator[int]:
    """Yield `sample` of the numbers 0..population-1 in ascending order; all such sets are equally likely.

    The sample is drawn block by block. Given the draws from earlier blocks, the number of draws from a block is
    hypergeometric; within the block, they are a simple random sample. Requires `sample` <= `population` <
    `MAX_POPULATION`.
    """
    assert 0 <= sample <= population < MAX_POPULATION, (sample, population)
    generator = np.random.default_rng(seed)
    for first in range(0, population, BLOCK):
        remaining = population - first
        size = min(BLOCK, remaining)
        # The last block gets the rest of the sample.
        draws = int(generator.hypergeometric(sample, remaining - sample, size)) if remaining > size else sample
        sample -= draws
        chosen = generator.choice(size, size=draws, replace=False, shuffle=False)
        chosen.sort()
        yield from (chosen + first).tolist()
