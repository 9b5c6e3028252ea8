"""Tables of settings for config/README.md: each key with its values, default and meaning.

A table begins with `<!-- settings: TransformerSettings -->` (a class) or `<!-- settings: COMPONENTS -->` (a registry)
and ends with `<!-- end -->`; `nmtcore schema --readme` updates it.
"""

import dataclasses
import json
import re
import types
import typing
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Union

from nmtcore.config.annotator_models import AnnotatorModelSettings
from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.config.components import COMPONENTS, ComponentSettings
from nmtcore.config.corpora import CorpusSettings, FileSettings, MirrorSettings, PartSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.defaults import default_of
from nmtcore.config.descriptions import descriptions, summary
from nmtcore.config.filters import FILTERS, FilterSettings
from nmtcore.config.formats import FORMATS, FormatOptions
from nmtcore.config.own_code import OneOf
from nmtcore.config.paper_tables import PaperTableSettings, PaperTablesSettings
from nmtcore.config.project_settings import ProjectSettings
from nmtcore.config.published import ClaimSettings, PaperSettings, PublishedTableSettings
from nmtcore.config.ranges import Range, hints_of
from nmtcore.config.recipes import RecipeSettings, ScaleSettings
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.registry import Registry
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.speeds import AnnotationSpeed, DeviceSettings, SpeedsSettings, TrainingSpeed
from nmtcore.config.stand_ins import StandInSettings
from nmtcore.config.systems import SystemEntry
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.config.transforms import TRANSFORMS, TransformSettings
from nmtcore.config.typed import plain, settings_class_in
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.files import write_text

CLASSES = {
    cls.__name__: cls
    for cls in (
        AnnotationSpeed,
        AnnotatorModelSettings,
        ClaimSettings,
        CorpusSettings,
        DatasetSettings,
        DecodingSettings,
        DeviceSettings,
        FileSettings,
        MirrorSettings,
        PaperSettings,
        PaperTableSettings,
        PaperTablesSettings,
        PartSettings,
        ProjectSettings,
        PublishedTableSettings,
        RecipeSettings,
        RecurrentSettings,
        ScaleSettings,
        SpeedsSettings,
        StandInSettings,
        SystemEntry,
        TrainingSettings,
        TrainingSpeed,
        TransformerSettings,
        WordsSettings,
    )
}
"""The settings classes that have a table, by name."""

REGISTRIES: dict[str, tuple[Registry, type]] = {
    "ANNOTATORS": (ANNOTATORS, AnnotatorSettings),
    "COMPONENTS": (COMPONENTS, ComponentSettings),
    "FILTERS": (FILTERS, FilterSettings),
    "FORMATS": (FORMATS, FormatOptions),
    "TRANSFORMS": (TRANSFORMS, TransformSettings),
}
"""The registries that have a table, by name, each with the base of its classes."""

NOT_IN_FILES = {(DatasetSettings, "name"), (AnnotatorModelSettings, "name")}
"""Fields without a key: the file's name gives them."""

_MARKED = re.compile(r"(<!-- settings: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def update_tables(path: Path) -> None:
    """Update the marked tables of a Markdown file."""
    with explain_os_errors(path):
        text = path.read_text(encoding="utf-8")
    write_text(path, with_tables(text, where=str(path)))


def with_tables(text: str, *, where: str) -> str:
    """Fill the marked tables of a Markdown text; raise a `UserError` if a mark names nothing that has a table."""

    def fill(match: re.Match) -> str:
        begin, name, end = match.groups()
        if name not in CLASSES and name not in REGISTRIES:
            raise UserError(f"{where}: no settings are called {name}.")
        table = settings_table(CLASSES[name]) if name in CLASSES else registry_table(*REGISTRIES[name])
        return f"{begin}\n{table}\n{end}"

    return _MARKED.sub(fill, text)


def settings_table(cls: type) -> str:
    """Write the table of a settings class; keys of settings within settings have dots (`schedule.peak`)."""
    return _markdown_table(["key", "values", "default", "meaning"], rows_of(cls))


def registry_table(registry: Registry, base: type) -> str:
    """Write the table of all that a registry has, with the settings that `base` shares among them first."""
    shared = list(rows_of(base))
    rows = [["(all)", *row] for row in shared]
    for name, cls in registry.items():
        own = [row for row in rows_of(cls) if row not in shared]
        rows += [[f"`{name}`", "", "", "", summary(cls)], *(["", *row] for row in own)]
    return _markdown_table([registry.noun, "key", "values", "default", "meaning"], rows)


def _markdown_table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    escaped = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


def rows_of(cls: type, prefix: str = "") -> Iterator[list[str]]:
    """Return the row of each setting of a class: key, values, default and meaning."""
    for field in dataclasses.fields(cls):
        if (cls, field.name) in NOT_IN_FILES:
            continue
        hint, default = hints_of(cls)[field.name], default_of(field)
        inner, optional = settings_class_in(hint), type(None) in typing.get_args(hint)
        if optional or not inner:
            yield [f"`{prefix}{field.name}`", values_of(hint), _default_text(default), descriptions(cls)[field.name]]
        if inner:
            yield from rows_of(inner, f"{prefix}{field.name}.")


def values_of(hint: Any) -> str:
    """Say which values a type hint allows."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        for extra in arguments[1:]:
            if isinstance(extra, OneOf):
                return ", ".join(f"`{name}`" for name in extra.valid)
            if isinstance(extra, Range):
                return f"{values_of(arguments[0])} {_bounds(extra)}".strip()
        return values_of(arguments[0])
    if origin in (Union, types.UnionType):
        return ", ".join("`null`" if choice is type(None) else values_of(choice) for choice in arguments)
    if origin is Literal:
        return ", ".join(f"`{choice}`" for choice in arguments)
    if origin is tuple:
        number = "list" if arguments[-1] is Ellipsis else f"list of {len(arguments)}"
        return number if settings_class_in(arguments[0]) else f"{number}: {values_of(arguments[0])}"
    if origin is dict or dataclasses.is_dataclass(hint):
        return "mapping"
    return {int: "integer", float: "number", str: "string", bool: "`true`, `false`"}[hint]


def _bounds(range_: Range) -> str:
    if range_.least is not None and range_.most is not None:
        return f"from {range_.least} to {range_.most}"
    bounds = {"≥": range_.least, ">": range_.above, "≤": range_.most, "<": range_.below}
    return " and ".join(f"{sign} {bound}" for sign, bound in bounds.items() if bound is not None)


def _default_text(default: Any) -> str:
    if default is dataclasses.MISSING:
        return "required"
    value = plain(default)
    if value in ({}, [], ""):
        return "none"
    if isinstance(value, dict):
        return "see below"
    return f"`{value}`" if isinstance(value, str) and value.strip() else f"`{json.dumps(value)}`"
