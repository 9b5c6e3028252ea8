"""What to say about a target of the command line that no rule makes: the nearest one that can be made."""

import os
import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path

from nmtcore.config.project import Project
from nmtcore.errors import joined_by_or
from nmtcore.layout import CONFIGURED_TABLES, FILES, PAPER, SCORES


def unknown_target(project: Project, target: str, *, rules: list[str], makes: Callable[[str], bool]) -> str:
    """Say that no rule makes `target`, and name what it may mean.

    Args:
        project: the configuration.
        target: a name or path on the command line.
        rules: the rules that can be targets.
        makes: whether some rule makes a path.
    """
    path, results = project.layout.parse(target), project.layout.results
    if "*" in target:
        return f"""{target}: a target is one file. For many, ask for a rule: snakemake all --config 'systems=["*"]'."""
    if path and path.names.get("system") in project.systems.external:
        return f"{target}: {path['system']} is external, so it has no model, only translations and scores."
    if folder := next(filter(makes, map(str, Path(target).parents)), None):
        return f"{target} is no target by itself: ask for {folder}, which has all such files."
    meant = get_close_matches(target, rules) if "/" not in target else []
    if meant := meant or [*filter(makes, _corrected(project, target))][:1]:
        scale = next((part for part in target.split("/") if part in project.scale_names), None)
        at = f", with --config scale={scale}" if scale and re.search("/(tables|figures)/", meant[0]) else ""
        return f"{target}: no rule makes this. Did you mean {joined_by_or(meant)}{at}?"
    return (
        f"{target}: no rule makes this. Ask for one of {', '.join(sorted(rules))}, or for a file, such as "
        f"{results}/demo_en2de/transformer_base.bleu."
    )


def respelled(project: Project, path: str) -> str:
    """Return a path as rules have it: with the folder of results as it is configured."""
    below = project.layout.below_results(path)
    return os.path.normpath("/".join([project.layout.results, *below])) if below else path


def _corrected(project: Project, target: str) -> Iterator[str]:
    """Yield paths like `target`: in the results folder, with the nearest names, with the scale first or left out."""
    spelled = respelled(project, target)
    names = _names(project)
    yield spelled
    for path in ("".join(_nearest(part, names) for part in re.split(r"([/.])", spelled)), spelled):
        parts = project.layout.below_results(path) or path.split("/")
        for below in (parts, parts[1:]):
            rest = [part for part in below if part not in project.scale_names]
            scale = [part for part in below if part in project.scale_names and part != PAPER]
            for corrected in ([*scale, *rest], rest):
                yield os.path.normpath("/".join([project.layout.results, *corrected]))


def _names(project: Project) -> set[str]:
    """Return the names of data sets, systems, scales, splits and annotators, and the fixed ones in paths."""
    fixed = re.findall(r"\w+", re.sub(r"\{\w+\}", " ", " ".join((*FILES.values(), *SCORES, *CONFIGURED_TABLES))))
    datasets = [project.dataset(name) for name in project.settings.datasets]
    inner = {name for dataset in datasets for name in (*dataset.splits, *dataset.annotators)}
    return {*fixed, *inner, *project.system_entries, *project.dataset_files, *project.scale_names, "dev", "test"}


def _nearest(name: str, names: set[str]) -> str:
    return name if name in names or re.fullmatch(r"seed\d+", name) else next(iter(get_close_matches(name, names)), name)
