"""The settings of a run, each with the file that decided it, and what that replaced."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.features import FEATURES
from nmtcore.config.layers import Layer, history
from nmtcore.config.own_folder import REPOSITORY
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.config.systems import BY_NAME
from nmtcore.errors import shortened

DEFAULT, MACHINE = "default", "machine, in config.yaml"
NOT_SHOWN = ("dataset", "system", "scale", "seed")
"""The names of a run."""
OF_MACHINE = (
    ("training", "batch", "device_size"), ("training", "loss_chunk"), ("training", "compile"),
    ("training", "log_every"), ("decoding", "batch_sentences"),
)  # fmt: skip
"""What config.yaml decides, in any case."""


class DecidedSetting(NamedTuple):
    """A setting of a run."""

    key: str
    """Sections and key, with dots between them."""
    value: str
    """The value in JSON."""
    file: str
    """The file that decides it, and of a system's file the system; `DEFAULT` if none does."""
    replaced: tuple[tuple[str, str], ...]
    """The values of other files that it replaces, in JSON, each with its file; the one that it replaces first."""


def decided_settings(project: Project, run: RunSettings) -> list[DecidedSetting]:
    """List the settings of a run, in the order of its sections."""
    layers = project.layers(run.dataset, run.system, run.scale)
    values = {key: value for key, value in run_to_json(run).items() if key not in NOT_SHOWN}
    settings = []
    for place, value in _leaves(values):
        given = _given(project, run, layers, place)
        if given[-1:] and place == ("segmentation", "size") and given[-1][0] != value:
            given.append((value, str(project.scale_files[run.scale])))
        if given or value is not None:
            file = given[-1][1] if given else DEFAULT
            replaced = tuple((_json(other), file) for other, file in reversed(given[:-1]))
            settings.append(DecidedSetting(".".join(place), _json(value), file, replaced))
    return settings


def _given(
    project: Project, run: RunSettings, layers: Sequence[Layer], place: tuple[str, ...]
) -> list[tuple[Any, str]]:
    """Return what the layers say of a setting, each value with its file; the last one decides."""
    if place in OF_MACHINE:
        return [(None, MACHINE)]
    if place == ("tests",):
        return [(None, str(project.dataset_files[run.dataset]))]
    if place[0] == "external":
        return history(layers, ("external",))
    if place[0] == "features":
        _, side, feature = place
        return history(layers, ("syntax", side, FEATURES[feature].annotation))
    given = history(layers, place)
    if place[0] in BY_NAME and place[-1] == "kind" and not given:  # the entry's name is its kind, where that begins
        entries = history(layers, place[:-1])
        dropped = [i for i, (entry, _) in enumerate(entries) if entry is None]
        return [entries[dropped[-1] + 1 if dropped else 0]]
    return given


def shown_settings(project: Project, run: RunSettings, folder: Path) -> list[list[str]]:
    """Return a row of text per setting: key, value, the file that decides it, and what it replaces.

    Files have the names that they have in `folder`, the working folder, or in the repository.
    """

    def file_name(file: str) -> str:
        for base in (folder, REPOSITORY):
            file = file.removeprefix(f"{base}{os.sep}")
        return file

    return [
        [
            setting.key,
            shortened(setting.value),
            file_name(setting.file),
            ", ".join(f"{shortened(value)} ({file_name(file)})" for value, file in setting.replaced),
        ]
        for setting in decided_settings(project, run)
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _leaves(values: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value with its keys."""
    if isinstance(values, Mapping) and values:
        for key, value in values.items():
            yield from _leaves(value, (*place, key))
    elif values not in ({}, []):
        yield place, values
