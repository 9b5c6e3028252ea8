"""Systems with transforms of examples: what they need, and combinations that are refused."""

from pathlib import Path

import pytest
import yaml

from nmtcore.config.corpora import SIDES
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.runs import run_from_json, run_to_json
from nmtcore.config.stages import training_settings
from nmtcore.config.transforms import InterleaveSettings, ParsingTaskSettings
from nmtcore.errors import UserError

TWICE = {
    "extends": "transformer_base",
    "segmentation": {"also": "constituency"},
    "transforms": {"parsing_task": {}},
}
SOURCE_TAGS, TARGET_TAGS = ({"kind": "interleave", "side": side, "tags": "dg_a_tags"} for side in SIDES)
SOURCE_DG_A = {"extends": "transformer_base", "transforms": {"interleave": SOURCE_TAGS}}


@pytest.fixture
def folder(tmp_path: Path, root: Path) -> Path:
    """A configuration with a data set that has constituents and a larger segmentation than the scale allows."""
    for name in ("recipes/small", "scales/smoke", "datasets/demo_en2de", "systems/pham2018", "systems/bugliarello2020"):
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text((root / "config" / f"{name}.yaml").read_text())
    systems = yaml.safe_load((tmp_path / "systems/bugliarello2020.yaml").read_text())
    for entry in systems.values():
        entry.pop("per_dataset", None)  # the configuration lacks these data sets
    (tmp_path / "systems/bugliarello2020.yaml").write_text(yaml.safe_dump(systems))
    bracketed = {
        "extends": "demo_en2de",
        "syntax": {"source": {"constituency": "existing"}},
        "segmentation": {"kind": "bpe", "joint": True, "size": 9000},
    }
    (tmp_path / "datasets/bracketed.yaml").write_text(yaml.safe_dump(bracketed))
    (tmp_path / "config.yaml").write_text("scale: smoke\n")
    return tmp_path


def run(folder: Path, entry: dict, *, dataset: str = "bracketed", **others: dict):
    (folder / "systems/mine.yaml").write_text(yaml.safe_dump({"mine": entry, **others}, sort_keys=False))
    return Project.load(folder).run(dataset, "mine", "smoke", 1)


def test_a_segmentation_needs_the_annotation_that_it_is_learned_from(folder: Path):
    (folder / "datasets/plain.yaml").write_text("extends: demo_en2de\nsyntax: {source: {constituency: null}}\n")
    alone = {"extends": "transformer_base", "segmentation": {"also": "constituency"}}
    assert run(folder, alone).segmentation.also == "constituency"
    with pytest.raises(MissingAnnotation, match=r"scale smoke: needs constituency on the source side"):
        run(folder, alone, dataset="plain")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"components": [{"name": "sisa"}]}, "components: expected keys and values, found [{"),
        ({"components": {"sisa": 3}}, "components: sisa: expected {kind: name of a component, settings}, found 3."),
        ({"transforms": None}, "transforms: expected keys and values, found nothing."),
    ],
)
def test_a_stored_run_of_the_wrong_shape_is_an_error(folder: Path, change: dict, words: str):
    with pytest.raises(UserError) as error:
        run_from_json(run_to_json(run(folder, TWICE)) | change, where="run.json")
    assert str(error.value).startswith(f"run.json: {words}")


def test_a_system_with_a_transform_and_its_segmentation(folder: Path):
    settings = run(folder, {"extends": "currey_heafield", "segmentation": {"size": 500}})
    assert settings.segmentation.name == "bpe_joint_500_constituency"
    assert run(folder, TWICE).segmentation.name == "bpe_joint_2000_constituency", "cut down to the scale's size"
    assert settings.transforms == {"parsing_task": ParsingTaskSettings()}
    assert (settings.features, settings.linearised_by) == ({}, "existing")
    assert run_from_json(run_to_json(settings), where="test") == settings
    tokens = ["dev.source.parquet", "dev.target.parquet"]
    assert settings.feature_files("dev") == [*tokens, "dev.source.existing.brackets.parquet"]
    assert settings.feature_files("test") == ["test.source.parquet", "test.target.parquet"]


def test_null_drops_a_transform_of_the_extended_system(folder: Path):
    child = {"extends": "currey_heafield", "transforms": {"parsing_task": None}, "segmentation": {"also": None}}
    dropped, plain = run(folder, child), run(folder, {"extends": "transformer_base"})
    assert (dropped.transforms, dropped.linearised_by, dropped.segmentation) == ({}, None, plain.segmentation)


def test_a_transform_may_have_another_name(folder: Path):
    settings = run(folder, {**TWICE, "transforms": {"second": {"kind": "parsing_task"}}})
    assert settings.transforms == {"second": ParsingTaskSettings()}
    assert run_from_json(run_to_json(settings), where="test") == settings


def test_training_without_transforms_records_no_settings_of_transforms(folder: Path):
    """A new key would train every run again."""
    plain, twice = (training_settings(run(folder, entry)) for entry in ({"extends": "transformer_base"}, TWICE))
    assert not [key for key in plain if "transform" in key or "linearised" in key or "also" in plain["segmentation"]]
    assert twice["transforms"] == {"parsing_task": {"kind": "parsing_task"}}
    assert twice["segmentation"]["also"] == "constituency"


def test_tags_are_read_wherever_the_system_is_used(folder: Path):
    """In training, to translate tests and new text (the source's only), and of gold treebanks."""
    both = {"extends": "transformer_base", "transforms": {"one": SOURCE_TAGS, "two": TARGET_TAGS}}
    settings = run(folder, both)
    assert settings.transforms["one"] == InterleaveSettings(side="source", tags="dg_a_tags")
    assert settings.features == {side: {"dg_a_tags": "existing"} for side in SIDES}
    assert settings.split_features("train") == settings.split_features("test") == settings.features
    assert settings.inference_features == settings.split_features("gold_demo") == {"source": {"dg_a_tags": "existing"}}
    assert settings.feature_files("train") == [
        *(f"train.{side}.parquet" for side in SIDES),
        *(f"train.{side}.existing.parquet" for side in SIDES),
    ]
    assert "existing" in settings.annotators
    files = settings.label_files(Project.load(folder).layout)
    assert {side: list(paths) for side, paths in files.items()} == {side: ["existing"] for side in SIDES}
    assert run_from_json(run_to_json(settings), where="test") == settings


def test_only_the_side_with_tags_is_closed_to_components(folder: Path):
    target = {"interleave": {"side": "target", "tags": "dg_b_tags"}}
    for system, name in (("pascal", "pascal"), ("depparse_l1", "depparse")):
        settings = run(folder, {"extends": system, "transforms": target})
        assert (list(settings.components), list(settings.transforms)) == ([name], ["interleave"])
        assert settings.features == {"source": {"trees": "existing"}, "target": {"dg_b_tags": "existing"}}
    twice = run(folder, {**TWICE, "transforms": {"parsing_task": {}, **target}})
    assert list(twice.transforms) == ["parsing_task", "interleave"]


def test_tags_that_the_data_set_lacks(folder: Path):
    entry = {"extends": "transformer_base", "transforms": {"interleave": {"side": "target", "tags": "ccg_tags"}}}
    with pytest.raises(MissingAnnotation, match=r"needs ccg on the target side, but the data set names no annotator"):
        run(folder, entry)


def test_tags_of_copied_sources_are_refused(root: Path):
    """A source parse of copied English is no Turkish."""
    project = Project.load(root / "config")
    for dataset in ("wmt17_tr2en_mono", "rehearsal_wmt17_tr2en_mono"):
        with pytest.raises(
            MissingAnnotation, match=r"reads dependencies of the source, .* copied 'en' text is no parse of 'tr'\. Use"
        ) as error:
            project.run(dataset, "source_dg_a", "smoke", 1)
        assert error.value.missing == "copies of targets as sources, whose parses are no parses of 'tr'"
        assert list(project.run(dataset, "interleaved", "smoke", 1).features["target"]) == ["ccg_tags"]
    assert project.run("wmt17_tr2en_30k", "source_dg_a", "smoke", 1).features["source"]
