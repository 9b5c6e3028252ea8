"""Result paths that a user asks for, checked before Snakemake looks for rules: a typing error gets a sentence."""

from dataclasses import dataclass

from nmtcore.config.project import Project
from nmtcore.config.typed import choose
from nmtcore.errors import UserError
from nmtcore.layout import PAPER, RESERVED, SCORES, SELECTION, STAGES
from nmtcore.planning.result_tables import check_table


@dataclass(frozen=True, kw_only=True)
class Target:
    """A path below the results folder: its scale, and the parts that follow."""

    scale: str
    parts: list[str]


def parse_target(project: Project, target: str) -> Target | None:
    """Take a path of a data set's results apart; None for any other path."""
    parts = project.layout.below_results(target)
    scale = PAPER
    if parts and parts[0] in project.scale_names:
        scale = parts.pop(0)
        if scale == PAPER:
            raise UserError(
                f"{target}: results at paper scale stand in {project.layout.results}/ itself, without '{PAPER}/'."
            )
    return None if not parts or parts[0] in RESERVED else Target(scale=scale, parts=parts)


def check_target(project: Project, target: str) -> None:
    """Raise a `UserError` at a pattern, or when a path of results names an unknown data set, system, split or table."""
    if "*" in target:
        raise UserError(
            f"{target}: a target names one file, so it has no `*`: {_instead(parse_target(project, target))}"
        )
    first, *rest = project.layout.below_results(target) or [""]
    if first == "tables" and rest:
        check_table(project, rest, target)
    parsed = parse_target(project, target)
    if parsed:
        _check_rest(project, parsed.parts, parsed.scale, target)


def _instead(pattern: Target | None) -> str:
    """Say how to ask for the many files that a target with a `*` means."""
    if pattern is None or len(pattern.parts) < 2 or pattern.parts[1] in STAGES:
        return """ask for the rule all, with --config 'systems=["*"]', or for data with --config 'datasets=["*"]'."""
    dataset, system, *rest = pattern.parts
    chosen = f"""scale={pattern.scale} 'datasets=["{dataset}"]' 'systems=["{system.partition(".")[0]}"]'"""
    return f"ask for snakemake {'train' if rest else 'all'} --config {chosen}."


def _check_rest(project: Project, parts: list[str], scale: str, target: str) -> None:
    if parts[0] in project.dataset_files.unread:
        project.dataset_files.check(parts[0], where=target)
    others = ["tables", *(name for name in project.scale_names if name != PAPER)] if scale == PAPER else []
    choose(
        parts[0],
        [*project.dataset_files, *others],
        what="data set or scale" if scale == PAPER else "data set",
        where=target,
    )
    dataset = project.dataset(parts[0])
    if len(parts) == 2:
        _check_score(project, dataset.name, parts[1], scale, target)
    elif len(parts) > 2 and parts[1] in STAGES:
        if scale != PAPER:
            raise UserError(f"{target}: {parts[1]} does not depend on the scale: leave '{scale}/' out of the path.")
        if parts[1] == "annotation" and parts[2] != SELECTION:
            choose(parts[2], dataset.annotators, what="annotator", where=target)
        place = project.layout.parse(target)
        if place and "split" in place.names:
            choose(place["split"], dataset.splits, what="split", where=target)
    elif len(parts) > 2:
        project.systems.check(parts[1], where=target)


def _check_score(project: Project, dataset: str, name: str, scale: str, target: str) -> None:
    system, dot, ending = name.partition(".")
    if not dot:
        return
    project.systems.check(system, where=target)
    choose(ending, SCORES, what="kind of result", where=target)
    run = project.run(dataset, system, scale, project.settings.seeds[0])
    if ending != "bleu" and not run.parses:
        raise UserError(f"{target}: {system} predicts no trees, so it has no attachment score; ask for its .bleu.")
    if ending not in run.scores:
        raise UserError(
            f"{target}: {dataset} has no gold treebank (a split gold_NAME) to compare {system} with; ask for its .uas, "
            "which compares it with the trees of a parser."
        )
