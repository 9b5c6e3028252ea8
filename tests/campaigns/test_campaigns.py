"""A short form of the campaigns: `run.py --minutes` does more."""

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from campaigns.run import CAMPAIGNS, MEMORY, run_campaign

CASES = dict.fromkeys(CAMPAIGNS, 100) | {"configuration": 15, "bundles": 40, "server": 30, "disk": 40, "kills": 40}
CASES |= {"corpora": 60, "treebanks": 60, "archives": 60, "commands": 40, "intermediates": 12, "stages": 1}


@pytest.fixture(scope="module")
def fresh_process() -> Iterator[Executor]:
    """A process that has computed no gradients: torch computes none in a fork of one that has."""
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        yield executor


OF_WORKFLOWS = ("intermediates", "stages")
"""Campaigns that call Snakemake."""


@pytest.mark.parametrize(
    "campaign",
    [pytest.param(name, marks=pytest.mark.needs("Snakemake")) if name in OF_WORKFLOWS else name for name in CAMPAIGNS],
)
def test_damaged_input_is_refused_or_counted(campaign, fresh_process):
    report = fresh_process.submit(run_campaign, campaign, 0, count=CASES[campaign]).result()
    assert sum(report["counts"].values()) == CASES[campaign]
    assert not report["failures"], "\n".join(
        f"{result.outcome}: run.py --case {campaign} {result.seed}: {result.detail}" for result in report["failures"]
    )
    assert report["peak"] < MEMORY
    assert report["counts"]["handled"] + report["counts"]["counted"] + report["counts"]["clean"] == CASES[campaign]
