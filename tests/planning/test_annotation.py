"""Inputs and settings of annotation jobs."""

import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.planning.annotation import (
    parsed_sides,
    selection_annotations,
    selection_file,
    selection_settings,
    shard_files,
)

TREES = {"dataset": "parsed", "annotator": "trees"}


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


@pytest.mark.parametrize(
    ("annotator", "named", "sides"),
    [
        ({"tool": "spacy", "model": "en_ud"}, [], ("source",)),
        ({"tool": "udpipe", "model": "german-gsd.de.udpipe"}, [], ("target",)),
        ({"tool": "stanza", "model": "mine"}, [], ("source", "target")),
        ({"tool": "spacy", "model": "en_ud"}, ["target"], ("target",)),
        ({"tool": "easyccg"}, [], ()),
    ],
)
def test_a_parser_is_of_the_sides_that_name_it_or_whose_language_it_knows(make_project, annotator, named, sides):
    syntax = {side: {"dependencies": "p"} for side in named}
    project = make_project(mine=little(annotators={"p": annotator}, syntax=syntax))
    assert parsed_sides(project.dataset("mine"), "p") == sides


def test_corenlp_parses_the_sides_whose_language_it_knows(make_project):
    project = make_project(mine=little(source="cs", target="en", annotators={"p": {"tool": "corenlp"}}))
    assert parsed_sides(project.dataset("mine"), "p") == ("target",)
