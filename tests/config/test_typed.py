"""Typed settings are built from plain values and turned back into them; every mistake is a sentence."""

from dataclasses import dataclass, field
from typing import Literal, TypedDict

import pytest

from nmtcore.config.typed import build, convert, merge, nearest, plain
from nmtcore.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: int = 1


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: str
    rate: float = 0.5
    choice: Literal["a", "b"] = "a"
    pair: tuple[float, float] = (0.0, 1.0)
    items: tuple[Inner, ...] = ()
    table: dict[str, Inner] = field(default_factory=dict)
    limit: int | None = None
    flag: bool = False


class Named(TypedDict):
    name: str


class Record(Named, total=False):
    sizes: tuple[int, ...]


def test_values_of_typed_mappings_are_checked_and_other_keys_stay():
    record = {"name": "x", "sizes": [1], "more": [None]}
    assert convert(record, Record, where="f.json") == {"name": "x", "sizes": (1,), "more": [None]}
    assert convert({"name": "x"}, Record, where="f.json") == {"name": "x"}
    for values, sentence in (
        ("x", r"f\.json: expected keys and values, found 'x'"),
        ({"sizes": [1]}, r"f\.json: the key 'name' is missing"),
        ({"name": "x", "sizes": ["a"]}, r"f\.json\.sizes\[0\]: expected a whole number, found 'a'"),
    ):
        with pytest.raises(UserError, match=sentence):
            convert(values, Record, where="f.json")


def test_values_are_converted_and_come_back():
    values = {
        "name": "x",
        "rate": 1,
        "choice": "b",
        "pair": [1, 2],
        "items": [{"size": 3}],
        "table": {"k": {"size": 4}},
        "limit": 7,
        "flag": True,
    }
    settings = build(Outer, values, where="f.yaml")
    assert settings == Outer(
        name="x",
        rate=1.0,
        choice="b",
        pair=(1.0, 2.0),
        items=(Inner(size=3),),
        table={"k": Inner(size=4)},
        limit=7,
        flag=True,
    )
    assert build(Outer, plain(settings), where="again") == settings


def test_a_number_without_a_point_that_yaml_reads_as_a_string():
    assert build(Outer, {"name": "x", "rate": "1e-9"}, where="f").rate == 1e-9


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"nam": "x"}, ["f.yaml", "'nam'", "Did you mean name?"]),
        ({}, ["f.yaml", "the key 'name' is missing"]),
        ({"name": "x", "choice": "c"}, ["f.yaml: choice", "'c' is not valid", "a, b"]),
        ({"name": "x", "rate": "fast"}, ["f.yaml: rate", "a number", "'fast'"]),
        ({"name": "x", "limit": 1.5}, ["f.yaml: limit", "a whole number", "1.5"]),
        ({"name": "x", "limit": True}, ["f.yaml: limit", "a whole number", "True"]),
        ({"name": "x", "flag": 1}, ["f.yaml: flag", "true or false"]),
        ({"name": "x", "pair": [1]}, ["f.yaml: pair", "2 values", "found 1"]),
        ({"name": "x", "items": "no"}, ["f.yaml: items", "a list"]),
        ({"name": "x", "items": [{"sise": 3}]}, ["f.yaml: items[0]", "'sise'", "size"]),
        ({"name": "x", "table": {"k": {"size": "big"}}}, ["f.yaml: table.k: size", "a whole number"]),
        ({"name": None}, ["f.yaml: name", "a string", "nothing"]),
        ({"name": "x", "rate": float("inf")}, ["f.yaml: rate", "a finite number", "inf"]),
        ({"name": "x", "rate": "nan"}, ["f.yaml: rate", "a finite number", "nan"]),
    ],
)
def test_a_mistake_is_a_sentence(values, words):
    with pytest.raises(UserError) as error:
        build(Outer, values, where="f.yaml")
    for word in words:
        assert word in str(error.value)


def test_all_missing_keys_are_named_at_once():
    @dataclass(frozen=True, kw_only=True)
    class Needs:
        first: str
        second: int
        other: int = 1

    with pytest.raises(UserError, match=r"f\.yaml: the keys 'first', 'second' are missing\."):
        build(Needs, {}, where="f.yaml")


def test_a_list_in_place_of_a_mapping_is_a_mistake():
    with pytest.raises(UserError, match="expected keys and values"):
        build(Outer, ["name"], where="f.yaml")


def test_later_layers_win_and_inner_mappings_are_merged():
    assert merge({"a": {"b": 1, "c": [1]}, "d": 1}, {"a": {"c": [2]}}, {"d": None}) == {
        "a": {"b": 1, "c": [2]},
        "d": None,
    }


def test_nearest_asks_with_commas():
    assert nearest("table_6", ["table_61", "table_62", "table_63"]) == "Did you mean table_63, table_62 or table_61?"
    assert nearest("table_6", ["table_61", "table_62"]) == "Did you mean table_62 or table_61?"
    assert nearest("table_6", ["table_61"]) == "Did you mean table_61?"


def test_nearest_lists_all_names_if_none_is_similar():
    assert nearest("zzz", ["b", "a"]) == "Valid are: a, b."


def test_a_number_that_python_does_not_write_is_a_mistake():
    with pytest.raises(UserError, match=r"found a number of thousands of digits\.$"):
        convert(int("f" * 6000, 16), float, where="x.yaml: training: label_smoothing")
    with pytest.raises(UserError, match="found a number of thousands of digits"):
        convert([int("f" * 6000, 16)], str, where="x.yaml: a")
