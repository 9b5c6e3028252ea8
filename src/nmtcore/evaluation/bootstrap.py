"""Paired bootstrap samples of the sentences of a test set, drawn as sacreBLEU draws them."""

import numpy as np

SAMPLES = 1000
"""Samples per comparison."""

SEED = 12345
"""Seed of the draw, sacreBLEU's own; comparisons on the same sentences therefore share their samples."""


def bootstrap_weights(sentences: int, *, samples: int = SAMPLES, seed: int = SEED) -> np.ndarray:
    """Draw samples of as many sentences as there are, with replacement; return how often each sample has each.

    Raises `ValueError` if there are no sentences.
    """
    if not sentences:
        raise ValueError("there are no sentences to draw from")
    drawn_AB = np.random.default_rng(seed).choice(sentences, size=(samples, sentences), replace=True)
    drawn_AB += sentences * np.arange(samples)[:, None]  # one number per sample and sentence
    counts = np.bincount(drawn_AB.ravel(), minlength=samples * sentences)
    return counts.reshape(samples, sentences).astype(np.float64)
