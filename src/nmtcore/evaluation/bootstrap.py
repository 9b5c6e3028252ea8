"""Paired bootstrap samples of the sentences of a test set, drawn as sacreBLEU draws them."""

import numpy as np

SAMPLES = 1000
"""Samples per comparison."""

SEED = 12345
"""Seed of the draw, sacreBLEU's own; comparisons on the same sentences therefore share their samples."""

OTHER_SEED = SEED + 1
"""Seed of the draw of other sentences that are independent of the first."""


def bootstrap_weights(sentences: int, *, samples: int = SAMPLES, seed: int = SEED) -> np.ndarray:
    """Draw samples of as many sentences as there are, with replacement; return how often each sample has each.

    Raises `ValueError` if there are no sentences.
    """
    if not sentences:
        raise ValueError("there are no sentences to draw from")
    random = np.random.default_rng(seed)
    weights_AB = np.empty((samples, sentences))
    # One sample at a time: the same draws as those of all samples at once, which need three times the memory.
    for weights_B in weights_AB:
        weights_B[:] = np.bincount(random.choice(sentences, size=sentences), minlength=sentences)
    return weights_AB
