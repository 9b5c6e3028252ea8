"""Typed settings are built from plain values and turned back into them; every mistake is a sentence."""

import dataclasses
import math
from dataclasses import field
from typing import Annotated, Any, Literal

import pytest
from typing_extensions import TypedDict

from nmtcore.config.registry import PartOf
from nmtcore.config.training import RecurrentSettings, ScheduleSettings, TransformerSettings
from nmtcore.config.typed import (
    Count,
    ForAll,
    Fraction,
    Listed,
    Range,
    Seed,
    Short,
    build,
    nearest,
    plain,
    settings_class,
)
from nmtcore.errors import UserError


@settings_class
class Inner:
    size: Count = 1
    text: str = "a"

    def __post_init__(self) -> None:
        if self.size == 13:
            raise ValueError("size 13 is unlucky")


@settings_class
class Outer:
    name: str
    rate: float = 0.5
    choice: Literal["a", "b"] = "a"
    pair: tuple[Fraction, Fraction] = (0.0, 0.9)
    items: tuple[Inner, ...] = ()
    table: dict[str, Inner] = field(default_factory=dict)
    limit: int | None = None
    flag: bool = False
    either: float | tuple[float, ...] | None = None
    short: Annotated[dict[str, Annotated[Inner, Short("text")]], ForAll(("left", "right"))] = field(
        default_factory=dict
    )
    listed: Annotated[tuple[Seed, ...], Listed()] = ()
    part: Annotated[dict[str, Any], PartOf(Inner)] = field(default_factory=dict)


class Named(TypedDict):
    name: str


class Record(Named, total=False):
    __pydantic_config__ = {"extra": "allow"}  # noqa: RUF012

    sizes: tuple[int, ...]


def test_values_of_typed_mappings_are_checked_and_other_keys_stay():
    record = {"name": "x", "sizes": [1], "more": [None]}
    assert build(Record, record, where="f.json") == {"name": "x", "sizes": (1,), "more": [None]}
    for values, sentence in (
        ("x", "f.json: expected keys and values, found 'x'."),
        ({"sizes": ["a"]}, "f.json: the key 'name' is missing.\nf.json: sizes[0]: expected a whole number, found 'a'."),
    ):
        with pytest.raises(UserError) as error:
            build(Record, values, where="f.json")
        assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("key", "given", "value"),
    [
        ("rate", 1, 1.0),
        ("rate", "1e-9", 1e-9),
        ("choice", "b", "b"),
        ("pair", [0, 0.5], (0.0, 0.5)),
        ("items", [{"size": 3}], (Inner(size=3),)),
        ("table", {"k": {"size": 4}}, {"k": Inner(size=4)}),
        ("limit", 7, 7),
        ("limit", "3", 3),
        ("flag", "true", True),
        ("either", [1, "2e-3"], (1.0, 2e-3)),
        ("short", {}, {"left": Inner(), "right": Inner()}),
        ("short", "b", {"left": Inner(text="b"), "right": Inner(text="b")}),
        ("short", {"left": {"size": 2}}, {"left": Inner(size=2)}),
        ("listed", 3, (3,)),
        ("part", {"size": 2}, {"size": 2}),
    ],
)
def test_values_and_short_forms_are_converted_and_come_back(key, given, value):
    others = {"name": "x", "short": {"left": {}}}
    settings = build(Outer, others | {key: given}, where="f.yaml")
    assert settings == Outer(**{"name": "x", "short": {"left": Inner()}, key: value})
    assert type(getattr(settings, key)) is type(value)
    assert build(Outer, plain(settings), where="again") == settings


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"nam": "y"}, "unknown key 'nam'. Did you mean name?"),
        ({"choice": "c"}, "choice: 'c' is not valid. Valid are: a, b."),
        ({"rate": "fast"}, "rate: expected a number, found 'fast'."),
        ({"rate": True}, "rate: expected a number, found True."),
        ({"rate": float("inf")}, "rate: expected a finite number, found inf."),
        ({"limit": 1.5}, "limit: expected a whole number, found 1.5."),
        ({"limit": True}, "limit: expected a whole number, found True."),
        ({"flag": "maybe"}, "flag: expected true or false, found 'maybe'."),
        ({"pair": [0]}, "pair[1]: a value is missing."),
        ({"pair": [0, 0, 0]}, "pair: expected 2 values, found 3."),
        ({"pair": [0, 1]}, "pair[1] must be below 1, not 1."),
        ({"items": "no"}, "items: expected a list, found 'no'."),
        ({"items": [{"sise": 3}]}, "items[0]: unknown key 'sise'. Did you mean size?"),
        ({"items": [{"size": 13}]}, "items[0]: size 13 is unlucky."),
        ({"table": {"k": {"size": 0}}}, "table: k: size must be at least 1, not 0."),
        ({"name": None}, "name: expected a string, found nothing."),
        ({"either": "x"}, "either: expected a number, found 'x'."),
        ({"either": True}, "either: expected a number, found True."),
        ({"either": [1, "x"]}, "either[1]: expected a number, found 'x'."),
        ({"part": {"size": 0}}, "part: size must be at least 1, not 0."),
    ],
)
def test_a_mistake_is_a_sentence(values, sentence):
    with pytest.raises(UserError) as error:
        build(Outer, {"name": "x", **values}, where="f.yaml")
    assert str(error.value) in (f"f.yaml: {sentence}", f"f.yaml {sentence}")


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(UserError) as error:
        build(Outer, {"rate": "fast", "items": [{"size": 0, "sise": 1}], "limt": 1}, where="f.yaml")
    assert set(str(error.value).split("\n")) == {
        "f.yaml: the key 'name' is missing.",
        "f.yaml: rate: expected a number, found 'fast'.",
        "f.yaml: items[0]: size must be at least 1, not 0.",
        "f.yaml: items[0]: unknown key 'sise'. Did you mean size?",
        "f.yaml: unknown key 'limt'. Did you mean limit or listed?",
    }


def test_a_list_in_place_of_a_mapping_is_a_mistake():
    with pytest.raises(UserError, match=r"^f\.yaml: expected keys and values, found \['name'\]\.$"):
        build(Outer, ["name"], where="f.yaml")


FLOOR = {"kind": "plateau", "peak": 2e-4, "stop_at_floor": True}


@settings_class
class Halves(Inner):
    share: Annotated[float, Range(above=0, most=1)] = 0.5


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: Inner(size=0), "greater than or equal to 1"),
        (lambda: dataclasses.replace(Inner(), size=-1), "greater than or equal to 1"),
        (lambda: Inner(size=13), "size 13 is unlucky"),
        (lambda: Outer(name="x", rate=math.nan), "finite number"),
        (lambda: Halves(size=13, share=0), "greater than 0"),
        (lambda: RecurrentSettings(width=33), "width must be even"),
        (lambda: TransformerSettings(width=36, heads=8), "width 36 is not a multiple of heads 8"),
        (lambda: ScheduleSettings(**FLOOR, floor=0), "stop_at_floor needs a floor above 0 and below the peak"),
        (lambda: ScheduleSettings(**FLOOR, floor=2e-4), "stop_at_floor needs a floor above 0 and below the peak"),
    ],
)
def test_settings_that_code_makes_are_checked_too(make, fault):
    with pytest.raises(ValueError, match=fault):
        make()


def test_nearest_names_are_offered_or_all_of_them():
    assert nearest("table_6", ["table_61", "table_62", "table_63"]) == "Did you mean table_63, table_62 or table_61?"
    assert nearest("table_6", ["table_61"]) == "Did you mean table_61?"
    assert nearest("zzz", ["b", "a"]) == "Valid are: a, b."
    assert nearest("zzz", []) == "There are no valid names."
    assert nearest("gpu", ["auto", "cpu", "cuda"]) == "Did you mean cuda?"
