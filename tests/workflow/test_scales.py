"""A plan says what a scale overrides in the systems that are trained."""

import re


def said(output):
    return re.findall(r"^\w+ at scale \w+: .*$", output, re.MULTILINE)


def test_a_plan_says_once_what_the_scale_overrides(empty):
    training = {"max_updates": 10000, "label_smoothing": 0.2}
    mine = {"extends": "transformer_base", "model": {"dropout": 0.3}, "training": training}
    other = {"extends": "transformer_base", "model": {"width": 256}}
    empty.write("systems/mine", {"mine": mine, "other": other, "idle": other})
    line = "mine at scale small: training.max_updates is 2500 (the scale's), not 10000."
    several = ['datasets=["demo_en2de", "demo_de2en"]', "seeds=[1, 2]", "scale=small", 'systems=["mine", "other"]']
    planned = empty.plan(settings=several)
    assert re.search(r"^train_model +8$", planned.output, re.MULTILINE)
    assert said(planned.output) == [line, "other at scale small: model.width is 128 (the scale's), not 256."]
    # Only of what the target needs, whatever config.yaml says.
    planned = empty.call("-n", "results/small/demo_en2de/mine.bleu", settings=several)
    assert said(planned.output) == [line]
    planned = empty.plan("results/demo_en2de/mine.bleu", settings=several)
    assert said(planned.output) == []


def test_a_job_does_not_say_it_again(empty):
    """On a cluster, every job is a Snakemake of its own, which plans itself."""
    empty.write("systems/mine", {"mine": {"extends": "transformer_base", "training": {"max_updates": 10000}}})
    target = "results/small/demo_en2de/mine.bleu"
    assert len(said(empty.call("-n", target).output)) == 1
    of_job = empty.plan("--mode", "remote", "--verbose", target)
    assert "Building DAG" in of_job.output
    assert said(of_job.output) == []
