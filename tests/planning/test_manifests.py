"""What planning says of the data of runs for their manifests."""

import json
import os
from pathlib import Path

from planning.conftest import parsed
from workflow.calling import little

from nmtcore.config.project import Project
from nmtcore.files import write_json
from nmtcore.planning.manifests import manifest_sources, read_datasets, reading_reports, run_times


def test_corpora_have_their_own_licence_or_that_of_the_data_set(make_project):
    plain = little()
    corpora = {**plain["corpora"], "test": {**plain["corpora"]["test"], "licence": "CC0"}}
    project = make_project(mine=little(corpora=corpora, licence="by us", citation="us"))
    sources = manifest_sources(project, run=project.run("mine", "transformer_base", "smoke", 1))
    assert {(row["name"], *row["splits"], row["licence"]) for row in sources["files"]} == {
        ("mine/train", "train", "by us"),
        ("mine/dev", "dev", "by us"),
        ("mine/test", "test", "CC0"),
    }
    assert sources["files"][0].items() >= {
        "kind": "corpus", "file": "little/train.en", "path": None, "url": None, "sha256": None,
    }.items()  # fmt: skip
    assert (sources["source"], sources["target"], sources["splits"]) == ("en", "de", ["train", "dev", "test"])
    assert sources == json.loads(json.dumps(sources)), "a job gets plain values"


def test_parsers_are_those_that_the_run_uses(root):
    project = Project.load(root / "config")

    def annotators(dataset, system):
        sources = manifest_sources(project, run=project.run(dataset, system, "smoke", 1))
        return {row["annotator"]: row for row in sources["files"] if row["kind"] == "model"}

    assert annotators("multi30k_en2de", "transformer_base").keys() == set()
    used = annotators("multi30k_en2de", "depparse_l1")
    assert used.keys() == {"stanza_en"}, "the gold trees of the comparison have no model"
    assert used["stanza_en"]["licence"].startswith("Apache-2.0; trained on treebanks")
    assert used["stanza_en"]["url"]
    assert annotators("multi30k_cs2en", "tag_attention").keys() == {"easyccg"}


def write(project, file_type, **names):
    path = Path(project.layout.path(file_type, scale="smoke", dataset="mine", **names))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_the_tables_of_all_runs_depend_on_their_files(make_project):
    project = make_project(mine=parsed())
    assert run_times(project) == {}
    scores = write(project, "scores", system="transformer_base", seed=1)
    write(project, "history", system="gone", seed=2)
    states = run_times(project)
    assert len(states) == 2
    write(project, "manifest", system="transformer_base", seed=1)
    assert run_times(project) == states, "a manifest says nothing that the tables have"
    os.utime(scores, (1, 1))
    assert run_times(project) != states


def test_data_sets_are_described_when_a_split_was_read(make_project):
    project = make_project(mine=parsed(), other=parsed())
    assert read_datasets(project) == {}
    read = project.layout.path("raw_report", dataset="mine", split="train")
    write_json(Path(read), {})
    described = read_datasets(project)
    assert described.keys() == {"mine"}
    assert described["mine"]["splits"] == ["train"]
    assert {row["name"] for row in described["mine"]["files"]} == {"mine/train"}
    annotation = project.layout.path("annotation", dataset="mine", annotator="trees", split="train", side="source")
    write_json(Path(annotation), {})
    assert reading_reports(project) == sorted([annotation, read]), "the table is made again"
    described = read_datasets(project)
    assert [row.get("annotator") for row in described["mine"]["files"]] == [None, None, "trees"]
    write_json(Path(project.layout.path("raw_report", dataset="gone", split="test")), {})
    assert read_datasets(project) == described, "the configuration has no data set called gone"
