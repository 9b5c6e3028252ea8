"""A plan reports the settings of systems that a scale overrides."""

import re


def overridden(output):
    return re.findall(r"^\w+ at scale \w+: .*$", output, re.MULTILINE)


def test_a_plan_reports_overridden_settings_once(empty):
    training = {"max_updates": 10000, "label_smoothing": 0.2}
    mine = {"extends": "transformer_base", "model": {"dropout": 0.3}, "training": training}
    other = {"extends": "transformer_base", "model": {"width": 256}}
    empty.write("systems/mine", {"mine": mine, "other": other, "idle": other})
    line = "mine at scale small: training.max_updates is 2500 (the scale's), not 10000."
    settings = ['datasets=["demo_en2de", "demo_de2en"]', "seeds=[1, 2]", "scale=small", 'systems=["mine", "other"]']
    planned = empty.plan(settings=settings)
    assert re.search(r"^train_model +8$", planned.output, re.MULTILINE)
    assert overridden(planned.output) == [line, "other at scale small: model.width is 128 (the scale's), not 256."]
    # Only systems that the target needs are reported, whatever config.yaml selects.
    planned = empty.call("-n", "results/small/demo_en2de/mine.bleu", settings=settings)
    assert overridden(planned.output) == [line]
    planned = empty.plan("results/demo_en2de/mine.bleu", settings=settings)
    assert overridden(planned.output) == []


def test_a_job_does_not_report_them_again(empty):
    """On a cluster, every job is a separate Snakemake process with its own plan."""
    empty.write("systems/mine", {"mine": {"extends": "transformer_base", "training": {"max_updates": 10000}}})
    target = "results/small/demo_en2de/mine.bleu"
    assert len(overridden(empty.call("-n", target).output)) == 1
    of_job = empty.plan("--mode", "remote", "--verbose", target)
    assert "Building DAG" in of_job.output
    assert overridden(of_job.output) == []
