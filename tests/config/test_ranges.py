"""Every number of the settings has a range, which is checked wherever settings are made."""

import dataclasses
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic.fields import FieldInfo
from settings_classes import settings_classes
from snakemake.cli import parse_config

from nmtcore.config.project import Project
from nmtcore.config.project_settings import read_project_settings
from nmtcore.config.ranges import hints_of
from nmtcore.config.runs import run_from_json, run_to_json
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


def write(path: Path, values: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(values))


FILES = ("recipes", "datasets", "scales", "systems", "per_dataset")


@pytest.mark.parametrize(
    ("file", "section", "values", "sentence"),
    [(file, "model", {"dropout": 1.0}, "dropout must be below 1, not 1.0.") for file in FILES]
    + [
        ("systems", "training", {"validation": {"every": 0}}, "validation: every must be at least 1, not 0."),
        ("systems", "training", {"schedule": {"peak": -1}}, "schedule: peak must be above 0, not -1."),
        ("systems", "training", {"betas": [0.9, 1.0]}, "betas[1] must be below 1, not 1.0."),
        ("systems", "decoding", {"beam": 1000000}, "beam must be at most 1000, not 1000000."),
    ],
)
def test_no_run_starts_with_a_number_outside_its_range(tmp_path, root, file, section, values, sentence):
    part, section_key = {section: values}, section
    if section == "model" and file in ("recipes", "datasets", "scales"):
        part, section_key = {"per_base": {"transformer": part}}, "per_base: transformer: model"
    recipe = {"description": "mine", "training": {"max_updates": 10}}
    write(tmp_path / "recipes/mine.yaml", {**recipe, **part} if file == "recipes" else recipe)
    write(
        tmp_path / "datasets/mine.yaml",
        {"extends": "demo_en2de", "recipe": "mine"} | (part if file == "datasets" else {}),
    )
    write(tmp_path / "scales/tiny.yaml", {"description": "tiny"} | (part if file == "scales" else {}))
    changes = {"systems": part, "per_dataset": {"per_dataset": {"demo_en2de": part}}}.get(file, {})
    write(tmp_path / "systems/own.yaml", {"mine": {"extends": "transformer_base", **changes}})
    project = Project([tmp_path, root / "config"], {})
    with pytest.raises(UserError) as error:
        project.run("mine", "mine", "tiny", 1)
    file_and_key = {
        "recipes": f"{tmp_path}/recipes/mine.yaml",
        "datasets": f"{tmp_path}/datasets/mine.yaml",
        "scales": f"{tmp_path}/scales/tiny.yaml",
        "systems": f"{tmp_path}/systems/own.yaml: mine",
        "per_dataset": f"{tmp_path}/systems/own.yaml: mine: per_dataset: demo_en2de",
    }[file]
    assert str(error.value) == f"{file_and_key}: {section_key}: {sentence}"


def test_a_component_with_a_number_outside_its_range_names_its_file(tmp_path, root):
    write(tmp_path / "systems/own.yaml", {"mine": {"extends": "pascal", "components": {"pascal": {"variance": 0}}}})
    with pytest.raises(UserError) as error:
        Project([tmp_path, root / "config"], {}).run("demo_en2de", "mine", "smoke", 1)
    assert str(error.value) == (
        f"{tmp_path}/systems/own.yaml: mine: components: pascal: variance must be above 0, not 0."
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": {"encoder_layers": 100_000}}, "encoder_layers must be at most 1000, not 100000."),
        ({"components": {"tree_distance": {"maximum": 10**21}}}, f"maximum must be at most 1000, not {10**21}."),
        ({"components": {"tag_attention": {"width": 10**12}}}, "width must be at most 1000000, not 100000000"),
    ],
)
def test_sizes_that_no_model_has_are_refused_in_planning(tmp_path, root, changes, sentence):
    write(tmp_path / "systems/own.yaml", {"mine": {"extends": "transformer_base", **changes}})
    with pytest.raises(UserError) as error:
        Project([tmp_path, root / "config"], {}).run("demo_en2de", "mine", "paper", 1)
    assert str(error.value).startswith(f"{tmp_path}/systems/own.yaml: mine: ")
    assert sentence in str(error.value)


@pytest.mark.parametrize(("seed", "bound"), [(-1, "at least 0"), (2**32, "at most 4294967295")])
def test_seeds_that_torch_cannot_take(root, seed, bound):
    with pytest.raises(UserError, match=rf"^config.yaml: seeds\[0\] must be {bound}, not {seed}\.$"):
        read_project_settings(parse_config([f"seeds={seed}"]), where="config.yaml")
    with pytest.raises(UserError, match=f": seed must be {bound}, not {seed}"):
        Project.load(root / "config").run("demo_en2de", "transformer_base", "smoke", seed)


def test_a_trained_models_settings_are_checked_too(root):
    values = run_to_json(Project.load(root / "config").run("demo_en2de", "transformer_base", "smoke", 1))
    values["training"]["validation"]["every"] = 0
    with pytest.raises(UserError, match=r"^run.json: training: validation: every must be at least 1, not 0\.$"):
        run_from_json(values, where="run.json")
