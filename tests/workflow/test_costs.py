"""A dry run of several trainings ends with what they take."""

import re

import pytest

pytestmark = pytest.mark.needs("Snakemake")


def test_costs_of_several_trainings(empty):
    settings = ["scale=smoke", "seeds=[1, 2]", "systems=[pascal]", "device=cuda"]
    several = empty.plan("train", "-q", "rules", settings=settings).output
    assert re.search(r"^data set +trainings +updates +GPU-hours +disk$", several, re.M)
    assert re.search(r"^demo_en2de +2 +520 +\S+ \+ \? ", several, re.M)
    assert "speeds.yaml has no seconds per update of pascal at this scale." in several
    assert "rule train_model:" not in several
    empty.write("speeds", {"scales": {"smoke": {"cpu": "fast"}}})
    broken = empty.plan("train", settings=settings).output
    (line,) = (line for line in broken.splitlines() if line.startswith("Costs are not estimated: "))
    assert line.startswith("Costs are not estimated: config/speeds.yaml: scales: smoke: cpu")
    assert "This was a dry-run" in broken
