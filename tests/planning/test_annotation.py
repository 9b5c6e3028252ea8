import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.annotation import (
    annotator_memory,
    annotator_models,
    annotator_of,
    annotators_without_models,
    language,
    selection_annotations,
    selection_file,
    shard_files,
    tracked_annotator,
    tracked_selection,
)

TREES = {"dataset": "parsed", "annotator": "trees"}


def test_an_annotator_that_a_data_set_does_not_have(project):
    made = project(parsed=parsed())
    assert annotator_of(made, **TREES).model == "xx_trees"
    with pytest.raises(UserError, match=r"parsed: unknown annotator 'tree'\. Did you mean trees"):
        annotator_of(made, dataset="parsed", annotator="tree")


def test_annotation_depends_on_the_settings_of_its_annotator(project):
    def tracked(**changes):
        annotators = {"trees": {"tool": "spacy", "model": "xx_trees", **changes}, "gold": {"tool": "existing"}}
        return repr(tracked_annotator(project(parsed=parsed(annotators=annotators)), **TREES))

    assert tracked() == tracked()
    assert tracked() != tracked(shards=7)


def test_java_takes_its_memory_and_something_around_it(project):
    made = project(
        parsed=parsed(
            annotators={"small": {"tool": "spacy", "model": "x"}, "big": {"tool": "corenlp", "memory_mb": 9000}},
            syntax={},
        )
    )
    asked = [annotator_memory(made, dataset="parsed", annotator=name) for name in ("small", "big")]
    assert asked == [6000, 11000]


def test_the_language_of_a_side(project):
    assert [language(project(little=little()), dataset="little", side=side) for side in ("source", "target")] == [
        "en",
        "de",
    ]


def test_models_are_fetched_unless_they_are_at_hand(project, tmp_path):
    tagged = little(annotators={"tags": {"tool": "easyccg"}}, syntax={"target": {"ccg": "tags"}})
    made = project(tagged=tagged)
    files = annotator_models(made, dataset="tagged", annotator="tags")
    assert "downloads/models/easyccg/easyccg.jar" in files
    jar = tmp_path / "manual/models/easyccg/easyccg.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    assert annotator_models(made, dataset="tagged", annotator="tags") == []


def test_models_that_nobody_can_fetch_are_told(project):
    made = project(parsed=parsed())
    assert annotator_models(made, **TREES) == []
    (sentence,) = annotators_without_models(made, [("parsed", "trees"), ("parsed", "gold")])
    assert sentence.startswith("parsed: the annotator trees cannot run: there is no spacy model 'xx_trees'")


def test_only_the_training_split_has_several_shards(project):
    made = project(parsed=parsed())
    folder = "results/parsed/annotation/trees/shards"
    assert shard_files(made, **TREES, split="train", side="source") == [
        f"{folder}/train.source.{shard}-of-3.parquet" for shard in range(3)
    ]
    assert shard_files(made, **TREES, split="dev", side="source") == [f"{folder}/dev.source.0-of-1.parquet"]


def test_a_selection_is_of_the_training_split_and_reads_its_annotations(project):
    chosen = parsed(selection={"parsed": {"source": ["dependencies"]}})
    made = project(parsed=parsed(), chosen=chosen)
    file = "results/chosen/annotation/selection/train.parquet"
    assert selection_file(made, dataset="chosen") == selection_file(made, dataset="chosen", split="train") == [file]
    assert selection_file(made, dataset="chosen", split="dev") == selection_file(made, dataset="parsed") == []
    assert selection_annotations(made, dataset="chosen") == ["results/chosen/annotation/trees/train.source.parquet"]
    assert selection_annotations(made, dataset="parsed") == []
    assert tracked_selection(made, dataset="chosen")[0]["parsed"] == {"source": ["dependencies"]}
