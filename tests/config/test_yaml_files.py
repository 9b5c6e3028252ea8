"""YAML files: keys are strings and unique, and errors name the line."""

import pytest

from nmtcore.config.components import component_settings
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError


def test_all_keys_are_strings(tmp_path):
    (tmp_path / "f.yaml").write_text(
        "on: keys\nyes: 1\n2: {no: off}\n~: x\nmore: &more {a: 1}\nlast: {<<: *more, b: 2}\n"
    )
    more = {"more": {"a": 1}, "last": {"a": 1, "b": 2}}
    assert read_yaml(tmp_path / "f.yaml") == {"on": "keys", "yes": 1, "2": {"no": False}, "~": "x", **more}


def test_the_option_on_needs_no_quotes(tmp_path):
    (tmp_path / "f.yaml").write_text("tree_distance: {maximum: 5, on: keys_values}\n")
    ((name, entry),) = read_yaml(tmp_path / "f.yaml").items()
    assert component_settings(name, entry, where="f").on == "keys_values"


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
