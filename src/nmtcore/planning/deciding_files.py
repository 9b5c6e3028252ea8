"""The settings of a run, each with the file that decided it."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.features import FEATURES
from nmtcore.config.files import Level
from nmtcore.config.own_folder import REPOSITORY
from nmtcore.config.project import DECIDED_BY_SCALE, Project, layer_of, merge_layers
from nmtcore.config.runs import RunSettings, run_to_json
from nmtcore.config.systems import BY_NAME, merged_levels
from nmtcore.config.typed import merge
from nmtcore.config.yaml_files import read_yaml

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


def decided_settings(project: Project, run: RunSettings) -> list[DecidedSetting]:
    """List the settings of a run, in the order of its sections."""
    files = deciding_files(project, run)
    values = {key: value for key, value in run_to_json(run).items() if key not in NOT_SHOWN}
    settings = [(place, value, _file_of(files, place)) for place, value in _leaves(values)]
    return [
        DecidedSetting(".".join(place), json.dumps(value, ensure_ascii=False), file)
        for place, value, file in settings
        if value is not None or file != DEFAULT
    ]


def deciding_files(project: Project, run: RunSettings) -> dict[str, Any]:
    """Return the files that decide settings of a run, nested like its sections, in place of the values.

    Files are merged as `nmtcore.config.project.assemble` merges their values. Where a file has one value for several
    keys (`words: moses`), its name stands for all of them.
    """
    dataset = project.dataset(run.dataset)
    levels, datasets = project.system_levels(run.system, run.dataset)
    system = merged_levels(_named_levels(levels), datasets)
    data = merge(*(_named(level.keys, str(level.path)) for level in project.dataset_levels(run.dataset)))
    recipe, scale = (
        _named(read_yaml(path), str(path))
        for path in (project.recipe_files[dataset.recipe], project.scale_files[run.scale])
    )
    below = [layer_of(recipe, run.base), layer_of(data, run.base)]
    layers = {
        "scale": layer_of(scale, run.base, is_fine_tuned=run.start_from is not None),
        "system": {section: system.get(section, {}) for section in DECIDED_BY_SCALE},
    }
    files = data | system | {section: merge_layers(section, *below, **layers) for section in DECIDED_BY_SCALE}
    size = project.system(run.system).segmentation.get("size", dataset.segmentation.size)
    cut = {"size": scale["segmentation_size"]} if size != run.segmentation.size else {}
    files["segmentation"] = merge(data["segmentation"], system.get("segmentation", {}), cut)
    files["features"] = {
        side: {name: data["syntax"][side][FEATURES[name].annotation] for name in features}
        for side, features in run.features.items()
    }
    files |= {"sentences": scale.get("sentences", {}), "tests": str(project.dataset_files[run.dataset])}
    if run.external is not None:
        files["external"] = levels[-1].where
    for place in OF_MACHINE:
        files = merge(files, _nested(place, MACHINE))
    return files


def shown_file(file: str, folder: Path) -> str:
    """Shorten the path of a file: below the working folder, or as it is called in the repository."""
    for base in (folder, REPOSITORY):
        file = file.removeprefix(f"{base}{os.sep}")
    return file


def _nested(place: tuple[str, ...], value: str) -> Any:
    return {place[0]: _nested(place[1:], value)} if place else value


def _named(values: Mapping[str, Any], file: str) -> dict[str, Any]:
    """Replace all values by the name of their file."""
    return {key: _named(value, file) if isinstance(value, Mapping) else file for key, value in values.items()}


def _named_levels(levels: Sequence[Level]) -> Iterator[Level]:
    """Do so for a system and its ancestors. The level that first names a component or transform decides its kind."""
    known: set[tuple[str, str]] = set()
    for level in levels:
        keys = _named(level.keys, level.where)
        for section in BY_NAME:
            for name, entry in level.keys.get(section, {}).items():
                if entry is None:  # it drops the entry
                    keys[section][name] = None
                elif (section, name) not in known:
                    keys[section][name].setdefault("kind", level.where)
                known.add((section, name))
        yield replace(level, keys=keys)


def _leaves(values: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value with its keys."""
    if isinstance(values, Mapping) and values:
        for key, value in values.items():
            yield from _leaves(value, (*place, key))
    elif values not in ({}, []):
        yield place, values


def _file_of(files: Any, place: tuple[str, ...]) -> str:
    for key in place:
        if not isinstance(files, Mapping):
            break
        files = files.get(key)
    return files if isinstance(files, str) else DEFAULT
