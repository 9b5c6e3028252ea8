"""YAML files: keys are strings and unique, and errors name the line."""

import itertools

import pytest

from nmtcore.config import yaml_files
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


def test_a_template_is_refused(tmp_path):
    """Snakemake would run `exec` in it."""
    (tmp_path / "x.yaml").write_text("__use_yte__: true\na: ?open('/tmp/x', 'w')\n")
    with pytest.raises(UserError, match=r"x\.yaml: __use_yte__ lets Snakemake run code in this file"):
        read_yaml(tmp_path / "x.yaml")


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in itertools.pairwise("abcdefghij")
)
MERGES = "l0: &l0 {k: 1}\n" + "".join(f"l{i}: &l{i} {{<<: [{', '.join([f'*l{i - 1}'] * 10)}]}}\n" for i in range(1, 9))
DEEP_ALIASES = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [[[[[[[[[[*a{i - 1}]]]]]]]]]]\n" for i in range(1, 200))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (LAUGHS, "has more than 100,000 values, its aliases expanded"),
        ("a: &a [*a]", "has more than 100,000 values, its aliases expanded"),
        ("a: &a {b: *a}", "has more than 100,000 values, its aliases expanded"),
        ("a: " + "[" * 20_000 + "]" * 20_000, "or more than 50 lists and mappings inside each other"),
        ("a: " + "{b: " * 20_000 + "}" * 20_000, "or more than 50 lists and mappings inside each other"),
        ("a: " + "9" * 5000, "not valid YAML .Exceeds the limit"),
        ("a: 2020-13-45", "not valid YAML .month must be in"),
        ("a: 1" + ":1" * 4000 + ".5", "not valid YAML .int too large"),
        ("b: 1\na: 0x" + "f" * 6000, "line 2: not valid YAML .a number of too many digits"),
        ("a: 1" + ":1" * 3000, "line 1: not valid YAML .a number of too many digits"),
        (MERGES, "has more than 100,000 values, its aliases expanded"),
        (DEEP_ALIASES, "or more than 50 lists and mappings inside each other"),
        ("a: " + "[" * 1_000_000, "or more than 50 lists and mappings inside each other"),
        ("a: !!python/object/apply:os.system [ls]", "line 1: the tag '!!python/object/apply:os.system' is refused"),
        ("b: 1\na: !!bool maybe", "line 2: the tag '!!bool' is refused: write the value without it"),
        ("a: !!int ''", "line 1: the tag '!!int' is refused"),
        ("a: !!map [1]", "line 1: the tag '!!map' is refused"),
        ("a: !!timestamp hallo", "line 1: the tag '!!timestamp' is refused"),
        ("!!omap a: ! 1", "line 1: the tag '!!omap' is refused"),
        ("a: ! 1", "line 1: the tag '!' is refused"),
        ("a: !" + "k" * 10_000 + " 1", "line 1: the tag '!k{76}[.]{3}' is refused"),
        (f"? {'k' * 100_000}\n: 1\n? {'k' * 100_000}\n: 1\n", "line 3: not valid YAML .duplicate key 'k{77}[.]{3}'"),
    ],
)
def test_hostile_yaml_is_explained(text, fault, tmp_path):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(UserError, match=rf"x\.yaml.*{fault}"):
        read_yaml(tmp_path / "x.yaml")


def test_aliases_are_allowed(tmp_path):
    (tmp_path / "x.yaml").write_text("a: &a [1, 2]\nb: [*a, *a]\n")
    assert read_yaml(tmp_path / "x.yaml")["b"] == [[1, 2], [1, 2]]


def test_merged_mappings_are_allowed(tmp_path):
    (tmp_path / "x.yaml").write_text("a: &a {k: 1, l: 2}\nb: &b {<<: *a, l: 3}\nc: {<<: [*b, *a], m: 4}\n")
    assert read_yaml(tmp_path / "x.yaml")["c"] == {"k": 1, "l": 3, "m": 4}


def test_another_encoding_is_named(tmp_path):
    (tmp_path / "x.yaml").write_bytes("a: größer".encode("latin-1"))
    with pytest.raises(UserError, match=r"x\.yaml is not UTF-8 from byte 6 on: convert it \(see `iconv`\)\.$"):
        read_yaml(tmp_path / "x.yaml")


def test_the_deepest_file_and_the_largest_are_read(tmp_path, monkeypatch):
    (tmp_path / "x.yaml").write_text("a: " + "[" * 50 + "]" * 50)
    assert read_yaml(tmp_path / "x.yaml")
    monkeypatch.setattr(yaml_files, "MAX_VALUES", 100)
    (tmp_path / "x.yaml").write_text("".join(f"k{i}: 1\n" for i in range(99)))
    assert len(read_yaml(tmp_path / "x.yaml")) == 99
    (tmp_path / "x.yaml").write_text("".join(f"k{i}: 1\n" for i in range(100)))
    with pytest.raises(UserError, match="has more than 100 values"):
        read_yaml(tmp_path / "x.yaml")
