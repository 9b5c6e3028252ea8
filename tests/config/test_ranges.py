"""Every number of the settings has a range, which is checked wherever settings are made."""

import dataclasses
import typing
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic.fields import FieldInfo
from settings_classes import settings_classes

from nmtcore.config.project import read_project_settings
from nmtcore.config.runs import run_from_json, run_to_json
from nmtcore.config.typed import hints_of
from nmtcore.errors import UserError


def numbers_in(hint: Any) -> Iterator[list[Any]]:
    """Yield the bounds of every number in values of a type hint."""
    if typing.get_origin(hint) is Annotated and typing.get_args(hint)[0] in (int, float):
        yield [bound for extra in hint.__metadata__ if isinstance(extra, FieldInfo) for bound in extra.metadata]
    elif hint in (int, float):
        yield []
    else:
        for inner in typing.get_args(hint):
            yield from numbers_in(inner)


def test_every_number_has_a_range():
    numbers = {
        f"{name}.{field.name}": bounds
        for name, cls in settings_classes().items()
        for field in dataclasses.fields(cls)
        for bounds in numbers_in(hints_of(cls)[field.name])
    }
    assert len(numbers) > 80
    assert [name for name, bounds in numbers.items() if not bounds] == [], "write Annotated[int, Range(...)], or a name"


@pytest.mark.parametrize(("seed", "bound"), [(-1, "at least 0"), (2**32, "at most 4294967295")])
def test_seeds_that_torch_cannot_take(project, seed, bound):
    with pytest.raises(UserError, match=rf"^config.yaml: seeds\[0\] must be {bound}, not {seed}\.$"):
        read_project_settings({"seeds": [seed]}, where="config.yaml")
    with pytest.raises(UserError, match=f": seed must be {bound}, not {seed}"):
        project.run("demo_en2de", "transformer_base", "smoke", seed)


def test_a_trained_models_settings_are_checked_too(project):
    values = run_to_json(project.run("demo_en2de", "transformer_base", "smoke", 1))
    values["training"]["validation"]["every"] = 0
    with pytest.raises(UserError, match=r"^run.json: training: validation: every must be at least 1, not 0\.$"):
        run_from_json(values, where="run.json")
