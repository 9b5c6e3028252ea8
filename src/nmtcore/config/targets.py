"""Result paths that a user asks for, checked before Snakemake looks for rules: a typing error gets a sentence."""

import re

from nmtcore.config.project import RESERVED, STAGES, Project
from nmtcore.config.tables import check_table
from nmtcore.config.typed import choose
from nmtcore.errors import UserError

SCORES = ("bleu", "uas", "gold.uas")
"""The endings of results/{dataset}/{system}.ENDING."""

PAPER = "paper"
"""The scale whose results carry no scale in their path."""


def scale_prefix(scale: str) -> str:
    """Give what a scale puts before the data set in paths: nothing for the paper's own."""
    return "" if scale == PAPER else f"{scale}/"


def scale_of(prefix: str) -> str:
    """Give the scale of a path's prefix, the inverse of `scale_prefix`."""
    return prefix.rstrip("/") or PAPER


def check_target(project: Project, target: str) -> None:
    """Raise a sentence when a path below the results folder names an unknown data set, system or split."""
    results = project.settings.paths.results.rstrip("/")
    if not target.startswith(results + "/"):
        return
    parts = target[len(results) + 1 :].split("/")
    scale = PAPER
    if parts[0] in project.scale_names:
        scale = parts.pop(0)
        if scale == PAPER:
            raise UserError(f"{target}: results at paper scale stand in {results}/ itself, without '{PAPER}/'.")
    if len(parts) > 1 and parts[0] == "tables":
        check_table(project.settings, parts[1:], target)
    if not parts or parts[0] in RESERVED:
        return
    _check_rest(project, parts, scale, target)


def _check_rest(project: Project, parts: list[str], scale: str, target: str) -> None:
    known = [*project.dataset_files, *(name for name in project.scale_names if scale == PAPER and name != PAPER)]
    choose(parts[0], known, what="data set or scale" if scale == PAPER else "data set", where=target)
    dataset = project.dataset(parts[0])
    if len(parts) == 2:
        _check_score(project, dataset.name, parts[1], scale, target)
    elif len(parts) > 2 and parts[1] in STAGES:
        if scale != PAPER:
            raise UserError(f"{target}: {parts[1]} does not depend on the scale: leave '{scale}/' out of the path.")
        split = re.match(r"[a-z0-9_]+", parts[-1])
        if parts[1] == "annotation":
            choose(parts[2], dataset.annotators, what="annotator", where=target)
        if split and parts[-1].endswith(".parquet"):
            choose(split.group(), dataset.splits, what="split", where=target)
    elif len(parts) > 2:
        choose(parts[1], project.system_entries, what="system", where=target)


def _check_score(project: Project, dataset: str, name: str, scale: str, target: str) -> None:
    system, dot, ending = name.partition(".")
    if not dot:
        return
    choose(system, project.system_entries, what="system", where=target)
    choose(ending, SCORES, what="kind of result", where=target)
    run = project.run(dataset, system, scale, project.settings.seeds[0])
    if ending != "bleu" and not run.parses:
        raise UserError(f"{target}: {system} predicts no trees, so it has no attachment score; ask for its .bleu.")
    if ending not in run.scores:
        raise UserError(
            f"{target}: {dataset} has no gold treebank (a split gold_NAME) to compare {system} with; ask for its .uas, "
            "which compares it with the trees of a parser."
        )
