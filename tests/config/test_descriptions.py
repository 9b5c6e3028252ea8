"""Every setting has a description, which the schemas and config/README.md show."""

import dataclasses
from typing import Literal

import pytest
from settings_classes import settings_classes

from nmtcore.config.descriptions import descriptions, summary
from nmtcore.config.training import TrainingSettings

SETTINGS = {name: cls for name, cls in settings_classes().items() if name.endswith(("Settings", "Options", "Entry"))}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_has_a_description(name):
    cls = SETTINGS[name]
    missing = {field.name for field in dataclasses.fields(cls)} - descriptions(cls).keys()
    assert not missing, f"{name}: write a docstring below {', '.join(sorted(missing))}"
    for text in (*descriptions(cls).values(), summary(cls)):
        assert text.endswith("."), f"{name}: a description is a sentence: {text}"
        assert "|" not in text.replace("|||", ""), f"{name}: a table's cell cannot hold a bar: {text}"


def test_descriptions_come_from_the_docstrings_below_the_fields():
    assert descriptions(TrainingSettings)["checkpoint_every"] == "Updates between checkpoints."


def test_a_class_inherits_descriptions_and_may_replace_them():
    assert {"size", "also"} <= descriptions(Derived).keys()
    assert descriptions(Derived) == {"size": "Size of it.", "also": "Another text."}
    assert summary(Derived) == "A class with a long first paragraph."


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
    """A class with a long
    first paragraph.

    And more.
    """

    size: int = 2
    also: Literal["a"] | None = None
    """Another
    text."""
