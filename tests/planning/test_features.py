"""Inputs and settings of the jobs for segmentation and features."""

import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.training import (
    labels_of_features,
    segmentation_folder,
    training_linearised_parses,
    used_annotations,
)


def test_a_segmentation_lies_in_the_data_set_that_learned_it(make_project):
    project = make_project(first=little(), second=little(segmentation_from="first"))
    for name in ("first", "second"):
        folder = segmentation_folder(project, dataset=name, segmentation="words_joint_200")
        assert folder == "results/first/segmentation/words_joint_200"


def test_a_segmentation_may_read_linearised_parses(make_project):
    project = make_project(
        phrases=little(
            annotators={"phrases": {"tool": "corenlp", "analysis": "constituents"}},
            syntax={"source": {"constituency": "phrases"}},
        ),
        plain=little(),
    )
    files = training_linearised_parses(project, dataset="phrases", segmentation="bpe_joint_200_constituency")
    assert files == ["results/phrases/annotation/phrases/train.source.brackets.parquet"]
    assert training_linearised_parses(project, dataset="phrases", segmentation="bpe_joint_200") == []
    with pytest.raises(UserError, match="plain: bpe_joint_200_constituency needs constituency on the source side"):
        training_linearised_parses(project, dataset="plain", segmentation="bpe_joint_200_constituency")


def test_annotations_that_an_annotator_is_used_for(make_project):
    project = make_project(parsed=parsed())
    names = {"dataset": "parsed", "side": "source"}
    assert used_annotations(project, **names, annotator="trees", split="dev") == ["dependencies", "tags"]
    assert used_annotations(project, **names, annotator="gold", split="gold_bank") == ["dependencies"]
    with pytest.raises(UserError, match="the annotator gold is not used on the source side: name it in the data set's"):
        used_annotations(project, **names, annotator="gold", split="dev")
    with pytest.raises(UserError, match="unknown annotator 'tree'"):
        used_annotations(project, **names, annotator="tree", split="dev")


def test_trees_of_treebanks_use_the_label_vocabulary_of_the_training_split(make_project):
    project = make_project(parsed=parsed())
    for annotator in ("trees", "gold"):
        labels = labels_of_features(project, dataset="parsed", annotator=annotator, side="source")
        assert labels == "results/parsed/annotation/trees/source.labels.json"
