import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.features import (
    labels_of_features,
    segmentation_folder,
    training_linearised_parses,
    used_annotations,
)


def test_a_segmentation_lies_where_it_was_learned(project):
    made = project(first=little(), second=little(segmentation_from="first"))
    for name in ("first", "second"):
        folder = segmentation_folder(made, dataset=name, segmentation="words_joint_200")
        assert folder == "results/first/segmentation/words_joint_200"


def test_brackets_are_read_where_a_segmentation_is_learned_from_constituents_too(project):
    made = project(
        phrases=little(
            annotators={"phrases": {"tool": "corenlp", "analysis": "constituents"}},
            syntax={"source": {"constituency": "phrases"}},
        ),
        plain=little(),
    )
    found = training_linearised_parses(made, dataset="phrases", segmentation="bpe_joint_200_constituency")
    assert found == ["results/phrases/annotation/phrases/train.source.brackets.parquet"]
    assert training_linearised_parses(made, dataset="phrases", segmentation="bpe_joint_200") == []
    with pytest.raises(UserError, match="plain: bpe_joint_200_constituency needs constituency on the source side"):
        training_linearised_parses(made, dataset="plain", segmentation="bpe_joint_200_constituency")


def test_the_kinds_that_an_annotator_is_used_for(project):
    made = project(parsed=parsed())
    asked = {"dataset": "parsed", "side": "source"}
    assert used_annotations(made, **asked, annotator="trees", split="dev") == ["dependencies", "tags"]
    assert used_annotations(made, **asked, annotator="gold", split="gold_bank") == ["dependencies"]
    with pytest.raises(UserError, match="the annotator gold is not used on the source side: name it in the data set's"):
        used_annotations(made, **asked, annotator="gold", split="dev")
    with pytest.raises(UserError, match="unknown annotator 'tree'"):
        used_annotations(made, **asked, annotator="tree", split="dev")


def test_trees_of_treebanks_are_numbered_by_the_labels_of_the_training_split(project):
    made = project(parsed=parsed())
    for annotator in ("trees", "gold"):
        labels = labels_of_features(made, dataset="parsed", annotator=annotator, side="source")
        assert labels == "results/parsed/annotation/trees/source.labels.json"
