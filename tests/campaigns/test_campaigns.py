"""A short form of the campaigns: `run.py --cases` does more."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from campaigns.run import MEMORY, run_campaign

CASES = {"corpora": 100, "bundles": 40}


@pytest.mark.parametrize("campaign", CASES)
def test_damaged_input_is_refused_or_counted(campaign):
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:  # torch computes no gradients in some forks
        report = executor.submit(run_campaign, campaign, CASES[campaign]).result()
    assert not report["failures"], "\n".join(
        f"{result.outcome}: run.py --only {campaign} --first {result.seed} --cases 1: {result.detail}"
        for result in report["failures"]
    )
    assert report["peak"] < MEMORY
    assert sum(report["counts"].values()) == CASES[campaign]
