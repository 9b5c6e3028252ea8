"""JSON Schemas of all kinds of configuration files (`nmtcore schema`)."""

import dataclasses
import json
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nmtcore.config.annotator_models import AnnotatorModelSettings
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import CorpusSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.paper_tables import PaperTablesSettings
from nmtcore.config.project_settings import ProjectSettings
from nmtcore.config.published import PaperSettings
from nmtcore.config.ranges import hints_of
from nmtcore.config.recipes import RecipeSettings, ScaleSettings
from nmtcore.config.schema import Schema, Schemas, nullable
from nmtcore.config.schema_forms import CORPUS_FORMS, CORPUS_RULES, DATASET_FORMS, REGISTRIES, SYSTEM_FORMS
from nmtcore.config.speeds import SpeedsSettings
from nmtcore.config.stand_ins import StandInSettings
from nmtcore.config.systems import SystemEntry
from nmtcore.files import write_texts
from nmtcore.layout import NAME

DRAFT = "http://json-schema.org/draft-07/schema#"


def write_schemas(folder: Path) -> list[Path]:
    """Write one schema per kind of configuration file into a folder, all or none; give their paths."""
    texts = schema_texts(folder)
    write_texts(texts)
    return list(texts)


def schema_texts(folder: Path) -> dict[Path, str]:
    """Return the texts of all schemas by their paths in a folder."""
    return {
        folder / f"{name}.schema.json": json.dumps(schema, indent=1, ensure_ascii=False) + "\n"
        for name, schema in file_schemas().items()
    }


def file_schemas() -> dict[str, Schema]:
    """Return the schemas of config.yaml, of speeds.yaml, and of the files in each folder, by their names."""
    return {name: {"$schema": DRAFT, **make()} for name, make in FILES.items()}


def whole_file(cls: type, schemas: Schemas, **options: Any) -> Schema:
    """Return the schema of a file that holds the settings of a class, with all definitions."""
    return {**schemas.properties_of(cls, **options), "definitions": schemas.definitions}


def config_schema() -> Schema:
    """Return the schema of config.yaml, where a single value is a list of one."""

    def or_single(hint: Any) -> Callable[[Schemas, bool], Schema]:
        item, _ = typing.get_args(hint)
        return lambda schemas, part: {"anyOf": [schemas.of_hint(hint), schemas.of_hint(item)]}

    hints = hints_of(ProjectSettings)
    names = [field.name for field in dataclasses.fields(ProjectSettings)]
    lists = [name for name in names if typing.get_origin(hints[name]) is tuple]
    fields = {(ProjectSettings, name): or_single(hints[name]) for name in lists}
    return whole_file(ProjectSettings, Schemas(fields=fields))


def dataset_schema() -> Schema:
    """Return the schema of a data set, in full or as the changes of the data set that it extends."""
    schemas = Schemas(registries=REGISTRIES, fields=CORPUS_FORMS | DATASET_FORMS, rules=CORPUS_RULES)
    extends = {"extends": {"description": "Another data set, whose settings hold unless given here.", "type": "string"}}
    full = schemas.properties_of(DatasetSettings, without=["name"])
    changes = schemas.properties_of(DatasetSettings, part=True, extra=extends, without=["name"])
    for schema in (full, changes):
        for key, inner in schema["properties"].items():
            if key not in ("extends", *schema.get("required", ())):
                schema["properties"][key] = nullable(inner)
    return {
        "description": full["description"],
        "type": "object",
        "if": {"required": ["extends"]},
        "then": changes,
        "else": full,
        "definitions": schemas.definitions,
    }


def corpus_schema() -> Schema:
    """Return the schema of a corpus."""
    return whole_file(CorpusSettings, Schemas(fields=CORPUS_FORMS, rules=CORPUS_RULES))


def annotator_model_schema() -> Schema:
    """Return the schema of an annotator's model; its name is the file's."""
    return whole_file(AnnotatorModelSettings, Schemas(), without=["name"])


def recipe_schema() -> Schema:
    """Return the schema of a recipe, whose keys have the defaults of their classes."""
    return whole_file(RecipeSettings, Schemas(defaults_of_parts=True))


def scale_schema() -> Schema:
    """Return the schema of a scale."""
    return whole_file(ScaleSettings, Schemas())


def systems_schema() -> Schema:
    """Return the schema of a file of systems."""
    schemas = Schemas(fields=SYSTEM_FORMS)
    extends = {"extends": {"description": "Another system, whose settings hold unless given here.", "type": "string"}}
    entry = schemas.properties_of(SystemEntry, part=True, extra=extends)
    kind_needed = {"properties": dict.fromkeys(COMPONENTS, True), "additionalProperties": {"required": ["kind"]}}
    entry |= {"if": {"not": {"required": ["extends"]}}, "then": {"properties": {"components": kind_needed}}}
    return {
        "description": "Systems by name.",
        "type": "object",
        "propertyNames": {"pattern": f"^{NAME}$"},
        "additionalProperties": entry,
        "definitions": schemas.definitions,
    }


def published_schema() -> Schema:
    """Return the schema of the numbers that a paper publishes."""
    return whole_file(PaperSettings, Schemas())


def stand_ins_schema() -> Schema:
    """Return the schema of a choice of stand-ins."""
    return whole_file(StandInSettings, Schemas())


def speeds_schema() -> Schema:
    """Return the schema of speeds.yaml: the whole file, or changes of it."""
    return whole_file(SpeedsSettings, Schemas(), part=True)


def tables_schema() -> Schema:
    """Return the schema of the tables of a paper."""
    return whole_file(PaperTablesSettings, Schemas())


FILES = {
    "config": config_schema,
    "datasets": dataset_schema,
    "corpora": corpus_schema,
    "models": annotator_model_schema,
    "published": published_schema,
    "recipes": recipe_schema,
    "scales": scale_schema,
    "speeds": speeds_schema,
    "stand_ins": stand_ins_schema,
    "systems": systems_schema,
    "tables": tables_schema,
}
"""Functions for the schemas of config.yaml, speeds.yaml, and the files in each folder."""
