"""Inputs and settings of annotation jobs."""

from planning.conftest import parsed
from workflow.calling import little

from nmtcore.planning.annotation import (
    annotator_memory,
    annotator_models,
    annotators_without_models,
    language,
    selection_annotations,
    selection_file,
    selection_settings,
    shard_files,
)

TREES = {"dataset": "parsed", "annotator": "trees"}


def test_a_job_gets_2000_megabytes_more_than_java(make_project):
    project = make_project(
        parsed=parsed(
            annotators={"small": {"tool": "spacy", "model": "x"}, "big": {"tool": "corenlp", "memory_mb": 9000}},
            syntax={},
        )
    )
    memory = [annotator_memory(project, dataset="parsed", annotator=name) for name in ("small", "big")]
    assert memory == [6000, 11000]


def test_the_language_of_a_side(make_project):
    languages = [language(make_project(little=little()), dataset="little", side=side) for side in ("source", "target")]
    assert languages == ["en", "de"]


def test_models_are_downloaded_unless_the_user_has_them(make_project, tmp_path):
    tagged = little(annotators={"tags": {"tool": "easyccg"}}, syntax={"target": {"ccg": "tags"}})
    project = make_project(tagged=tagged)
    files = annotator_models(project, dataset="tagged", annotator="tags")
    assert "downloads/models/easyccg/easyccg.jar" in files
    jar = tmp_path / "manual/models/easyccg/easyccg.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    assert annotator_models(project, dataset="tagged", annotator="tags") == []


def test_missing_models_that_cannot_be_downloaded_are_reported(make_project):
    project = make_project(parsed=parsed())
    assert annotator_models(project, **TREES) == []
    (sentence,) = annotators_without_models(project, [("parsed", "trees"), ("parsed", "gold")])
    assert sentence.startswith("parsed: the annotator trees cannot run: there is no spacy model 'xx_trees'")


def test_only_the_training_split_has_several_shards(make_project):
    project = make_project(parsed=parsed())
    folder = "results/parsed/annotation/trees/shards"
    assert shard_files(project, **TREES, split="train", side="source") == [
        f"{folder}/train.source.{shard}-of-3.parquet" for shard in range(3)
    ]
    assert shard_files(project, **TREES, split="dev", side="source") == [f"{folder}/dev.source.0-of-1.parquet"]


def test_a_selection_reads_the_annotations_of_the_training_split(make_project):
    selected = parsed(selection={"parsed": {"source": ["dependencies"]}})
    project = make_project(parsed=parsed(), selected=selected)
    file = "results/selected/annotation/selection/train.parquet"
    assert (
        selection_file(project, dataset="selected")
        == selection_file(project, dataset="selected", split="train")
        == [file]
    )
    assert selection_file(project, dataset="selected", split="dev") == selection_file(project, dataset="parsed") == []
    assert selection_annotations(project, dataset="selected") == [
        "results/selected/annotation/trees/train.source.parquet"
    ]
    assert selection_annotations(project, dataset="parsed") == []
    assert selection_settings(project, dataset="selected")["parsed"] == {"source": ["dependencies"]}
