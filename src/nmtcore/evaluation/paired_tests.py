"""The papers' own tests of one system against another: paired bootstrap and approximate randomisation, as in sacreBLEU.

Both compare the translations of two single runs: they say that a run is better, not that a system is. With several
seeds, the seeds are compared in pairs, the first of one system with the first of the other and so on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nmtcore.evaluation.bootstrap import SEED, bootstrap_weights
from nmtcore.evaluation.sentence_statistics import SentenceStatistics

TRIALS = 10_000
"""Trials of approximate randomisation, sacreBLEU's number."""

_TRIALS_AT_ONCE = 100
_ROUNDING = 1e-9
"""Score points by which a sample must exceed the real difference: equal samples then count as equal."""

Statistics = TypeVar("Statistics", bound=SentenceStatistics)


@dataclass(frozen=True, kw_only=True)
class PairedTests:
    """p-values of each pair of seeds."""

    bootstrap: list[float]
    randomisation: list[float]


def run_paired_tests(
    systems: Mapping[str, Sequence[Statistics]], *, baseline: str, trials: int = TRIALS
) -> dict[str, PairedTests]:
    """Test every other system against the baseline; `systems` has the statistics of each, one entry per seed.

    If a system has more seeds than the other, the last ones are not used.
    """
    sentences = len(systems[baseline][0])
    weights_AB = bootstrap_weights(sentences)
    swaps_AB = randomisation_swaps(sentences, trials=trials)
    return {
        name: PairedTests(
            bootstrap=[bootstrap_test(*pair, weights_AB) for pair in pairs],
            randomisation=[randomisation_test(*pair, swaps_AB) for pair in pairs],
        )
        for name, seeds in systems.items()
        if name != baseline
        for pairs in [list(zip(seeds, systems[baseline], strict=False))]
    }


def bootstrap_test(system: Statistics, baseline: Statistics, weights_AB: np.ndarray) -> float:
    """Return the p-value of sacreBLEU's paired bootstrap test; `weights_AB` is drawn by `bootstrap_weights`."""
    sampled_A = [part.weighted_sums(weights_AB).scores_by_row() for part in (system, baseline)]
    differences_A = np.abs(sampled_A[0] - sampled_A[1])
    return _p_value(differences_A - differences_A.mean(), system, baseline)


def randomisation_swaps(sentences: int, *, trials: int = TRIALS, seed: int = SEED) -> np.ndarray:
    """Draw, as sacreBLEU does, which sentences the two systems exchange in each trial."""
    return np.random.default_rng(seed).integers(2, size=(trials, sentences), dtype=bool)


def randomisation_test(system: Statistics, baseline: Statistics, swaps_AB: np.ndarray) -> float:
    """Return the p-value of sacreBLEU's approximate randomisation; `swaps_AB` is drawn by `randomisation_swaps`."""
    everything_AB = np.ones((1, len(system)))
    totals = [part.weighted_sums(everything_AB) for part in (system, baseline)]
    change = system.minus(baseline)
    parts_A = []
    for first in range(0, len(swaps_AB), _TRIALS_AT_ONCE):
        swapped = change.weighted_sums(swaps_AB[first : first + _TRIALS_AT_ONCE].astype(np.float64))
        parts_A.append(totals[0].minus(swapped).scores_by_row() - totals[1].plus(swapped).scores_by_row())
    return _p_value(np.abs(np.concatenate(parts_A)), system, baseline)


def _p_value(differences_A: np.ndarray, system: SentenceStatistics, baseline: SentenceStatistics) -> float:
    """Return the share of samples whose difference is larger than the real one, both counted once more."""
    real = abs(system.corpus_score() - baseline.corpus_score())
    return (int(np.sum(differences_A > real + _ROUNDING)) + 1) / (len(differences_A) + 1)
