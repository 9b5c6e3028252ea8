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
    for folder in map(str, Path(target).parents):
        if makes(folder):
            seed = re.search(r"/seed(\d+)/", f"/{target}")
            seeds = ", ".join(map(str, project.settings.seeds))
            others = seed and int(seed[1]) not in project.settings.seeds
            more = f" Tables and summaries have the `seeds` of config.yaml ({seeds})." if others else ""
            return f"{target} is no target by itself: ask for {folder}, which has all such files.{more}"
    meant = get_close_matches(target, rules) if "/" not in target else []
    meant = meant or [next(filter(makes, _corrected(project, target)), "")]
    if meant[0]:
        scale = next((part for part in target.split("/") if part in project.scale_names), None)
        at = f", with --config scale={scale}" if scale and re.search("/(tables|figures)/", meant[0]) else ""
        before = target.partition(f"/{scale}/")[0].rpartition("/")[2]
        why = "the scale comes first" if before in project.dataset_files else "no rule makes this"
        return f"{target}: {why}. Did you mean {joined_by_or(meant)}{at}?"
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
    results, spelled = project.layout.results, respelled(project, target)
    yield spelled
    names = _names(project)
    for corrected in ("".join(_nearest(name, names) for name in re.split(r"([/.])", spelled)), spelled):
        parts = corrected.split("/")
        for inner in (project.layout.below_results(corrected), parts, parts[1:]):
            rest = [part for part in inner if part not in project.scale_names]
            scales = [part for part in inner if part in project.scale_names and part != PAPER]
            for below in (inner, [*scales, *rest], rest):
                yield os.path.normpath("/".join([results, *below]))


def _names(project: Project) -> set[str]:
    """Return the names of data sets, systems, scales, splits and annotators, and the fixed ones in paths."""
    patterns = [re.sub(r"\{\w+\}", "/", template) for template in FILES.values()]
    fixed = {name for pattern in (*patterns, *SCORES, *CONFIGURED_TABLES) for name in re.findall(r"\w+", pattern)}
    datasets = [project.dataset(name) for name in project.settings.datasets]
    inner = {name for dataset in datasets for name in (*dataset.splits, *dataset.annotators)}
    return fixed | inner | set(project.system_entries) | {*project.dataset_files, *project.scale_names, "dev", "test"}


def _nearest(name: str, names: set[str]) -> str:
    return name if name in names or re.fullmatch(r"seed\d+", name) else next(iter(get_close_matches(name, names)), name)
