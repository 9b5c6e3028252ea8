"""Every number of the settings has a range, which is checked wherever settings are made."""

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union

import pytest
import yaml
from settings_classes import settings_classes
from snakemake.cli import parse_config

from nmtcore.config.project import Project
from nmtcore.config.project_settings import read_project_settings
from nmtcore.config.ranges import Range, hints_of, settings_class
from nmtcore.config.runs import run_from_json, run_to_json
from nmtcore.config.training import DecodingSettings, ScheduleSettings, TrainingSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError


class Number(NamedTuple):
    """A number somewhere in a field of a settings class."""

    name: str
    """Its name in messages: `betas[0]`."""
    type: type
    range: Range | None
    value_with: Callable[[Any], Any]
    """Gives the field's value for a number."""


def numbers_in(hint: Any, name: str, value_with: Callable[[Any], Any] = lambda number: number) -> Iterator[Number]:
    """Find the numbers in values of a type hint."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (int, float):
        yield Number(name, hint, None, value_with)
    elif origin is Annotated and arguments[0] in (int, float):
        yield Number(name, arguments[0], next(a for a in arguments[1:] if isinstance(a, Range)), value_with)
    elif origin in (Union, types.UnionType, Annotated):
        for inner in arguments if origin is not Annotated else arguments[:1]:
            yield from numbers_in(inner, name, value_with)
    elif origin is tuple:
        items = arguments[:1] if arguments[-1] is Ellipsis else arguments
        for i, item in enumerate(items):
            values = [example_of(inner) for inner in items]
            yield from numbers_in(item, f"{name}[{i}]", lambda n, i=i, v=values: value_with([*v[:i], n, *v[i + 1 :]]))
    elif origin is dict:
        yield from numbers_in(arguments[1], f"{name}.a", lambda number: value_with({"a": number}))


def example_of(hint: Any) -> Any:
    """Give a value that a field may have as far as its own type hint says."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        numbers = [a for a in arguments[1:] if isinstance(a, Range)]
        return inside(numbers[0], arguments[0])[0] if numbers else example_of(arguments[0])
    if origin is Literal:
        return arguments[0]
    if origin is types.UnionType:
        return example_of(arguments[0])
    if dataclasses.is_dataclass(hint):
        return required_values(hint) | ({"max_updates": 1} if hint is TrainingSettings else {})
    return {tuple: [], dict: {}}.get(origin, {str: "a", bool: True}.get(hint))


def required_values(cls: type) -> dict[str, Any]:
    """Give values for the fields that have no default."""
    return {
        field.name: example_of(hints_of(cls)[field.name])
        for field in dataclasses.fields(cls)
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    }


def inside(range_: Range, type_: type) -> list[float]:
    """Give the numbers just inside the bounds of a range."""
    step = 1 if type_ is int else None
    bounds = [bound for bound in (range_.least, range_.most) if bound is not None]
    bounds += [above(range_.above, step)] if range_.above is not None else []
    bounds += [below(range_.below, step)] if range_.below is not None else []
    return [type_(bound) for bound in bounds]


def outside(range_: Range, type_: type) -> list[float]:
    """Give the numbers just outside the bounds of a range."""
    step = 1 if type_ is int else None
    numbers = [] if range_.least is None else [below(range_.least, step)]
    numbers += [] if range_.most is None else [above(range_.most, step)]
    return [type_(bound) for bound in (*numbers, range_.above, range_.below) if bound is not None]


def above(number: float, step: int | None) -> float:
    return number + step if step else math.nextafter(number, math.inf)


def below(number: float, step: int | None) -> float:
    return number - step if step else math.nextafter(number, -math.inf)


NUMBERS = {
    f"{cls_name}.{number.name}": (cls, field.name, number)
    for cls_name, cls in settings_classes().items()
    if cls is not Range
    for field in dataclasses.fields(cls)
    for number in numbers_in(hints_of(cls)[field.name], field.name)
}


def test_the_numbers_of_nested_settings_are_found():
    assert len(NUMBERS) > 80
    assert {"TrainingSettings.betas[1]", "PublishedSettings.pairs.a", "ProjectSettings.seeds[0]"} <= NUMBERS.keys()


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_has_a_range(name):
    _, _, number = NUMBERS[name]
    assert number.range, f"{name} needs a range: Annotated[{number.type.__name__}, Range(...)] or a name for one"
    assert inside(number.range, number.type), f"{name}: the range has no bounds"


@pytest.mark.parametrize("name", NUMBERS)
def test_both_sides_of_every_range(name):
    cls, field, number = NUMBERS[name]
    required = required_values(cls)

    def fault(value: float) -> str:
        try:
            build(cls, {**required, field: number.value_with(value)}, where="mine.yaml")
        except UserError as error:
            return str(error)
        return ""

    for value in outside(number.range, number.type):
        assert fault(value) == f"mine.yaml: {number.name} must be {number.range}, not {value}."
    for value in inside(number.range, number.type):
        assert f"must be {number.range}" not in fault(value)


def test_an_optional_number_may_be_null():
    assert build(ScheduleSettings, {"stop_after": None}, where="mine.yaml").stop_after is None


def test_ranges_are_checked_when_settings_are_changed():
    settings = DecodingSettings()
    with pytest.raises(ValueError, match="beam must be between 1 and 1000, not 0"):
        dataclasses.replace(settings, beam=0)
    for alpha in (math.nan, math.inf):
        with pytest.raises(ValueError, match=f"alpha must be between -10 and 10, not {alpha}"):
            dataclasses.replace(settings, alpha=alpha)


def test_ranges_are_checked_before_the_settings_own_checks():
    @settings_class
    class Base:
        size: Annotated[int, Range(least=1)] = 1

    @settings_class
    class Halves(Base):
        def __post_init__(self) -> None:
            if 12 % self.size:
                raise ValueError("no divisor")

    assert Halves(size=3).size == 3
    with pytest.raises(ValueError, match="size must be at least 1, not 0"):
        Halves(size=0)
    with pytest.raises(ValueError, match="no divisor"):
        Halves(size=5)


@pytest.mark.parametrize(
    ("range_", "words"),
    [
        (Range(least=1), "at least 1"),
        (Range(above=0), "above 0"),
        (Range(least=0, below=1), "at least 0 and below 1"),
        (Range(least=1, most=15), "between 1 and 15"),
    ],
)
def test_a_range_in_words(range_, words):
    assert str(range_) == words


MISTAKES = [
    ("training", {"validation": {"every": 0}}, "validation: every must be at least 1, not 0."),
    ("training", {"clip_norm": -1}, "clip_norm must be above 0, not -1.0."),
    ("training", {"schedule": {"peak": -1}}, "schedule: peak must be above 0 and at most 1, not -1.0."),
    ("training", {"batch": {"size": 0}}, "batch: size must be at least 1, not 0."),
    ("training", {"max_updates": 0}, "max_updates must be at least 1, not 0."),
    ("training", {"validation": {"stop_after": 0}}, "validation: stop_after must be at least 1, not 0."),
    ("training", {"betas": [0.9, 1.0]}, "betas[1] must be at least 0 and below 1, not 1.0."),
    ("model", {"dropout": 1.0}, "dropout must be at least 0 and below 1, not 1.0."),
    ("decoding", {"beam": 1000000}, "beam must be between 1 and 1000, not 1000000."),
]


def write(path: Path, values: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(values))


@pytest.mark.parametrize("file", ["recipes", "datasets", "scales", "systems", "per_dataset"])
@pytest.mark.parametrize(("section", "values", "sentence"), MISTAKES)
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
        "per_dataset": f"{tmp_path}/systems/own.yaml: mine: per_dataset.demo_en2de",
    }[file]
    assert str(error.value) == f"{file_and_key}: {section_key}: {sentence}"


def test_a_component_with_a_number_outside_its_range_names_its_file(tmp_path, root):
    write(tmp_path / "systems/own.yaml", {"mine": {"extends": "pascal", "components": {"pascal": {"variance": 0}}}})
    with pytest.raises(UserError) as error:
        Project([tmp_path, root / "config"], {}).run("demo_en2de", "mine", "smoke", 1)
    assert str(error.value) == (
        f"{tmp_path}/systems/own.yaml: mine: components: pascal: variance must be above 0, not 0.0."
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": {"encoder_layers": 100_000}}, "encoder_layers must be between 1 and 1000, not 100000."),
        ({"training": {"uniform_range": 1e300}}, "uniform_range must be above 0 and at most 1, not 1e+300."),
        ({"components": {"tree_distance": {"maximum": 10**21}}}, f"maximum must be between 1 and 1000, not {10**21}."),
        ({"components": {"relative_positions": {"maximum": 10**9}}}, "between 1 and 1000, not 1000000000."),
        ({"components": {"tag_attention": {"width": 10**12}}}, "width must be between 1 and 1000000, not 100000000"),
    ],
)
def test_sizes_that_no_model_has_are_refused_in_planning(tmp_path, root, changes, sentence):
    write(tmp_path / "systems/own.yaml", {"mine": {"extends": "transformer_base", **changes}})
    with pytest.raises(UserError) as error:
        Project([tmp_path, root / "config"], {}).run("demo_en2de", "mine", "paper", 1)
    assert str(error.value).startswith(f"{tmp_path}/systems/own.yaml: mine: ")
    assert sentence in str(error.value)


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_seeds_that_torch_cannot_take(root, seed):
    sentence = f"must be between 0 and 4294967295, not {seed}."
    with pytest.raises(UserError, match=rf"^config.yaml: seeds\[0\] {sentence}"):
        read_project_settings(parse_config([f"seeds={seed}"]), where="config.yaml")
    with pytest.raises(UserError, match=f": seed {sentence}"):
        Project.load(root / "config").run("demo_en2de", "transformer_base", "smoke", seed)


def test_a_trained_models_settings_are_checked_too(root):
    values = run_to_json(Project.load(root / "config").run("demo_en2de", "transformer_base", "smoke", 1))
    values["training"]["validation"]["every"] = 0
    with pytest.raises(UserError, match=r"^run.json: training: validation: every must be at least 1, not 0\.$"):
        run_from_json(values, where="run.json")
