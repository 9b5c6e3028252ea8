"""What configuration files may hold: JSON Schemas for editors, and tables and lists of keys for people."""

import dataclasses
import json
import textwrap
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic.json_schema import GenerateJsonSchema

from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import FILTERS, FORMATS, AnnotatorModelSettings, CorpusSettings
from nmtcore.config.datasets import ANNOTATORS, DatasetSettings
from nmtcore.config.features import TRANSFORMS
from nmtcore.config.metrics import CommandMetricSettings
from nmtcore.config.project import ProjectSettings
from nmtcore.config.registry import PartOf, PartsOf, Registry
from nmtcore.config.systems import (
    ChangesForTransformer,
    RecipeSettings,
    ScaleSettings,
    SpeedsSettings,
    StandInSettings,
    SystemSettings,
)
from nmtcore.config.training import BASES, DecodingSettings, TrainingSettings
from nmtcore.config.typed import adapter, default_of, descriptions, hints_of, plain, summary, unknown
from nmtcore.errors import UserError
from nmtcore.files import write_texts
from nmtcore.tables.settings import PaperSettings, PaperTablesSettings

FILES: dict[str, type] = {
    "config": ProjectSettings,
    "datasets": DatasetSettings,
    "corpora": CorpusSettings,
    "metrics": CommandMetricSettings,
    "models": AnnotatorModelSettings,
    "published": PaperSettings,
    "recipes": RecipeSettings,
    "scales": ScaleSettings,
    "speeds": SpeedsSettings,
    "stand_ins": StandInSettings,
    "systems": SystemSettings,
    "tables": PaperTablesSettings,
}
"""The settings in config.yaml and speeds.yaml, and in the files of each folder; of `systems`, those of an entry."""

REGISTRIES: dict[str, Registry] = {
    "model": BASES,
    "components": COMPONENTS,
    "transforms": TRANSFORMS,
    "filters": FILTERS,
    "annotators": ANNOTATORS,
    "formats": FORMATS,
}
"""The registries whose classes have keys of their own, by the name of the section that holds them."""

SECTIONS: dict[str, type] = {"training": TrainingSettings, "decoding": DecodingSettings}
"""Sections of several kinds of files."""

ENTRIES = ("systems", "datasets", "corpora", "models")
"""The kinds of files that hold entries by name; all but systems may also be in a file alone, named like it."""

NOT_IN_FILES = {(DatasetSettings, "name"), (AnnotatorModelSettings, "name")}
"""Fields without a key: the file's name gives them."""

_EXTENDS = {"description": "Another one of this kind, whose settings hold unless given here.", "type": "string"}


class _WithoutTitles(GenerateJsonSchema):
    ignored_warning_kinds: set[Any] = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Leave out titles, which repeat the keys."""
        return False


def _schema(hint: Any) -> dict[str, Any]:
    return adapter(hint).json_schema(schema_generator=_WithoutTitles)


def write_schemas(folder: Path) -> None:
    """Write one schema per kind of configuration file into a folder, all or none."""
    write_texts(schema_texts(folder))


def schema_texts(folder: Path) -> dict[Path, str]:
    """Return the texts of all schemas by their paths in a folder."""
    return {
        folder / f"{name}.schema.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        for name, schema in file_schemas().items()
    }


def file_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schemas of config.yaml, of speeds.yaml, and of the files in each folder, by their names."""
    return {name: _file_schema(name, cls) for name, cls in FILES.items()}


def _file_schema(name: str, cls: type) -> dict[str, Any]:
    """Return the schema of a kind of file; where a file may change another one, no key is required."""
    is_part = name in ("datasets", "metrics", "speeds", "systems")
    schema = _schema(Annotated[dict[str, Any], PartOf(cls)] if is_part else cls)
    keys = {key: inner for key, inner in schema["properties"].items() if (cls, key) not in NOT_IN_FILES}
    if name == "datasets":
        keys = {key: _or_null(inner) for key, inner in keys.items()}
    if name in ("datasets", "systems", "recipes"):
        keys = {"extends": _EXTENDS} | keys
    schema |= {"properties": keys, "required": [key for key in schema.get("required", ()) if key in keys]}
    if name not in ENTRIES:
        return schema
    definitions = schema.pop("$defs", {})
    entries = {"type": "object", "additionalProperties": schema}
    return {**(entries if name == "systems" else {"anyOf": [schema, entries]}), "$defs": definitions}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of values, or of entries by name, in whose place null may stand: it drops the ancestor's."""
    if isinstance(schema.get("additionalProperties"), dict):
        schema = {**schema, "additionalProperties": _or_null(schema["additionalProperties"])}
    return {"anyOf": [schema, {"type": "null"}]}


class Key(NamedTuple):
    """What is said of a key, or of a class of settings."""

    place: str
    """The sections and the key, with dots between them."""
    values: str
    """The values that it may have; empty of a class."""
    default: str
    """Its default in JSON, or "required"; empty of a class."""
    meaning: str
    """What it means, in one line."""

    @property
    def paragraph(self) -> str:
        """The text for a terminal."""
        allowed = f" ({self.values}; {self.default})" if self.values else ""
        text = f"{self.place}{allowed}: {self.meaning}".replace("`", "")
        return textwrap.fill(text, 100, subsequent_indent="    ", break_on_hyphens=False)


def keys_of(section: str, *names: str) -> Iterator[Key]:
    """Yield a section and all its keys; of a registry, each class with its keys, or only those of some `names`."""
    if registry := REGISTRIES.get(section):
        classes = {f"{section}.{name}": registry[name] for name in names or registry}
    else:
        classes = {section: {**FILES, **SECTIONS}[section]}
    for place, cls in classes.items():
        yield Key(place, "", "", summary(cls))
        yield from _keys_in(cls, place)


def _keys_in(cls: type, place: str) -> Iterator[Key]:
    schema = _schema(cls)
    for field in dataclasses.fields(cls):
        if (cls, field.name) in NOT_IN_FILES or not field.init or field.metadata:
            continue
        hint, here = hints_of(cls)[field.name], f"{place}.{field.name}"
        inner = _settings_inside(hint)
        if inner is not hint:
            values = _values(schema["properties"][field.name], schema.get("$defs", {}))
            yield Key(here, values, _default_text(field), descriptions(cls)[field.name])
        if inner:
            yield from _keys_in(inner, here)


def keys_table(section: str, *names: str) -> str:
    """Write the table of the keys of a section, or of one class of a registry; a dot leads to what is inside."""
    above = ".".join((section, *names))
    keys = [key for key in keys_of(section, *names) if key.place != above]
    rows = [[f"`{key.place.removeprefix(f'{above}.')}`", *key[1:]] for key in keys]
    return markdown_table(["key", "values", "default", "meaning"], rows)


def markdown_table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Write a table; bars in cells are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    escaped = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def _settings_inside(hint: Any) -> type | None:
    """Return the settings class of which a hint has one or several; None if it has none, or a section of its own."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return hint
    if any(isinstance(extra, PartOf | PartsOf | Registry) for extra in getattr(hint, "__metadata__", ())):
        return None
    return next(filter(None, map(_settings_inside, typing.get_args(hint))), None)


def _values(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Say which values a JSON Schema allows."""
    if "$ref" in schema:
        return _values(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema or "oneOf" in schema:
        choices = (_values(choice, definitions) for choice in schema.get("anyOf") or schema["oneOf"])
        return ", ".join(dict.fromkeys(choices))
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{choice}`" for choice in schema.get("enum", [schema.get("const")]))
    json_type = schema.get("type")
    if json_type == "array":
        items = schema.get("prefixItems") or [schema.get("items", {})]
        number = f"list of {len(items)}" if "prefixItems" in schema else "list"
        inner = _values(items[0], definitions)
        return number if "mapping" in inner else f"{number}: {inner}"
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = " and ".join(f"{sign} {schema[key]}" for key, sign in signs.items() if key in schema)
    names = {"boolean": "`true`, `false`", "object": "mapping", "null": "`null`", None: "anything"}
    return f"{names.get(json_type, json_type)} {bounds}".strip()


def _default_text(field: dataclasses.Field) -> str:
    default = default_of(field)
    return "required" if default is dataclasses.MISSING else f"`{json.dumps(plain(default), ensure_ascii=False)}`"


def explained(path: str) -> str:
    """Explain the keys below a path such as `training.schedule`, `components.pascal` or `config`, one paragraph each.

    A path that leaves out sections (`dropout`, `schedule.peak`, `model.dropout`) is found wherever it is. Raises
    `UserError` if it is nowhere.
    """
    sections, (section, *rest) = [*FILES, *REGISTRIES, *SECTIONS], path.split(".")
    registry = REGISTRIES.get(section, {})
    if registry and not rest:
        return "\n".join(Key(f"{path}.{name}", "", "", summary(cls)).paragraph for name, cls in registry.items())
    keys = list(keys_of(section, *(name for name in rest[:1] if name in registry))) if section in sections else []
    if below := [key.paragraph for key in keys if f"{key.place}.".startswith(f"{path}.")]:
        return "\n".join(below)
    everywhere = [key for name in sections for key in keys_of(name)]
    chosen = [key for key in everywhere if _has_parts(key.place, path)]
    if not chosen:
        if keys and rest[:1] and registry:
            registry.find(rest[0], where=section)
            section = f"{section}.{rest.pop(0)}"
        places = _ends(key.place for key in keys or everywhere)
        where, noun = (f"{section}: ", "key") if keys else ("", "section or key")
        raise UserError(f"{where}{unknown(noun, '.'.join(rest) if keys else path, places)}")
    files = map(_files_with, dict.fromkeys(key.place.partition(".")[0] for key in chosen))
    return "\n".join([*(key.paragraph for key in chosen), *filter(None, files)])


def _has_parts(place: str, path: str) -> bool:
    """Say whether a place has all parts of a path, in the same order."""
    remaining = iter(place.split("."))
    return all(part in remaining for part in path.split("."))


def _ends(places: Iterable[str]) -> set[str]:
    """Return the places, also without their first parts: `training.schedule.peak`, `schedule.peak`, `peak`."""
    parts = [place.split(".") for place in places]
    return {".".join(names[start:]) for names in parts for start in range(len(names))}


def _files_with(section: str) -> str:
    """Say which files have a section, by its name or in the changes for a base; empty of a file, or if none has it."""
    keys = {name: {field.name for field in dataclasses.fields(cls)} for name, cls in FILES.items()}
    direct = [name for name, field_names in keys.items() if section in field_names and section not in FILES]
    of_bases = {field.name for field in dataclasses.fields(ChangesForTransformer)}
    per_base = [
        name for name, field_names in keys.items() if "per_base" in field_names and section in of_bases - field_names
    ]
    below = f", and below per_base.BASE in files of {', '.join(per_base)}" if per_base else ""
    return f"{section} is a section in files of {', '.join(direct)}{below}." if direct else ""
