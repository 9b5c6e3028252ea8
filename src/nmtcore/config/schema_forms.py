"""JSON Schemas of the short forms that data sets, corpora and systems may have in files."""

import dataclasses

from nmtcore.config.annotators import ANNOTATORS, AnnotatorSettings
from nmtcore.config.corpora import SIDES, CorpusSettings, FileSettings, PartSettings
from nmtcore.config.datasets import REQUIRED_SPLITS, DatasetSettings
from nmtcore.config.external import ExternalSettings
from nmtcore.config.filters import FILTERS, FilterSettings
from nmtcore.config.formats import FORMATS, FormatOptions
from nmtcore.config.ranges import hints_of
from nmtcore.config.schema import Schema, Schemas, nullable
from nmtcore.config.segmentation import WordsSettings
from nmtcore.config.systems import SystemEntry
from nmtcore.layout import NAME

REGISTRIES = {AnnotatorSettings: ANNOTATORS, FilterSettings: FILTERS}
"""The registries of settings within settings, by the base of their classes."""


def corpora_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of corpora by name."""
    return _by_name(schemas.of_class(CorpusSettings, part=part))


def annotators_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of annotators by name."""
    return _by_name(schemas.of_entry(ANNOTATORS, part=part))


def splits_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of splits by name: each is a corpus, rows of a corpus, or a list of these."""
    items = [{"type": "string"}, schemas.of_class(PartSettings)]
    single = [{"type": "string"}, schemas.of_class(PartSettings, part=part)]
    splits = _by_name({"anyOf": [*single, {"type": "array", "items": {"anyOf": items}}]})
    return splits | ({} if part else {"required": list(REQUIRED_SPLITS)})


def words_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of `words`: a kind or settings, for both sides or by side."""
    forms = [schemas.of_hint(hints_of(WordsSettings)["kind"]), schemas.of_class(WordsSettings)]
    sides = {side: {"anyOf": forms} for side in SIDES}
    by_side: Schema = {"type": "object", "properties": sides, "additionalProperties": False}
    by_side |= {"minProperties": 1} if part else {"required": list(SIDES)}
    return {"anyOf": [*forms, by_side]}


def filters_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of filters: a list of names, or of entries with names."""
    return {"type": "array", "items": {"anyOf": [{"enum": list(FILTERS)}, schemas.of_entry(FILTERS)]}}


def annotator_names_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of `syntax`, where null drops a side or an annotation."""
    schema = schemas.of_hint(hints_of(DatasetSettings)["syntax"])
    for side, names in schema["properties"].items():
        droppable = {annotation: nullable(name) for annotation, name in names["properties"].items()}
        schema["properties"][side] = nullable({**names, "properties": droppable})
    return schema


def _by_name(schema: Schema) -> Schema:
    """Return the schema of entries by name; null drops the entry of the data set that is extended."""
    return {"type": "object", "propertyNames": {"pattern": f"^{NAME}$"}, "additionalProperties": nullable(schema)}


def format_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of the name of a format."""
    return {"enum": list(FORMATS)}


def files_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of files by role: each is a path, the settings of a file, or a list of these."""
    forms = [{"type": "string"}, schemas.of_class(FileSettings)]
    return {"type": "object", "additionalProperties": {"anyOf": [*forms, {"type": "array", "items": {"anyOf": forms}}]}}


def format_rules(schemas: Schemas, part: bool) -> Schema:
    """Return the keywords that say which options and files a corpus of each format has."""
    return {
        "allOf": [
            {
                "if": {"properties": {"format": {"const": name}}, "required": ["format"]},
                "then": _keys_of_format(schemas, options, part=part),
            }
            for name, options in FORMATS.items()
        ]
    }


def _keys_of_format(schemas: Schemas, options: type[FormatOptions], *, part: bool) -> Schema:
    roles = options.roles
    files: Schema = {"maxProperties": len(roles)}
    if roles and not part:
        files["minProperties"] = 1 if options.one_side_suffices else len(roles)
    if not set(roles) <= set(SIDES):  # the roles of sides may also be called by their language codes
        files["propertyNames"] = {"enum": list(roles)}
    keys: Schema = {"properties": {"files": files, "options": schemas.of_class(options, part=part)}}
    if part:
        return keys
    needs_options = any(field.default is dataclasses.MISSING for field in dataclasses.fields(options))
    return keys | {"required": ["files"] * bool(roles) + ["options"] * needs_options}


def external_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of external translations, whose provenance is required."""
    return nullable(schemas.of_class(ExternalSettings))


def translations_form(schemas: Schemas, part: bool) -> Schema:
    """Return the schema of files of translations by data set and split: each is a path, or a list with one per seed."""
    files = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
    return {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": files}}


SYSTEM_FORMS = {(SystemEntry, "external"): external_form, (ExternalSettings, "translations"): translations_form}
"""The schemas of fields of a system."""

CORPUS_FORMS = {(CorpusSettings, "format"): format_form, (CorpusSettings, "files"): files_form}
"""The schemas of fields of a corpus."""

CORPUS_RULES = {CorpusSettings: format_rules}
"""The keywords of a corpus that depend on its format."""

DATASET_FORMS = {
    (DatasetSettings, "annotators"): annotators_form,
    (DatasetSettings, "corpora"): corpora_form,
    (DatasetSettings, "filters"): filters_form,
    (DatasetSettings, "splits"): splits_form,
    (DatasetSettings, "syntax"): annotator_names_form,
    (DatasetSettings, "words"): words_form,
}
"""The schemas of fields of a data set."""
