"""Systems with transforms of examples: what they need, and combinations that are refused."""

import pytest

from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.corpora import SIDES
from nmtcore.config.features import InterleaveSettings, ParsingTaskSettings
from nmtcore.config.runs import run_from_json, run_to_json, training_settings
from nmtcore.errors import UserError
from nmtcore.layout import Layout

TWICE = {
    "extends": "transformer_base",
    "segmentation": {"also": "constituency"},
    "transforms": {"parsing_task": {}},
}
SOURCE_TAGS, TARGET_TAGS = ({"kind": "interleave", "side": side, "tags": "dg_a_tags"} for side in SIDES)
BRACKETED = {
    "extends": "demo_en2de",
    "syntax": {"source": {"constituency": "existing"}},
    "segmentation": {"kind": "bpe", "joint": True, "size": 9000},
}
"""A data set that has constituents and a larger segmentation than the scale allows."""


@pytest.fixture
def run(own_project):
    """Assemble the run of a system of the user's own."""

    def run(entry: dict, dataset: str = "bracketed"):
        unbracketed = {"extends": "demo_en2de", "syntax": {"source": {"constituency": None}}}
        datasets = {"datasets/bracketed": BRACKETED, "datasets/plain": unbracketed}
        return own_project(datasets | {"systems/mine": {"mine": entry}}).run(dataset, "mine", "smoke", 1)

    return run


def test_a_segmentation_needs_the_annotation_that_it_is_learned_from(run):
    alone = {"extends": "transformer_base", "segmentation": {"also": "constituency"}}
    assert run(alone).segmentation.also == "constituency"
    with pytest.raises(MissingAnnotation, match=r"scale smoke: needs constituency on the source side"):
        run(alone, dataset="plain")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"components": [{"name": "sisa"}]}, "components: expected keys and values, found [{"),
        ({"components": {"sisa": 3}}, "components: sisa: expected {kind: name of a component, settings}, found 3."),
        ({"transforms": None}, "transforms: expected keys and values, found nothing."),
    ],
)
def test_a_stored_run_of_the_wrong_shape_is_an_error(run, change: dict, words: str):
    with pytest.raises(UserError) as error:
        run_from_json(run_to_json(run(TWICE)) | change, where="run.json")
    assert str(error.value).startswith(f"run.json: {words}")


def test_a_system_with_a_transform_and_its_segmentation(run):
    settings = run({"extends": "currey_heafield", "segmentation": {"size": "500"}})
    assert settings.segmentation.name == "bpe_joint_500_constituency"
    assert run(TWICE).segmentation.name == "bpe_joint_2000_constituency", "cut down to the scale's size"
    assert settings.transforms == {"parsing_task": ParsingTaskSettings()}
    assert (settings.features, settings.linearised_by) == ({}, "existing")
    assert run_from_json(run_to_json(settings), where="test") == settings
    tokens = ["dev.source.parquet", "dev.target.parquet"]
    assert settings.feature_files("dev") == [*tokens, "dev.source.existing.brackets.parquet"]
    assert settings.feature_files("test") == ["test.source.parquet", "test.target.parquet"]


def test_null_drops_a_transform_of_the_extended_system(run):
    child = {"extends": "currey_heafield", "transforms": {"parsing_task": None}, "segmentation": {"also": None}}
    dropped, plain = run(child), run({"extends": "transformer_base"})
    assert (dropped.transforms, dropped.linearised_by, dropped.segmentation) == ({}, None, plain.segmentation)


def test_a_transform_may_have_another_name(run):
    settings = run({**TWICE, "transforms": {"second": {"kind": "parsing_task"}}})
    assert settings.transforms == {"second": ParsingTaskSettings()}
    assert run_from_json(run_to_json(settings), where="test") == settings


def test_training_without_transforms_records_no_settings_of_transforms(run):
    """A new key would train every run again."""
    plain, twice = (training_settings(run(entry)) for entry in ({"extends": "transformer_base"}, TWICE))
    assert not [key for key in plain if "transform" in key or "linearised" in key or "also" in plain["segmentation"]]
    assert twice["transforms"] == {"parsing_task": {"kind": "parsing_task"}}
    assert twice["segmentation"]["also"] == "constituency"


def test_tags_are_read_wherever_the_system_is_used(run):
    """In training, to translate tests and new text (the source's only), and of gold treebanks."""
    both = {"extends": "transformer_base", "transforms": {"one": SOURCE_TAGS, "two": TARGET_TAGS}}
    settings = run(both)
    assert settings.transforms["one"] == InterleaveSettings(side="source", tags="dg_a_tags")
    assert settings.features == {side: {"dg_a_tags": "existing"} for side in SIDES}
    assert settings.split_features("train") == settings.split_features("test") == settings.features
    assert settings.inference_features == settings.split_features("gold_demo") == {"source": {"dg_a_tags": "existing"}}
    assert settings.feature_files("train") == [
        *(f"train.{side}.parquet" for side in SIDES),
        *(f"train.{side}.existing.parquet" for side in SIDES),
    ]
    assert "existing" in settings.annotators
    files = settings.label_files(Layout())
    assert {side: list(paths) for side, paths in files.items()} == {side: ["existing"] for side in SIDES}
    assert run_from_json(run_to_json(settings), where="test") == settings


def test_only_the_side_with_tags_is_closed_to_components(run):
    target = {"interleave": {"side": "target", "tags": "dg_b_tags"}}
    for system, name in (("pascal", "pascal"), ("depparse_l1", "depparse")):
        settings = run({"extends": system, "transforms": target})
        assert (list(settings.components), list(settings.transforms)) == ([name], ["interleave"])
        assert settings.features == {"source": {"trees": "existing"}, "target": {"dg_b_tags": "existing"}}
    twice = run({**TWICE, "transforms": {"parsing_task": {}, **target}})
    assert list(twice.transforms) == ["parsing_task", "interleave"]


def test_tags_of_copied_sources_are_refused(project):
    """A source parse of copied English is no Turkish."""
    for dataset in ("wmt17_tr2en_mono", "rehearsal_wmt17_tr2en_mono"):
        with pytest.raises(
            MissingAnnotation, match=r"reads dependencies of the source, .* copied 'en' text is no parse of 'tr'\. Use"
        ) as error:
            project.run(dataset, "source_dg_a", "smoke", 1)
        assert error.value.missing == "copies of targets as sources, whose parses are no parses of 'tr'"
        assert list(project.run(dataset, "interleaved", "smoke", 1).features["target"]) == ["ccg_tags"]
    assert project.run("wmt17_tr2en_30k", "source_dg_a", "smoke", 1).features["source"]
