"""The stages of the demo, from recorded events and training logs."""

import json
import os

import pytest

from nmtcore.console.demo_stages import SCORING, DemoStages, last_update, stage_name
from nmtcore.layout import JOBS, Layout

SYSTEMS = ("base", "head")
NAMES = ["prepare data", "train base", "train head", "translate", "score"]
START = 1_000_000.0
"""When jobs start, as times of files."""


@pytest.fixture
def stages(tmp_path):
    layout = Layout(results=str(tmp_path / "results"), scales=("demo",))
    return DemoStages(layout=layout, updates=dict.fromkeys(SYSTEMS, 200), expected=dict.fromkeys(NAMES, 10.0))


def wildcards(stages, system):
    root = stages.layout.root("demo")
    return {"root": root, "dataset": "d", "system": system, "seed": "1"}


def plan(stages, *, systems=SYSTEMS, others=("read_split", "filter_split")):
    jobs = [{"rule": rule, "wildcards": {}} for rule in others]
    jobs += [
        {"rule": rule, "wildcards": wildcards(stages, system)}
        for rule in ("train_model", "translate_tests")
        for system in systems
    ]
    stages.take({"event": "plan", "jobs": [*jobs, {"rule": "demo", "wildcards": {}}]}, 0.0, clock=START)


def start(stages, job, rule, system=None, now=0.0):
    names = wildcards(stages, system) if system else {}
    stages.take({"event": "start", "job": job, "rule": rule, "wildcards": names}, now, clock=START)


def finish(stages, job, now):
    stages.take({"event": "finish", "job": job}, now, clock=START)


def write_log(stages, system, update, *, folder="abc", time=START + 1, rest=""):
    names = {"scale": "demo", "dataset": "d", "system": system, "seed": 1}
    path = stages.layout.path("checkpoints", **names)
    os.makedirs(f"{path}/{folder}", exist_ok=True)
    with open(f"{path}/{folder}/training.jsonl", "w") as file:
        file.write("".join(json.dumps({"update": n}) + "\n" for n in range(10, update + 1, 10)) + rest)
    os.utime(f"{path}/{folder}/training.jsonl", (time, time))


def statuses(stages, now):
    return {stage.name: (round(stage.share, 2), stage.status(now)) for stage in stages.stages}


def test_stages_follow_the_events(stages):
    plan(stages)
    assert [stage.name for stage in stages.stages] == NAMES
    start(stages, 1, "read_split")
    assert statuses(stages, 1.0)["prepare data"] == (0.0, "running")
    finish(stages, 1, 4.0)
    start(stages, 2, "filter_split", now=4.0)
    assert statuses(stages, 4.0)["prepare data"] == (0.5, "4.0 s left")
    finish(stages, 2, 9.0)
    assert statuses(stages, 20.0)["prepare data"] == (1.0, "9.0 s")
    for job, system in ((3, "base"), (4, "head")):
        start(stages, job, "train_model", system, now=9.0)
    write_log(stages, "base", 100)
    stages.read_training_logs()
    write_log(stages, "base", 150)
    stages.read_training_logs()
    assert statuses(stages, 19.0)["train base"] == (0.75, "update 150 of 200, 10 s left")
    assert statuses(stages, 19.0)["train head"] == (0.0, "running")
    write_log(stages, "base", 200)
    stages.read_training_logs()
    assert stages.stages[1].share == 0.99, "the model is not written yet"
    assert stages.stages[1].detail == "validating"
    finish(stages, 3, 21.0)
    assert statuses(stages, 22.0)["train base"] == (1.0, "12 s")
    start(stages, 5, "translate_tests", "base", now=21.0)
    finish(stages, 5, 23.0)
    assert stages.stages[3].share == 0.5
    assert not stages.failures


def test_logs_of_earlier_attempts_and_broken_ends_do_not_count(stages):
    plan(stages)
    start(stages, 3, "train_model", "base")
    write_log(stages, "base", 150, folder="old", time=START - 5)
    stages.read_training_logs()
    assert stages.stages[1].share == 0
    write_log(stages, "base", 20, rest='{"update": 3')
    stages.read_training_logs()
    assert stages.stages[1].detail == "update 20 of 200"


def test_stages_without_jobs_were_finished_earlier(stages):
    plan(stages, systems=("head",), others=())
    assert statuses(stages, 0.0)["prepare data"] == (1.0, "finished earlier")
    assert statuses(stages, 0.0)["train base"] == (1.0, "finished earlier")
    assert statuses(stages, 0.0)["train head"] == (0.0, "")


def test_several_seeds_are_one_stage(stages):
    plan(stages, systems=("base", "base"))
    for job, seed in ((3, "1"), (4, "2")):
        names = wildcards(stages, "base") | {"seed": seed}
        event = {"event": "start", "job": job, "rule": "train_model", "wildcards": names}
        stages.take(event, 0.0, clock=START)
    write_log(stages, "base", 100)
    stages.read_training_logs()
    assert stages.stages[1].share == pytest.approx(0.25)
    finish(stages, 4, 5.0)
    stages.read_training_logs()
    assert stages.stages[1].share == pytest.approx(0.75)
    assert stages.stages[1].ended is None


def test_a_failed_job_is_remembered_unless_it_is_tried_again(stages):
    plan(stages)
    start(stages, 3, "train_model", "base")
    failed = {"event": "fail", "job": 3, "rule": "train_model", "logs": ["a.log"]}
    stages.take(failed, 7.0, clock=START)
    assert statuses(stages, 9.0)["train base"] == (0.0, "failed after 7.0 s")
    assert (stages.failures[3].stage, stages.failures[3].logs) == ("train base", ["a.log"])
    start(stages, 3, "train_model", "base", now=9.0)
    assert not stages.failures


def test_every_rule_has_a_stage():
    assert set(SCORING) <= JOBS.keys()
    assert stage_name("demo", {}) == "score"
    assert stage_name("extract_tokens", {"system": "s"}) == "prepare data"


def test_the_last_update_of_a_log(tmp_path):
    path = tmp_path / "log"
    for text, update in (("", None), ("{}\n", None), ("broken\n", None), ('{"update": 3}\n{"up', 3)):
        path.write_text(text)
        assert last_update(path) == update
    path.write_text("".join(json.dumps({"update": n, "filler": "x" * 500}) + "\n" for n in range(100)))
    assert last_update(path) == 99
