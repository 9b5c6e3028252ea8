"""JSON Schemas accept and refuse values as the settings classes do."""

from dataclasses import field
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft7Validator

from nmtcore.config.partial import PartOf, PartsOf
from nmtcore.config.ranges import Count, Fraction, settings_class
from nmtcore.config.registry import Registry
from nmtcore.config.schema import Schemas, nullable
from nmtcore.config.typed import build
from nmtcore.errors import UserError


@settings_class
class Apple:
    """A round fruit."""

    size: Count
    """Its size."""


@settings_class
class Pear:
    """Another fruit."""

    names: tuple[str, ...] = ()
    """Its names."""


FRUIT = Registry[Apple | Pear]({"apple": Apple, "pear": Pear}, noun="fruit", package="collections", key="kind")


@settings_class
class Basket:
    """A basket."""

    label: str
    """Its label."""
    weight: Fraction = 0.5
    """Its weight."""
    pair: tuple[Fraction, Fraction] = (0.0, 0.5)
    """Two weights."""
    colour: Literal["red", "green"] | None = None
    """Its colour."""
    full: bool = False
    """Whether it is full."""
    best: Apple | None = None
    """Its best apple."""
    counts: dict[Literal["left", "right"], Count] = field(default_factory=dict)
    """Counts by side."""
    changes: Annotated[dict[str, Any], PartOf(Apple)] = field(default_factory=dict)
    """Changes of an apple."""
    fruit: Annotated[dict[str, dict[str, Any] | None], PartsOf(FRUIT)] = field(default_factory=dict)
    """Fruit by name."""


def validator_of(cls: type, **options: Any) -> Draft7Validator:
    schemas = Schemas()
    schema = {**schemas.of_class(cls, **options), "definitions": schemas.definitions}
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"weight": 0},
        {"weight": "1e-9"},
        {"pair": [0, 0.25]},
        {"colour": "red", "full": True},
        {"colour": None, "best": None},
        {"best": {"size": 1}},
        {"counts": {"left": 3}},
        {"changes": {}},
        {"changes": {"size": 2}},
        {"fruit": {"apple": {}, "pear": None}},
        {"fruit": {"mine": {"kind": "pear", "names": ["a"]}, "inherited": {"size": 3}}},
    ],
)
def test_values_that_both_accept(values):
    values = {"label": "x", **values}
    build(Basket, values, where="f.yaml")
    assert list(validator_of(Basket).iter_errors(values)) == []


@pytest.mark.parametrize(
    "values",
    [
        {"label": None},
        {"label": 3},
        {"lable": "x"},
        {"weight": 1},
        {"weight": -0.1},
        {"weight": "heavy"},
        {"weight": None},
        {"pair": [0]},
        {"pair": [0, 1]},
        {"colour": "blue"},
        {"full": 1},
        {"full": "yes"},
        {"best": {}},
        {"best": {"size": 0}},
        {"best": {"size": 1.5}},
        {"counts": {"middle": 1}},
        {"counts": {"left": 0}},
        {"changes": {"size": 0}},
        {"changes": {"sise": 1}},
        {"changes": None},
        {"fruit": {"apple": {"sise": 1}}},
        {"fruit": {"apple": {"size": True}}},
        {"fruit": {"mine": {"kind": "grape"}}},
        {"fruit": {"mine": {"kind": "pear", "size": 1}}},
    ],
)
def test_values_that_both_refuse(values):
    values = {"label": "x", **values}
    with pytest.raises(UserError):
        build(Basket, values, where="f.yaml")
    assert list(validator_of(Basket).iter_errors(values))


def test_a_schema_has_descriptions_defaults_and_bounds():
    schema = Schemas().properties_of(Basket)
    assert schema["description"] == "A basket."
    assert schema["required"] == ["label"]
    weight = schema["properties"]["weight"]
    assert weight["description"] == "Its weight."
    assert weight["default"] == 0.5
    assert (weight["minimum"], weight["exclusiveMaximum"]) == (0, 1)


def test_a_part_requires_nothing_and_has_no_defaults():
    schema = Schemas().properties_of(Basket, part=True)
    assert "required" not in schema
    assert "default" not in schema["properties"]["weight"]
    assert validator_of(Basket, part=True).is_valid({"best": {}})
    assert Schemas(defaults_of_parts=True).properties_of(Basket, part=True)["properties"]["weight"]["default"] == 0.5


def test_what_is_null_already_stays_as_it_is():
    for schema in (
        {"type": "string"},
        {"enum": ["a"]},
        {"$ref": "#/definitions/Apple"},
        {"anyOf": [{"type": "array"}]},
    ):
        once = nullable(schema)
        assert nullable(once) == once
