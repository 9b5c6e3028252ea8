"""The JSON Schema of every kind of configuration file, as editors read it (`nmtcore schema`)."""

import dataclasses
import json
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nmtcore.config.annotator_models import AnnotatorModelSettings
from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import SIDES, CorpusSettings, FileSettings, PartSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.filters import FILTERS, FilterSettings
from nmtcore.config.formats import FORMATS
from nmtcore.config.project_settings import ProjectSettings
from nmtcore.config.ranges import hints_of
from nmtcore.config.recipes import RecipeSettings, ScaleSettings
from nmtcore.config.schema import Schema, Schemas, nullable
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.systems import SystemEntry
from nmtcore.layout import NAME

DRAFT = "http://json-schema.org/draft-07/schema#"

REGISTRIES = {AnnotatorSettings: ANNOTATORS, FilterSettings: FILTERS}


def write_schemas(folder: Path) -> list[Path]:
    """Write one schema per kind of configuration file into a folder; give their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in file_schemas().items():
        text = json.dumps(schema, indent=1, ensure_ascii=False)
        (folder / f"{name}.schema.json").write_text(text + "\n", encoding="utf-8")
    return [folder / f"{name}.schema.json" for name in FILES]


def file_schemas() -> dict[str, Schema]:
    """Give the schemas of config.yaml and of the files in each folder, by `config` or the name of the folder."""
    return {name: {"$schema": DRAFT, **make()} for name, make in FILES.items()}


def config_schema() -> Schema:
    """Give the schema of config.yaml, where a single value is a list of one."""

    def or_single(hint: Any) -> Callable[[Schemas, bool], Schema]:
        item, _ = typing.get_args(hint)
        return lambda schemas, part: {"anyOf": [schemas.of_hint(hint), schemas.of_hint(item)]}

    hints = hints_of(ProjectSettings)
    names = [field.name for field in dataclasses.fields(ProjectSettings)]
    lists = [name for name in names if typing.get_origin(hints[name]) is tuple]
    fields = {(ProjectSettings, name): or_single(hints[name]) for name in lists}
    return _whole(ProjectSettings, Schemas(fields=fields))


def dataset_schema() -> Schema:
    """Give the schema of a data set, in full or as the changes of the data set that it extends."""
    schemas = Schemas(registries=REGISTRIES, fields=CORPUS_FORMS | DATASET_FORMS, rules={CorpusSettings: _format_rules})
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
    """Give the schema of a corpus."""
    return _whole(CorpusSettings, Schemas(fields=CORPUS_FORMS, rules={CorpusSettings: _format_rules}))


def annotator_model_schema() -> Schema:
    """Give the schema of an annotator's model; its name is the file's."""
    return _whole(AnnotatorModelSettings, Schemas(), without=["name"])


def recipe_schema() -> Schema:
    """Give the schema of a recipe, whose keys have the defaults of their classes."""
    return _whole(RecipeSettings, Schemas(defaults_of_parts=True))


def scale_schema() -> Schema:
    """Give the schema of a scale."""
    return _whole(ScaleSettings, Schemas())


def systems_schema() -> Schema:
    """Give the schema of a file of systems."""
    schemas = Schemas()
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


FILES = {
    "config": config_schema,
    "datasets": dataset_schema,
    "corpora": corpus_schema,
    "models": annotator_model_schema,
    "recipes": recipe_schema,
    "scales": scale_schema,
    "systems": systems_schema,
}
"""How to make the schema of each kind of file: config.yaml, and the files of each folder."""


def _whole(cls: type, schemas: Schemas, **options: Any) -> Schema:
    return {**schemas.properties_of(cls, **options), "definitions": schemas.definitions}


def _by_name(schema: Schema) -> Schema:
    """Give the schema of entries by name; null drops the entry of the data set that is extended."""
    return {"type": "object", "propertyNames": {"pattern": f"^{NAME}$"}, "additionalProperties": nullable(schema)}


def _words(schemas: Schemas, part: bool) -> Schema:
    """A kind or settings, for both sides or by side."""
    forms = [schemas.of_hint(hints_of(WordsSettings)["kind"]), schemas.of_class(WordsSettings)]
    sides = {"type": "object", "properties": {side: {"anyOf": forms} for side in SIDES}}
    sides |= {"additionalProperties": False}
    sides |= {"minProperties": 1} if part else {"required": list(SIDES)}
    return {"anyOf": [*forms, sides]}


def _splits(schemas: Schemas, part: bool) -> Schema:
    """A corpus, its rows, or a list of these."""
    items = [{"type": "string"}, schemas.of_class(PartSettings)]
    single = [{"type": "string"}, schemas.of_class(PartSettings, part=part)]
    return _by_name({"anyOf": [*single, {"type": "array", "items": {"anyOf": items}}]})


def _filters(schemas: Schemas, part: bool) -> Schema:
    """The name of a filter, or its name and settings."""
    return {"type": "array", "items": {"anyOf": [{"enum": list(FILTERS)}, schemas.of_entry(FILTERS)]}}


def _syntax(schemas: Schemas, part: bool) -> Schema:
    schema = schemas.of_hint(hints_of(DatasetSettings)["syntax"])
    for side, annotators in schema["properties"].items():
        of_side = {name: nullable(inner) for name, inner in annotators["properties"].items()}
        schema["properties"][side] = nullable({**annotators, "properties": of_side})
    return schema


DATASET_FORMS = {
    (DatasetSettings, "corpora"): lambda schemas, part: _by_name(schemas.of_class(CorpusSettings, part=part)),
    (DatasetSettings, "annotators"): lambda schemas, part: _by_name(schemas.of_entry(ANNOTATORS, part=part)),
    (DatasetSettings, "splits"): _splits,
    (DatasetSettings, "words"): _words,
    (DatasetSettings, "filters"): _filters,
    (DatasetSettings, "syntax"): _syntax,
}
"""The short forms of a data set's file, as `short_forms` reads them."""


def _files(schemas: Schemas, part: bool) -> Schema:
    """Files by role: a path, the settings of a file, or a list of these."""
    file = {"anyOf": [{"type": "string"}, schemas.of_class(FileSettings)]}
    return {"type": "object", "additionalProperties": {"anyOf": [*file["anyOf"], {"type": "array", "items": file}]}}


def _format_rules(schemas: Schemas, part: bool) -> Schema:
    """Say what options and files a corpus of each format has."""
    rules = []
    for name, options in FORMATS.items():
        then: Schema = {"options": schemas.of_class(options, part=part)}
        if set(options.roles) <= set(SIDES):
            least = 0 if part else min(len(options.roles), 1 if options.one_side_suffices else 2)
            then["files"] = {"minProperties": least, "maxProperties": len(options.roles)}
        else:
            then["files"] = {"propertyNames": {"enum": list(options.roles)}, "minProperties": 0 if part else 1}
        required = [key for key in _required_for(options) if not part]
        rules.append(
            {
                "if": {"properties": {"format": {"const": name}}, "required": ["format"]},
                "then": {"properties": then, "required": required},
            }
        )
    return {"allOf": rules}


def _required_for(options: type) -> list[str]:
    needs_options = any(field.default is dataclasses.MISSING for field in dataclasses.fields(options))
    return [*(["files"] if options.roles else []), *(["options"] if needs_options else [])]


CORPUS_FORMS = {
    (CorpusSettings, "format"): lambda schemas, part: {"enum": list(FORMATS)},
    (CorpusSettings, "files"): _files,
}
"""The short forms of a corpus."""
