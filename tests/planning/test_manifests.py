"""What planning says of the data of runs for their manifests."""

import json
import os
from pathlib import Path

import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.config.project import Project
from nmtcore.files import write_json
from nmtcore.planning.manifests import (
    described_runs,
    manifest_inputs,
    manifest_sources,
    read_datasets,
    run_states,
    runs_to_describe,
)
from nmtcore.planning.targets import check_target


def test_corpora_have_their_own_licence_or_that_of_the_data_set(make_project):
    plain = little()
    corpora = {**plain["corpora"], "test": {**plain["corpora"]["test"], "licence": "CC0"}}
    project = make_project(mine=little(corpora=corpora, licence="by us", citation="us"))
    sources = manifest_sources(project, run=project.run("mine", "transformer_base", "smoke", 1))
    assert [(corpus["corpus"], corpus["splits"], corpus["licence"]) for corpus in sources["corpora"]] == [
        ("mine/train", ["train"], "by us"),
        ("mine/dev", ["dev"], "by us"),
        ("mine/test", ["test"], "CC0"),
    ]
    assert sources["corpora"][0]["files"][0] == {
        "name": "little/train.en", "path": None, "url": None, "sha256": None,
    }  # fmt: skip
    assert (sources["source"], sources["target"], sources["models"]) == ("en", "de", [])
    assert sources == json.loads(json.dumps(sources)), "a job gets plain values"


def test_parsers_are_those_that_the_run_uses(root):
    project = Project.load(root / "config")

    def annotators(dataset, system):
        sources = manifest_sources(project, run=project.run(dataset, system, "smoke", 1))
        return {model["annotator"]: model for model in sources["models"]}

    assert annotators("multi30k_en2de", "transformer_base").keys() == set()
    used = annotators("multi30k_en2de", "depparse_l1")
    assert used.keys() == {"stanza_en", "existing"}, "the trees of training, and the gold trees of the comparison"
    assert used["stanza_en"]["licence"].startswith("Apache-2.0; trained on treebanks")
    assert all(file["url"] for file in used["stanza_en"]["files"])
    assert annotators("multi30k_cs2en", "tag_attention").keys() == {"easyccg"}


def test_shared_corpora_keep_their_name(root):
    project = Project.load(root / "config")
    sources = manifest_sources(project, run=project.run("multi30k_en2de", "transformer_base", "smoke", 1))
    assert sources["corpora"][0]["corpus"] == "multi30k_de_en_train"


@pytest.mark.parametrize("dataset", ["demo_en2de", "wmt17_tr2en", "wat_en2ja", "de2cs"])
def test_every_kind_of_data_set_can_be_described(dataset, root):
    project = Project.load(root / "config")
    sources = manifest_sources(project, run=project.run(dataset, "transformer_base", "paper", 1))
    assert all(corpus["licence"] for corpus in sources["corpora"])


def write(project, file_type, **names):
    path = Path(project.layout.path(file_type, scale="smoke", dataset="mine", **names))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_the_index_depends_on_runs_but_not_on_their_manifests(make_project):
    project = make_project(mine=parsed())
    nothing = repr(run_states(project))
    scores = write(project, "scores", system="transformer_base", seed=1)
    write(project, "history", system="gone", seed=2)
    states = run_states(project)
    assert repr(states) != nothing
    assert [(run["names"]["system"], run["sources"] is None) for run in states["runs"]] == [
        ("gone", True),
        ("transformer_base", False),
    ]
    write(project, "manifest", system="transformer_base", seed=1)
    assert repr(run_states(project)) == repr(states)
    os.utime(scores, (1, 1))
    assert repr(run_states(project)) != repr(states)
    write(project, "manifest", system="interrupted", seed=1)
    assert len(run_states(project)["runs"]) == 3


def test_data_sets_are_described_when_a_split_was_read(make_project):
    project = make_project(mine=parsed(), other=parsed())
    assert read_datasets(project)["datasets"] == {}
    read = project.layout.path("raw_report", dataset="mine", split="train")
    write_json(Path(read), {})
    described = read_datasets(project)
    assert described["datasets"].keys() == {"mine"}
    assert described["datasets"]["mine"]["splits"].keys() == project.dataset("mine").splits.keys()
    assert {model["annotator"] for model in described["datasets"]["mine"]["models"]} == project.dataset(
        "mine"
    ).annotators.keys()
    annotation = project.layout.path("annotation", dataset="mine", annotator="x", split="train", side="source")
    write_json(Path(annotation), {})
    assert [path in read_datasets(project)["files"] for path in (read, annotation)] == [True, True]
    assert described != read_datasets(project), "the table is made again"
    write_json(Path(project.layout.path("raw_report", dataset="gone", split="test")), {})
    assert read_datasets(project)["datasets"] == described["datasets"], "the configuration has no data set called gone"


def test_runs_with_newer_results_than_their_manifest_are_to_be_described(make_project):
    project = make_project(mine=parsed())

    def to_describe():
        return [(path["system"], path["seed"]) for path in runs_to_describe(project.layout)]

    for system in ("complete", "killed", "unscored", "without"):
        for number, file_type in enumerate(("model", "scores")):
            if (system, file_type) != ("unscored", "scores"):
                os.utime(write(project, file_type, system=system, seed=1), (10 + number, 10 + number))
    for system, time in (("complete", 12), ("killed", 9), ("unscored", 9), ("training", 9)):
        os.utime(write(project, "manifest", system=system, seed=1), (time, time))
    assert sorted(to_describe()) == [("killed", "1"), ("unscored", "1"), ("without", "1")]
    os.utime(write(project, "gold_scores", system="complete", seed=1), (13, 13))
    assert ("complete", "1") in to_describe()


def test_other_files_are_no_runs(make_project):
    project = make_project(mine=little())
    parse = project.layout.parse
    paths = ["results/smoke/mine/transformer_base/seed1/scores.json", "elsewhere/scores.json"]
    assert [run["names"]["seed"] for run in described_runs(project, map(parse, paths))] == ["1"]


def test_a_manifest_needs_the_results_of_its_run(make_project):
    project = make_project(mine=little())
    folder = "results/smoke/mine/transformer_base/seed1"
    inputs = manifest_inputs(project, run=project.run("mine", "transformer_base", "smoke", 1))
    assert inputs == [f"{folder}/{name}" for name in ("scores.json", "hypotheses", "model", "training.jsonl")]
    for target in (f"{folder}/manifest.json", "results/runs.parquet", "results/tables/licences.md"):
        check_target(project, target)
