"""A changed default is always noticed, although it runs no job again."""

import dataclasses
from collections.abc import Mapping
from dataclasses import MISSING
from pathlib import Path
from typing import Any

from settings_classes import settings_classes

from nmtcore.config.features import ComponentSettings
from nmtcore.config.files import read_yaml
from nmtcore.config.typed import default_of, plain

TABLE = read_yaml(Path(__file__).with_name("defaults.yaml"))

NOT_RECORDED = {
    "AnnotatorModelSettings", "AnnotatorSettings", "BelowScaleSettings", "Changes", "ChangesByBase",
    "ChangesForRecurrent", "ChangesForTransformer", "CommandMetricSettings", "ComponentSettings",
    "DatasetSettings", "DeviceSpeeds", "EncoderHeadSettings", "ExternalSettings", "Feature", "FilterSettings",
    "FormatOptions", "JavaSettings", "Layout", "MachineSettings", "PairLabelsSettings",
    "ParserHeadSettings", "PathsSettings",
    "PerDatasetSettings", "ProjectSettings",
    "PublishedSettings", "Range", "RecipeSettings", "ScaleSettings", "SpeedsSettings",
    "StandInSettings", "SystemSettings", "TreeLabelsSettings",
}  # fmt: skip
"""Classes that no job records: sources of the jobs' settings, and base classes."""

ADVICE = (
    "No job runs again for a changed default. Raise the version of every stage that it affects in config/stages.py "
    "(for training also VERSION in training/checkpoints.py), then write the new default to tests/config/defaults.yaml."
)


def changed_defaults(table: Mapping[str, Mapping[str, Any]], classes: Mapping[str, type]) -> list[str]:
    """Describe every default in the table that has changed."""
    changes = []
    for name, before in table.items():
        if name not in classes:
            changes.append(f"{name} is gone: rename or remove it in tests/config/defaults.yaml.")
            continue
        now = {field.name: default_of(field) for field in dataclasses.fields(classes[name])}
        changed = [key for key in before if key in now and not agree(before[key], now[key])]
        changes += [f"{name}.{key}: {before[key]!r} -> {shown(now[key])}. {ADVICE}" for key in changed]
    return changes


def new_defaults(table: Mapping[str, Mapping[str, Any]], classes: Mapping[str, type]) -> list[str]:
    """Describe every default that the table lacks; a component without an entry is new, and no run has had it."""
    return [
        f"{name}.{field.name} is new: add its default to tests/config/defaults.yaml. If the default changes results, "
        "also raise the versions of its stages in config/stages.py."
        for name, cls in classes.items()
        if name not in NOT_RECORDED and (name in table or not issubclass(cls, ComponentSettings))
        for field in dataclasses.fields(cls)
        if default_of(field) is not MISSING and field.name not in table.get(name, {})
    ]


def agree(before: Any, now: Any) -> bool:
    """Whether a default is unchanged, ignoring new keys of nested settings."""
    if now is MISSING:
        return False
    now = plain(now)
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return all(agree(value, now.get(key, MISSING)) for key, value in before.items())
    return before == now


def shown(default: Any) -> str:
    return "none" if default is MISSING else repr(plain(default))


def test_no_default_differs_from_the_table():
    changed = changed_defaults(TABLE, settings_classes())
    assert not changed, "\n".join(changed)


def test_every_default_is_in_the_table():
    missing = new_defaults(TABLE, settings_classes())
    assert not missing, "\n".join(missing)
    assert all(isinstance(key, str) for defaults in TABLE.values() for key in defaults)
