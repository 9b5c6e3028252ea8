"""A plan reports the settings of systems that a scale overrides."""

import re

import pytest

TRAINING = {"max_updates": 10000, "label_smoothing": 0.2}
MINE = {"extends": "transformer_base", "model": {"dropout": 0.3}, "training": TRAINING}
LINE = "mine at scale small: training.max_updates is 2500 (the scale's), not 10000."


def test_only_systems_that_the_target_needs_are_reported(planner):
    other = {"extends": "transformer_base", "model": {"width": 256}}
    planner.write("systems/mine", {"mine": MINE, "other": other, "idle": other})
    settings = {"datasets": ["demo_en2de", "demo_de2en"], "seeds": [1, 2], "systems": ["mine", "other"]}
    plan = planner.plan("all", scale="small", **settings)
    assert [job.rule for job in plan.values()].count("train_model") == 8
    reported = [LINE, "other at scale small: model.width is 128 (the scale's), not 256."]
    assert list(planner.rules.warnings) == reported
    planner.plan("results/small/demo_en2de/mine.bleu", scale="small", **settings)
    assert list(planner.rules.warnings) == [LINE]
    planner.plan("results/demo_en2de/mine.bleu", scale="small", **settings)
    assert list(planner.rules.warnings) == []


@pytest.mark.needs("Snakemake")
def test_they_are_reported_once_and_not_by_jobs(empty):
    """On a cluster, every job is a separate Snakemake process with its own plan."""
    empty.write("systems/mine", {"mine": MINE})
    target = "results/small/demo_en2de/mine.bleu"
    planned = empty.plan(target, settings=["seeds=[1, 2]"]).output
    assert overridden(planned) == [LINE]
    of_job = empty.plan("--mode", "remote", "--verbose", target)
    assert "Building DAG" in of_job.output
    assert overridden(of_job.output) == []


def overridden(output):
    return re.findall(r"^\w+ at scale \w+: .*$", output, re.MULTILINE)
