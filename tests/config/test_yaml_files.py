"""YAML files: keys are strings and unique, and errors name the line."""

import pytest

from nmtcore.config.files import config_file, read_yaml, yaml_files
from nmtcore.errors import UserError


def test_all_keys_are_strings(tmp_path):
    (tmp_path / "f.yaml").write_text("on: keys\nyes: 1\n2: {no: off}\n~: x\n")
    assert read_yaml(tmp_path / "f.yaml") == {"on": "keys", "yes": 1, "2": {"no": False}, "~": "x"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\na: 2\n", "line 2: not valid YAML (duplicate key 'a')"),
        ("on: 1\n'on': 2\n", "line 2: not valid YAML (duplicate key 'on')"),
        ("x: 1\n? [a, b]\n: 2\n", "line 2: not valid YAML (a key must be a string)"),
        ("x: [1\n", "not valid YAML"),
        ("- 1\n", "expected keys and values, found a list"),
    ],
)
def test_an_error_names_the_line(tmp_path, text, sentence):
    (tmp_path / "f.yaml").write_text(text)
    with pytest.raises(UserError) as error:
        read_yaml(tmp_path / "f.yaml")
    assert sentence in str(error.value)
    assert str(tmp_path / "f.yaml") in str(error.value)


def test_an_empty_file_is_an_empty_mapping(tmp_path):
    (tmp_path / "f.yaml").write_text("# nothing\n")
    assert read_yaml(tmp_path / "f.yaml") == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: &a [1]\nb: *a", "line 1: not valid YAML .an alias: write the value again"),
        ("a: &a [*a]", "not valid YAML .an alias"),
        ("a: " + "9" * 5000, "not valid YAML .Exceeds the limit"),
        ("a: 2020-13-45", "not valid YAML .month must be in"),
        ("a: !!python/object/apply:os.system [ls]", "not valid YAML .could not determine a constructor"),
        ("#" * 1_000_001, "has more than 1,000,000 bytes: write several files"),
        (f"? {'k' * 100_000}\n: 1\n? {'k' * 100_000}\n: 1\n", "line 3: not valid YAML .duplicate key 'k{77}[.]{3}'"),
    ],
)
def test_yaml_that_is_not_plain_is_explained(text, fault, tmp_path):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(UserError, match=rf"x\.yaml.*{fault}"):
        read_yaml(tmp_path / "x.yaml")


def test_another_encoding_is_named(tmp_path):
    (tmp_path / "x.yaml").write_bytes("a: größer".encode("latin-1"))
    with pytest.raises(UserError, match=r"x\.yaml is not UTF-8 from byte 6 on: convert it \(see `iconv`\)\.$"):
        read_yaml(tmp_path / "x.yaml")


def test_yml_is_another_ending_but_not_of_the_same_name(tmp_path):
    for name in ("a.yaml", "b.yml", ".hidden.yml", "config.yml"):
        (tmp_path / name).touch()
    assert yaml_files(tmp_path) == {
        "a": tmp_path / "a.yaml",
        "b": tmp_path / "b.yml",
        "config": tmp_path / "config.yml",
    }
    assert config_file(tmp_path) == tmp_path / "config.yml"
    (tmp_path / "b.yaml").touch()
    with pytest.raises(UserError, match=r"b\.yaml and .*b\.yml have the same name: delete or rename one of them"):
        yaml_files(tmp_path)
