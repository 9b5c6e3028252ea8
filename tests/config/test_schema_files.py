"""The schemas of configuration files: as committed, for all shipped files, and for wrong ones."""

import json
import shutil
from pathlib import Path

import pytest
import yaml
from full_disk import largest_file
from jsonschema import Draft7Validator

from nmtcore.cli import main
from nmtcore.config.components import COMPONENTS
from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.hidden_files import hidden_files
from nmtcore.config.project import Project
from nmtcore.config.ranges import Count, settings_class
from nmtcore.config.schema_files import FILES, file_schemas
from nmtcore.config.speeds import read_speeds
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError

CONFIG = Path(__file__).parents[2] / "config"
SCHEMAS = file_schemas()
SHIPPED = [(name, CONFIG / f"{name}.yaml") for name in ("config", "speeds")]
SHIPPED += [(folder, path) for folder in FILES for path in sorted((CONFIG / folder).glob("*.yaml"))]


def faults(schema: str, values: object) -> list[str]:
    """Say what a schema refuses, and where: the most specific errors."""

    def leaves(error):
        return [leaf for inner in error.context for leaf in leaves(inner)] if error.context else [error]

    errors = Draft7Validator(SCHEMAS[schema]).iter_errors(values)
    return [f"{leaf.json_path}: {leaf.message}" for error in errors for leaf in leaves(error)]


@pytest.mark.parametrize("name", FILES)
def test_the_committed_schemas_are_what_the_command_writes(name, tmp_path, capsys):
    main(["schema", str(tmp_path)])
    assert f"{tmp_path / name}.schema.json" in capsys.readouterr().out
    committed = CONFIG / f"schemas/{name}.schema.json"
    written = (tmp_path / f"{name}.schema.json").read_text(encoding="utf-8")
    assert committed.read_text(encoding="utf-8") == written, "run `nmtcore schema` and commit config/schemas"
    Draft7Validator.check_schema(json.loads(written))


@pytest.mark.parametrize(("schema", "path"), SHIPPED, ids=lambda value: str(value).removeprefix(f"{CONFIG}/"))
def test_every_shipped_file_names_its_schema_and_is_valid(schema, path):
    line = path.read_text(encoding="utf-8").partition("\n")[0]
    named = line.removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == CONFIG / f"schemas/{schema}.schema.json"
    assert faults(schema, read_yaml(path)) == []


DEMO = {
    "description": "mine",
    "source": "en",
    "target": "de",
    "corpora": {name: {"format": "demo", "options": {"split": name}} for name in ("train", "dev", "test")},
    "splits": {"train": "train", "dev": "dev", "test": "test"},
    "recipe": "small",
    "segmentation": {"kind": "bpe", "size": 100},
}


MINE = {"device": "gpu", "description": "a card", "source": "measured", "search": 0.1, "share_of_peak": 0.3}


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ("config", {"systems": "pascal", "seeds": 3, "datasets": ["demo_*"]}),
        ("datasets", DEMO),
        ("datasets", {**DEMO, "words": "given", "filters": ["empty", {"name": "length", "most": 9}]}),
        ("datasets", {**DEMO, "words": {"source": "moses", "target": {"kind": "mecab"}}, "published": None}),
        (
            "datasets",
            {**DEMO, "splits": {"train": ["train", {"corpus": "dev", "last": 3}], "dev": "dev", "test": "test"}},
        ),
        ("datasets", {"extends": "demo_en2de", "annotators": {"existing": {"shards": 2}}, "syntax": {"target": None}}),
        ("datasets", {"extends": "demo_en2de", "corpora": {"train": {"options": {"count": 9}}}, "words": None}),
        ("datasets", {"extends": "demo_en2de", "training": {"schedule": {"peak": "1e-4"}}}),
        ("speeds", {"subwords_per_sentence": None, "devices": {"mine": MINE}, "gpu": "mine"}),
        ("scales", {"description": "x", "sentences": {"train": 3}, "fine_tuning": {"max_updates": 2}}),
        ("systems", {"mine": {"extends": "pascal", "components": {"pascal": None, "mine": {"kind": "sisa"}}}}),
    ],
)
def test_short_forms_and_changes_are_valid(tmp_path, schema, values):
    assert faults(schema, values) == []
    load(tmp_path, schema, values)


WRONG = [
    ("config", {"seads": [1]}, "seads"),
    ("config", {"gpus": 0}, "gpus"),
    ("config", {"device": "gpu"}, "device"),
    ("recipes", {"description": "x", "training": {"max_updates": 0}}, "max_updates"),
    ("recipes", {"description": "x", "training": {"validation": {"every": 0}}}, "every"),
    ("recipes", {"description": "x", "training": {"schedule": {"knid": "constant"}}}, "knid"),
    ("recipes", {"description": "x", "per_base": {"transformer": {"model": {"dropout": "much"}}}}, "dropout"),
    ("recipes", {"description": "x", "per_base": {"recurrent": {"model": {"heads": 8}}}}, "heads"),
    ("scales", {"description": "x", "per_base": {"recurent": {}}}, "recurent"),
    ("recipes", {"training": {"max_updates": 1}}, "description"),
    ("scales", {"description": "x", "decoding": {"beam": 1000000}}, "beam"),
    ("scales", {"description": "x", "segmentation_size": "small"}, "segmentation_size"),
    ("systems", {"mine": {"components": {"pascal": {"heds": 2}}}}, "heds"),
    ("systems", {"mine": {"components": {"paskal": {"heads": 2}}}}, "paskal"),
    ("systems", {"mine": {"components": {"upper": {"kind": "paskal"}}}}, "upper"),
    ("systems", {"mine": {"extends": "pascal", "per_dataset": {"demo_en2de": {"trainig": {}}}}}, "trainig"),
    ("systems", {"mine": {"extends": "pascal", "per_dataset": {"demo_en2de": {"model": {"width": 0}}}}}, "width"),
    ("datasets", {**DEMO, "filters": [{"name": "length", "mosst": 3}]}, "mosst"),
    ("datasets", {**DEMO, "words": "mozes"}, "words"),
    ("datasets", {**DEMO, "splits": {"train": "train", "test": "test"}}, "dev"),
    ("datasets", {**DEMO, "annotators": {"existing": {"tool": "existing", "shards": 0}}}, "shards"),
    ("datasets", {**DEMO, "syntax": {"sorce": {}}}, "sorce"),
    ("datasets", {"extends": "demo_en2de", "corpora": {"train": {"format": "demo", "options": {"splt": "a"}}}}, "splt"),
    ("datasets", {key: DEMO[key] for key in DEMO if key != "recipe"}, "recipe"),
    ("models", {"description": "x", "files": [{"name": "models/mine/a", "url": "https://x", "lenght": 3}]}, "lenght"),
    ("corpora", {"format": "tsv", "files": {"pairs": "a"}, "options": {"source_column": 0}}, "source_column"),
    ("corpora", {"format": "tsv", "files": {"pears": "a"}}, "pears"),
    ("corpora", {"format": "csv", "files": {"pairs": "a"}}, "format"),
    ("speeds", {"subwords_per_sentence": 0}, "subwords_per_sentence"),
    ("speeds", {"devices": {"h100": {"share_of_peak": 2}}}, "share_of_peak"),
    ("speeds", {"devices": {"h100": {"training": [{"width": 32, "gigaflop": 1}]}}}, "gigaflop"),
    ("speeds", {"annotation": [{"tool": "corenlp"}]}, "sentences_per_second"),
]


@pytest.mark.parametrize(("schema", "values", "key"), WRONG)
def test_a_wrong_file_is_refused_by_loader_and_schema(tmp_path, schema, values, key):
    with pytest.raises(UserError) as error:
        load(tmp_path, schema, values)
    assert key in str(error.value)
    assert any(key in fault for fault in faults(schema, values))


def load(folder: Path, schema: str, values: dict) -> None:
    """Read a file of the user's own and everything that it is needed for."""
    path = folder / (f"{schema}.yaml" if schema in ("config", "speeds") else f"{schema}/mine.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(values))
    settings = values if schema == "config" else {}
    if schema == "corpora":
        dataset = {**DEMO, "corpora": {}, "splits": {"train": "mine", "dev": "mine", "test": "mine"}}
        (folder / "datasets").mkdir()
        (folder / "datasets/mine.yaml").write_text(yaml.safe_dump(dataset))
    if schema == "recipes":
        (folder / "datasets").mkdir()
        (folder / "datasets/mine.yaml").write_text(yaml.safe_dump({**DEMO, "recipe": "mine"}))
    project = Project([folder, CONFIG], settings)
    if schema == "models":
        project.annotator_model("mine")
    if schema == "speeds":
        read_speeds(project.folders)
    dataset = "mine" if schema in ("corpora", "datasets", "recipes") else "demo_en2de"
    system, scale = ("mine" if schema == "systems" else "transformer_base"), ("mine" if schema == "scales" else "smoke")
    project.run(dataset, system, scale, 1)


def test_the_schema_of_a_new_component_appears_by_itself(monkeypatch):
    @settings_class
    class BiasSettings(ComponentSettings):
        """A component of the user's own."""

        strength: Count = 1
        """Its strength."""

    monkeypatch.setitem(COMPONENTS._classes, "bias", BiasSettings)
    monkeypatch.setitem(SCHEMAS, "systems", file_schemas()["systems"])
    assert faults("systems", {"mine": {"components": {"bias": {"strength": 2}}}}) == []
    wrong = {"mine": {"components": {"bias": {"strength": 0}}}}
    assert "$.mine.components.bias.strength: 0 is less than the minimum of 1" in faults("systems", wrong)


def test_a_folder_of_schemas_disturbs_no_reader(tmp_path):
    shutil.copytree(CONFIG / "schemas", tmp_path / "schemas")
    project = Project([tmp_path, CONFIG], {})
    assert project.faults == []
    assert hidden_files([tmp_path, CONFIG]) == []


def test_without_space_no_schema_is_written(tmp_path, capsys):
    with pytest.raises(SystemExit), largest_file(20_000):
        main(["schema", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []
    assert f"{tmp_path}/datasets.schema.json would exceed the largest file size" in capsys.readouterr().err
