"""Every setting has a description, which schemas, the command `nmtcore schema` and the site show."""

import dataclasses
from collections.abc import Mapping
from typing import Literal

import pytest
from settings_classes import settings_classes

from nmtcore.config.components import COMPONENTS
from nmtcore.config.datasets import ANNOTATORS
from nmtcore.config.features import FEATURES
from nmtcore.config.training import TrainingSettings
from nmtcore.config.typed import descriptions, summary

SETTINGS = {name: cls for name, cls in settings_classes().items() if name.endswith(("Settings", "Options", "Entry"))}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_has_a_description(name):
    cls = SETTINGS[name]
    missing = {field.name for field in dataclasses.fields(cls)} - descriptions(cls).keys()
    assert not missing, f"{name}: write a docstring below {', '.join(sorted(missing))}"
    for text in (*descriptions(cls).values(), summary(cls)):
        assert text.endswith("."), f"{name}: a description is a sentence: {text}"


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_says_what_it_needs(name):
    cls = COMPONENTS[name]
    if isinstance(cls.needs, Mapping):
        needs = [f"{FEATURES[f].annotation} on the {side} side" for side in cls.needs for f in cls.needs[side]]
        missing = [need for need in needs if f"Needs {need}" not in summary(cls)]
        assert not missing, f'the docstring of {cls.__name__} says "Needs {", ".join(missing)}."'


@pytest.mark.parametrize("name", ANNOTATORS)
def test_an_annotator_says_what_it_gives(name):
    cls = ANNOTATORS[name]
    given = summary(cls).partition("Gives ")[2]
    assert all(annotation in given for annotation in cls(**example(cls)).gives)


def example(cls):
    return {field.name: "a" for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING}


def test_descriptions_come_from_the_docstrings_below_the_fields():
    assert descriptions(TrainingSettings)["checkpoint_every"] == "Updates between checkpoints."


def test_a_class_inherits_descriptions_and_may_replace_them():
    assert {"size", "also"} <= descriptions(Derived).keys()
    assert descriptions(Derived) == {"size": "Size of it.", "also": "Another text."}
    assert summary(Derived) == "A class with a long docstring. It has two paragraphs."


@dataclasses.dataclass(frozen=True)
class Base:
    """A class."""

    size: int = 1
    """Size of it."""
    also: Literal["a"] | None = None
    """A text."""
    undescribed: bool = False


@dataclasses.dataclass(frozen=True)
class Derived(Base):
    """A class with a long docstring.

    It has
    two paragraphs.
    """

    size: int = 2
    also: Literal["a"] | None = None
    """Another
    text."""
