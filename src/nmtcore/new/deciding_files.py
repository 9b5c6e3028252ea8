"""The settings of a run, each with the file that decided it, and what that replaced."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.features import feature_named
from nmtcore.config.files import Layer, Place
from nmtcore.config.project import REPOSITORY, Project
from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.config.systems import BY_NAME
from nmtcore.errors import shortened

DEFAULT = "default"
NOT_SHOWN = ("dataset", "system", "scale", "seed")
"""The names of a run."""


class DecidedSetting(NamedTuple):
    """A setting of a run."""

    key: str
    """Sections and key, with dots between them."""
    value: str
    """The value in JSON."""
    file: str
    """The file and line that decide it, and of a system's file the system; `DEFAULT` if none does."""
    replaced: tuple[tuple[str, str], ...]
    """The values of other files that it replaces, in JSON, each with its file; the one that it replaces first."""


def decided_settings(project: Project, run: RunSettings) -> list[DecidedSetting]:
    """List the settings of a run, in the order of its sections."""
    merged = project.merged(run.dataset, run.system, run.scale)
    values = {key: value for key, value in run_to_json(run).items() if key not in NOT_SHOWN}
    merged.add(Layer(project.dataset_files.where(run.dataset), {"tests": run.tests}))  # the splits that it has
    settings = []
    for place, value in _leaves(values):
        given = merged.given(_place_in_files(place))
        if place[0] in BY_NAME and place[-1] == "kind" and not given:  # the name, where the entry begins
            given = merged.given(place[:-1])
        file = given[-1].shown if given else DEFAULT
        if given or value is not None:
            others = tuple((_json(source.value), source.shown) for source in reversed(given[:-1]))
            settings.append(DecidedSetting(".".join(place), _json(value), file, others))
    return settings


def _place_in_files(place: Place) -> Place:
    """Return where files have a setting of a run."""
    section, *keys = place
    if section == "features":
        side, feature = keys
        annotator = feature.rpartition("/")[0]
        return ("annotators", annotator) if annotator else ("syntax", side, feature_named(feature).annotation)
    return ("external",) if section == "external" else place


def shown_settings(project: Project, run: RunSettings, folder: Path) -> list[list[str]]:
    """Return a row of text per setting: key, value, the file that decides it, and what it replaces.

    Files have the names that they have in `folder`, the working folder, or in the repository.
    """

    return [
        [
            setting.key,
            shortened(setting.value),
            _shown_file(setting.file, folder),
            ", ".join(f"{shortened(value)} ({_shown_file(file, folder)})" for value, file in setting.replaced),
        ]
        for setting in decided_settings(project, run)
    ]


def assumed_lines(project: Project, run: RunSettings, folder: Path) -> list[str]:
    """Say what a paper leaves open and is assumed here: the notes of the run's files, base, components and transforms.

    The note about a key that another file overrides is left out.
    """
    merged, lines = project.merged(run.dataset, run.system, run.scale), []
    for topic in merged.values.get("assumed", {}):
        note = merged.given(("assumed", topic))[-1]
        key = topic.removeprefix(f"per_base.{run.base}.")
        given = merged.given(tuple(key.split(".")))
        if not key.startswith("per_base.") and (not given or given[-1].where == note.where):
            lines.append(f"{key}: {' '.join(note.value.split()).rstrip('.')} ({_shown_file(note.shown, folder)})")
    for name, settings in {run.base: run.model, **run.components, **run.transforms}.items():
        lines += [f"{name}: {topic}: {why.rstrip('.')}" for topic, why in assumed_by(type(settings)).items()]
    return lines


def assumed_by(cls: type) -> dict[str, str]:
    """Return the notes `ASSUMED` of a class of settings and its bases."""
    return {topic: why for base in reversed(cls.__mro__) for topic, why in vars(base).get("ASSUMED", {}).items()}


def _shown_file(file: str, folder: Path) -> str:
    for base in (folder, REPOSITORY):
        file = file.removeprefix(f"{base}{os.sep}")
    return file


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _leaves(values: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value with its keys."""
    if isinstance(values, Mapping) and values:
        for key, value in values.items():
            yield from _leaves(value, (*place, key))
    elif values not in ({}, []):
        yield place, values
