"""What configuration files may hold: JSON Schemas that agree with what is read, and lists and tables of keys."""

import json
import re
from pathlib import Path

import pytest
from full_disk import largest_file
from jsonschema import Draft202012Validator

from nmtcore.cli import main
from nmtcore.config.files import read_yaml
from nmtcore.config.systems import read_speeds
from nmtcore.errors import UserError
from nmtcore.schemas import FILES, explained, file_schemas, keys_table

CONFIG = Path(__file__).parents[2] / "config"
SCHEMAS = file_schemas()


def faults(schema: str, values: object) -> list[str]:
    """Say what a schema refuses, and where: the most specific errors."""

    def leaves(error):
        return [leaf for inner in error.context for leaf in leaves(inner)] if error.context else [error]

    errors = Draft202012Validator(SCHEMAS[schema]).iter_errors(values)
    return [f"{leaf.json_path}: {leaf.message}" for error in errors for leaf in leaves(error)]


@pytest.mark.parametrize("name", FILES)
def test_every_shipped_file_is_valid(name, tmp_path, capsys):
    main(["schema", "--folder", str(tmp_path)])
    assert f"{tmp_path / name}.schema.json" in capsys.readouterr().out
    Draft202012Validator.check_schema(json.loads((tmp_path / f"{name}.schema.json").read_text(encoding="utf-8")))
    for path in [CONFIG / f"{name}.yaml"] if name in ("config", "speeds") else sorted((CONFIG / name).glob("*.yaml")):
        assert faults(name, read_yaml(path)) == [], path


DEMO = {
    "description": "mine",
    "source": "en",
    "target": "de",
    "corpora": {name: {"format": "plain", "files": {"en": "a", "de": "b"}} for name in ("train", "dev", "test")},
    "splits": {"train": "train", "dev": "dev", "test": "test"},
    "recipe": "small",
    "segmentation": {"kind": "bpe", "size": 100},
}


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ("config", {"systems": "pascal", "seeds": [3], "datasets": ["demo_*"]}),
        ("datasets", DEMO),
        ("datasets", {**DEMO, "words": "given", "filters": ["empty", {"name": "length", "most": 9}]}),
        ("datasets", {**DEMO, "words": {"source": "moses", "target": {"kind": "mecab"}}, "published": None}),
        ("datasets", {**DEMO, "splits": {**DEMO["splits"], "train": ["train", {"corpus": "dev", "last": 3}]}}),
        ("datasets", {"extends": "demo_en2de", "annotators": {"existing": {"shards": 2}}, "syntax": {"target": None}}),
        ("datasets", {"extends": "demo_en2de", "corpora": {"gold": {"files": {"de": "b"}}}, "words": None}),
        ("speeds", {"scales": {"mine": {"gpu": {"sa_nmt_*": 0.1}}}}),
        ("scales", {"description": "x", "sentences": {"train": 3}, "fine_tuning": {"max_updates": 2}}),
        ("systems", {"mine": {"extends": "pascal", "components": {"pascal": None, "mine": {"kind": "sisa"}}}}),
    ],
)
def test_short_forms_and_changes_are_valid(own_project, schema, values):
    assert faults(schema, values) == []
    load(own_project, schema, values)


WRONG = [
    ("config", {"seads": [1]}, "seads"),
    ("config", {"gpus": 0}, "gpus"),
    ("recipes", {"description": "x", "training": {"schedule": {"knid": "constant"}}}, "knid"),
    ("recipes", {"description": "x", "per_base": {"recurrent": {"model": {"heads": 8}}}}, "heads"),
    ("recipes", {"training": {"max_updates": 1}}, "description"),
    ("scales", {"description": "x", "per_base": {"recurent": {}}}, "recurent"),
    ("scales", {"description": "x", "decoding": {"beam": 1000000}}, "beam"),
    ("systems", {"mine": {"components": {"pascal": {"heds": 2}}}}, "heds"),
    ("systems", {"mine": {"extends": "pascal", "per_dataset": {"demo_en2de": {"trainig": {}}}}}, "trainig"),
    ("datasets", {**DEMO, "filters": [{"name": "length", "mosst": 3}]}, "mosst"),
    ("datasets", {**DEMO, "words": "mozes"}, "words"),
    ("datasets", {**DEMO, "annotators": {"existing": {"tool": "existing", "shards": 0}}}, "shards"),
    ("datasets", {**DEMO, "syntax": {"sorce": {}}}, "sorce"),
    ("models", {"description": "x", "files": [{"name": "models/mine/a", "url": "https://x", "lenght": 3}]}, "lenght"),
    ("corpora", {"format": "csv", "files": {"pairs": "a"}}, "format"),
    ("speeds", {"scales": {"small": {"cores": {}}}}, "cores"),
]


@pytest.mark.parametrize(("schema", "values", "key"), WRONG)
def test_a_wrong_file_is_refused_by_loader_and_schema(own_project, schema, values, key):
    with pytest.raises(UserError) as error:
        load(own_project, schema, values)
    assert key in str(error.value)
    assert any(key in fault for fault in faults(schema, values))


def load(own_project, schema: str, values: dict) -> None:
    """Read a file of the user's own and everything that it is needed for."""
    of_corpora = {**DEMO, "corpora": {}, "splits": dict.fromkeys(DEMO["splits"], "mine")}
    using = {"corpora": of_corpora, "recipes": {**DEMO, "recipe": "mine"}}
    files = {schema if schema in ("config", "speeds") else f"{schema}/mine": values}
    files |= {"datasets/mine": using[schema]} if schema in using else {}
    project = own_project(files, **(values if schema == "config" else {}))
    if schema == "models":
        project.annotator_model("mine")
    if schema == "speeds":
        read_speeds(project.folders)
    dataset = "mine" if schema in ("corpora", "datasets", "recipes") else "demo_en2de"
    system, scale = ("mine" if schema == "systems" else "transformer_base"), ("mine" if schema == "scales" else "smoke")
    project.run(dataset, system, scale, 1)


def test_without_space_no_schema_is_written(tmp_path, capsys):
    with pytest.raises(SystemExit), largest_file(20_000):
        main(["schema", "--folder", str(tmp_path)])
    assert list(tmp_path.iterdir()) == []
    assert f"{tmp_path}/datasets.schema.json would exceed the largest file size" in capsys.readouterr().err


def test_the_command_explains_keys(capsys):
    main(["schema", "training.schedule.peak", "components.pascal"])
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "training.schedule.peak (number > 0 and ≤ 1; 0.0007): Highest learning rate."
    assert lines[2].startswith("components.pascal: Encoder heads whose scores are multiplied by a Gaussian")
    assert "components.pascal.heads (integer ≥ 1 and ≤ 1024; required)" in "\n".join(lines)


@pytest.mark.parametrize(
    ("key", "places"),
    [
        ("dropout", ["model.transformer.dropout", "model.recurrent.dropout"]),
        ("model.dropout", ["model.transformer.dropout", "model.recurrent.dropout"]),
        ("schedule.peak", ["training.schedule.peak"]),
        ("device_size", ["config.machine.device_size"]),
        ("treebank", ["systems.treebank", "systems.treebank.pairs", "systems.treebank.size"]),
        ("gaussian", ["components.gaussian", "components.gaussian.width"]),
    ],
)
def test_a_key_without_its_section_is_explained_wherever_it_is(key, places, tmp_path, monkeypatch):
    """So is one of a component of the user's own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/components").mkdir(parents=True)
    (tmp_path / "config/components/gaussian.py").write_text(
        "from nmtcore.config.features import ComponentSettings\n"
        "from nmtcore.config.typed import Count, settings_class\n"
        "@settings_class\n"
        "class GaussianSettings(ComponentSettings):\n"
        '    """A Gaussian."""\n'
        "    width: Count = 3\n"
        '    """Its width."""\n'
    )
    assert re.findall(r"^([\w.]+)(?=:| \()", explained(key), re.M) == places


def test_a_broken_component_of_the_users_own_hides_no_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/components").mkdir(parents=True)
    (tmp_path / "config/components/broken.py").write_text("settings(")
    assert explained("components.pascal.heads").startswith("components.pascal.heads (")
    with pytest.raises(UserError, match=r"broken\.py, line 1"):
        explained("heads")


def test_where_a_key_is_found_its_section_says_which_files_have_it():
    of_model = "model is a section in files of systems, and below per_base.BASE in files of recipes, scales."
    assert explained("dropout").splitlines()[-1] == of_model
    assert explained("peak").endswith("\ntraining is a section in files of recipes, scales, systems.")
    assert "is a section in" not in explained("max_bad_lines"), "datasets are files, though config.yaml has the key"


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("trainig", "unknown section or key 'trainig'. Did you mean training"),
        ("warmpu", "unknown section or key 'warmpu'. Did you mean warmup"),
        ("shedule.peak", "unknown section or key 'shedule.peak'. Did you mean schedule.peak"),
        ("training.shedule", "training: unknown key 'shedule'. Did you mean schedule"),
        ("training.log_every", "training: unknown key 'log_every'."),
        ("components.paskal", "components: unknown component 'paskal'. Did you mean pascal?"),
        ("components.pascal.hedas", "components.pascal: unknown key 'hedas'. Did you mean heads?"),
    ],
)
def test_what_has_no_explanation_is_a_mistake(key, sentence):
    with pytest.raises(UserError) as error:
        explained(key)
    assert str(error.value).startswith(sentence)


def test_a_row_of_a_table_has_key_values_default_and_meaning():
    table = keys_table("training")
    assert "| `checkpoint_every` | integer ≥ 1 | `1000` | Updates between checkpoints. |\n" in table
    assert "| `schedule.stop_after` | integer ≥ 1, `null` | `null` | " in table
    assert "| `betas` | list of 2: number ≥ 0 and < 1 | `[0.9, 0.98]` | " in table
    assert "| `length` |  |  | Drop pairs with a side of fewer" in keys_table("filters")
    assert "| `length.most` | integer ≥ 1 | `250` | Most words per side. |" in keys_table("filters")


def test_every_key_of_every_file_can_be_explained():
    for section in FILES:
        assert explained(section).startswith(f"{section}: ")
