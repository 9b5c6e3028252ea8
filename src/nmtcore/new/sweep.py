"""A sweep: a file of systems, one for each combination of settings, and a table that chooses among them on dev."""

import re
from collections.abc import Sequence
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any

from nmtcore.config.files import merge, parse_yaml
from nmtcore.config.project import Project
from nmtcore.errors import UserError
from nmtcore.new.component import check_own_name


def new_sweep_files(system: str, settings: Sequence[str], project: Project, *, name: str) -> dict[Path, str]:
    """Return the texts of the two files of a sweep by their paths below the working folder.

    `settings` are texts such as "training.schedule.peak=1e-3,2e-3". Raises `UserError` if one is not valid for a run on
    the first data set, at the scale of config.yaml, or if a name is taken.
    """
    import yaml

    check_own_name(name, noun="sweep")
    paths = [Path("config") / folder / f"{name}.yaml" for folder in ("systems", "tables")]
    if taken := [*filter(Path.exists, paths)]:
        raise UserError(f"{taken[0]} exists already: choose another name (--name), or remove the file.")
    project.systems.check(system, where="SYSTEM")
    swept = dict(map(_swept, settings))
    if len(swept) < len(settings) or not project.settings.datasets:
        raise UserError("Write each key once, with all its values, and a --dataset if config.yaml has no `datasets`.")
    dataset, entries = project.dataset(project.settings.datasets[0]), {}
    ends = [key.rpartition(".")[2] for key in swept]
    short = [key if ends.count(end) > 1 else end for key, end in zip(swept, ends, strict=True)]
    for values in product(*(values.items() for values in swept.values())):
        varied = [f"{key} {text}" for key, (text, _) in zip(short, values, strict=True)]
        trial = re.sub("[^a-z0-9]+", "_", " ".join([name, *varied]).lower().replace(" -", " minus ")).rstrip("_")
        if trial in project.system_entries:
            raise UserError(f"There is a system {trial} already: choose another --name, or write a value only once.")
        described = {"extends": system, "description": f"{system} with {', '.join(varied)}"}
        entries[trial] = merge(described, *(nested for _, nested in values))
        project.systems.add(trial, paths[0], entries[trial])
        project.system_entries[trial] = (paths[0], entries[trial])
        project.run(dataset.name, trial, project.settings.scale, project.settings.seeds[0])
    grid = {"kind": "sweep", "place": "Sweep", "description": f"{system} with other {', '.join(swept)}"}
    grid |= {"columns": [f"{dataset.name}/{dataset.main_test}/bleu"], "rows": list(entries)}
    made_by = f"# nmtcore new sweep {system} {' '.join(settings)}\n"
    contents = entries, {"title": f"Sweep of {system}", "tables": {"grid": grid}}
    written = (yaml.safe_dump(values, sort_keys=False, default_flow_style=None) for values in contents)
    return {path: made_by + text for path, text in zip(paths, written, strict=True)}


def _swept(text: str) -> tuple[str, dict[str, dict[str, Any]]]:
    """Split KEY=VALUE,VALUE into the key and, by each value as text, what it sets. Values are YAML, or as 1e-3."""
    key, _, values = text.partition("=")
    if not values or not re.fullmatch(r"\w+(\.\w+)+", key):
        raise UserError(f"{text}: write KEY=VALUE,VALUE, such as training.schedule.peak=1e-3,2e-3.")
    parts, nested = key.split(".")[::-1], {}
    for value in parse_yaml(f"values: [{values}]", where=text)["values"]:
        is_number = isinstance(value, str) and re.fullmatch(r"[\d.]+[eE]-?\d+", value)
        nested[str(value)] = reduce(lambda inner, part: {part: inner}, parts, float(value) if is_number else value)
    return key, nested
