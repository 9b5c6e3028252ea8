"""A short form of the campaigns: `run.py --minutes` does more."""

import pytest
from campaigns.run import CAMPAIGNS, MEMORY, run_campaign

CASES = dict.fromkeys(CAMPAIGNS, 100) | {"configuration": 15, "bundles": 40, "server": 30, "disk": 40, "kills": 40}
CASES |= {"corpora": 60, "treebanks": 60, "archives": 60, "commands": 40, "intermediates": 12, "stages": 1}


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_damaged_input_is_refused_or_counted(campaign):
    report = run_campaign(campaign, 0, count=CASES[campaign])
    assert sum(report["counts"].values()) == CASES[campaign]
    assert not report["failures"], "\n".join(
        f"{result.outcome}: run.py --case {campaign} {result.seed}: {result.detail}" for result in report["failures"]
    )
    assert report["peak"] < MEMORY
    assert report["counts"]["handled"] + report["counts"]["counted"] + report["counts"]["clean"] == CASES[campaign]
