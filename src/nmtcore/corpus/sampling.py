"""A sample of the rows of a corpus, drawn at random without replacement, in memory that does not grow with it."""

from collections.abc import Iterator

import numpy as np

BLOCK = 1 << 20
"""Rows that are drawn from at a time."""
MOST = 10**9
"""numpy draws no hypergeometric number from more."""


def sampled(population: int, sample: int, *, seed: int) -> Iterator[int]:
    """Yield `sample` of the numbers 0..population-1 in ascending order; every such set is equally likely.

    Block by block: how many of the sample fall into a block is hypergeometric, given what the blocks before it took;
    within the block they are a simple draw. `sample` is at most `population`, which is below `MOST`.
    """
    assert 0 <= sample <= population < MOST, (sample, population)
    generator = np.random.default_rng(seed)
    for first in range(0, population, BLOCK):
        left = population - first
        size = min(BLOCK, left)
        # The last block gets what is left of the sample.
        here = int(generator.hypergeometric(sample, left - sample, size)) if left > size else sample
        sample -= here
        chosen = generator.choice(size, size=here, replace=False, shuffle=False)
        chosen.sort()
        yield from (chosen + first).tolist()
