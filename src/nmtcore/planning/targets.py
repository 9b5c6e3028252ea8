"""Check the targets of a command line before Snakemake looks for rules, so that a typing error gets a clear message."""

import difflib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from nmtcore.config.datasets import METRIC_NAMES
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError, quoted
from nmtcore.layout import PAPER, RESERVED, SCORES, SELECTION, STAGES, file_name
from nmtcore.planning.result_tables import RESULT_FOLDERS, check_table, check_table_name
from nmtcore.planning.runs import attention_treebanks

NOT_EXTERNAL = (
    "model", "history", "checkpoints", "gates", "head_scores", "attention", "contrast_scores", "gold_parses",
    "gold_scores", "gold_counts",
)  # fmt: skip
"""The types of files that need a model, which external systems do not have."""
RESULT_FILES = ("all_runs", "all_scores", "report")
"""The types of files that lie in the results folder itself, and are of all its data sets."""
LONGEST_NAME = 255
"""The most bytes of a file's name on common file systems."""
MOST_NAMED = 6
"""The most data sets that a message names."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A path below the results folder: its scale and the remaining parts."""

    scale: str
    parts: list[str]


def parse_target(project: Project, target: str) -> Target | None:
    """Split a path of a data set's results; return None for any other path."""
    parts = project.layout.below_results(target)
    scale = PAPER
    if parts and parts[0] in project.scale_names:
        scale = parts.pop(0)
        if scale == PAPER:
            raise UserError(
                f"{target}: results at paper scale lie in {project.layout.results}/ itself, without '{PAPER}/'."
            )
    return None if not parts or parts[0] in RESERVED else Target(scale=scale, parts=parts)


def check_target(project: Project, target: str) -> None:
    """Raise `UserError` if a target is a pattern or names an unknown data set, system, split or table."""
    if any(len(part.encode(errors="replace")) > LONGEST_NAME for part in target.split("/")):
        raise UserError(
            f"{quoted(target)}: no file can have a name of more than {LONGEST_NAME} bytes: correct the target."
        )
    if "*" in target:
        raise UserError(
            f"{target}: a target names one file, so it has no `*`: {_pattern_advice(parse_target(project, target))}"
        )
    first, *rest = project.layout.below_results(target) or [""]
    if first in RESULT_FOLDERS and rest:
        check_table(project, first, rest, target)
    path = project.layout.parse(target)
    parsed = None if path and path.file_type in RESULT_FILES else parse_target(project, target)
    if parsed:
        _check_parts(project, parsed.parts, parsed.scale, target)
    elif first in project.scale_names and rest and rest[0] in RESULT_FOLDERS:
        _refuse_table_of_scale(project, first, rest, target)


def _refuse_table_of_scale(project: Project, scale: str, parts: list[str], target: str) -> None:
    """Raise `UserError` for a table or figure below a scale's folder; `parts` begin with its folder."""
    folder, *rest = parts
    if rest:
        check_table_name(project, folder, rest, target)
    raise UserError(
        f"{target}: {folder} of all scales lie in {project.layout.results}/{folder}: ask for "
        f"{'/'.join([project.layout.results, *parts])} with --config scale={scale}."
    )


def _pattern_advice(pattern: Target | None) -> str:
    """Say how to ask for the files that a target with a `*` matches."""
    if pattern is None or len(pattern.parts) < 2 or pattern.parts[1] in STAGES:
        return """ask for the rule all, with --config 'systems=["*"]', or for data with --config 'datasets=["*"]'."""
    dataset, system, *rest = pattern.parts
    chosen = f"""scale={pattern.scale} 'datasets=["{dataset}"]' 'systems=["{system.partition(".")[0]}"]'"""
    return f"ask for snakemake --cores 1 {'train' if rest else 'all'} --config {chosen}."


def _check_parts(project: Project, parts: list[str], scale: str, target: str) -> None:
    if parts[0] in project.dataset_files.unread:
        project.dataset_files.check(parts[0], where=target)
    others = [*RESULT_FOLDERS, *(name for name in project.scale_names if name != PAPER)] if scale == PAPER else []
    valid = [*project.dataset_files, *others]
    if len(parts) == 1:
        _check_result_file(project, parts[0], valid, target)
    choose(parts[0], valid, noun="data set or scale" if scale == PAPER else "data set", where=target)
    dataset = project.dataset(parts[0])
    if len(parts) == 2:
        try:
            _check_score(project, dataset.name, parts[1], scale, target)
        except MissingAnnotation as error:
            raise UserError(f"{error}{_where_it_runs(project, parts[1].partition('.')[0], scale)}") from error
    elif len(parts) > 2 and parts[1] in STAGES:
        if scale != PAPER:
            raise UserError(f"{target}: {parts[1]} does not depend on the scale: leave '{scale}/' out of the path.")
        if parts[1] == "annotation" and parts[2] != SELECTION:
            choose(parts[2], dataset.annotators, noun="annotator", where=target)
        path = project.layout.parse(target)
        if path and path.file_type == "contrasts":
            _check_contrasts(project, dataset.name, path["split"], target)
        elif path and "split" in path.names:
            choose(path["split"], dataset.splits, noun="split", where=target)
    elif len(parts) > 2:
        _check_run(project, dataset.name, parts[1], scale, target)


def _check_result_file(project: Project, name: str, others: Iterable[str], target: str) -> None:
    """Raise `UserError` if a name resembles that of a file of `RESULT_FILES` more than any of `others`."""
    files = {file_name(file_type): project.layout.path(file_type) for file_type in RESULT_FILES}
    for nearest_name in difflib.get_close_matches(name, [*others, *files], n=1, cutoff=0.6):
        if nearest_name in files:
            raise UserError(f"{target}: no rule makes this. Did you mean {files[nearest_name]}?")


def _check_run(project: Project, dataset: str, system: str, scale: str, target: str) -> None:
    """Check the system of a run's file.

    For parses of treebanks the system must parse and a treebank must exist, for scores of heads the system must have
    heads, for gates gates; for contrastive pairs it must not generate tags. Every system has attention.
    """
    project.systems.check(system, where=target)
    path = project.layout.parse(target)
    if system in project.systems.external and path and path.file_type in NOT_EXTERNAL:
        raise UserError(f"{target}: {system} is external, so it has no model, only translations and scores.")
    if path and path.file_type in ("gold_parses", "gold_scores", "gold_counts"):
        run = project.run(dataset, system, scale, int(path["seed"]))
        if not run.parses:
            raise UserError(f"{target}: {system} predicts no trees, so it does not parse treebanks.")
        if not run.gold:
            raise UserError(f"{target}: {_missing_trees(run, 'gold.uas')}")
    if path and path.file_type == "head_scores":
        run = project.run(dataset, system, scale, int(path["seed"]))
        if run.base != "transformer":
            raise UserError(f"{target}: {system} is {run.base}: its encoder has no attention heads.")
        treebanks = attention_treebanks(project, run=run)
        if not treebanks:
            raise UserError(f"{target}: {dataset} has no gold treebank (a split gold_NAME) of the source side.")
        choose(path["split"], treebanks, noun="gold treebank", where=target)
    if path and path.file_type == "gates":
        run = project.run(dataset, system, scale, int(path["seed"]))
        if not run.has_gates:
            raise UserError(f"{target}: {system} has no gate in the decoder; ask for the gates of sa_nmt_shared.")
        choose(path["split"], run.tests, noun="test split", where=target)
    if path and path.file_type == "contrast_scores":
        run = project.run(dataset, system, scale, int(path["seed"]))
        if run.generates_tags:
            raise UserError(f"{target}: {system} generates tags among the words, so no probability can be computed.")
        _check_contrasts(project, dataset, path["split"], target)
    if path and path.file_type == "attention":
        run = project.run(dataset, system, scale, int(path["seed"]))
        choose(path["split"], run.tests, noun="test split", where=target)


def _check_contrasts(project: Project, dataset: str, split: str, target: str) -> None:
    """Raise `UserError` if a split is none of a data set's splits of contrastive pairs."""
    splits = project.dataset(dataset).contrasts
    if not splits:
        raise UserError(f"{target}: {dataset} has no contrastive pairs (a split contrast_NAME).")
    choose(split, splits, noun="split of contrastive pairs", where=target)


def _check_score(project: Project, dataset: str, name: str, scale: str, target: str) -> None:
    """Check the name SYSTEM.SCORE of a summary, and that the system has such a score."""
    system, dot, score = name.partition(".")
    if not dot:
        return
    project.systems.check(system, where=target)
    if score == "chrf":
        raise UserError(f"{target}: chrF is in the same file as BLEU: ask for {system}.bleu.")
    choose(score, [*SCORES, *project.layout.own_scores], noun="score", where=target)
    run = project.run(dataset, system, scale, project.seeds(dataset, system)[0])
    if score == "comet" or score in run.scores:
        return
    if score in METRIC_NAMES.valid:
        raise UserError(
            f"{target}: {dataset} is not scored by {score}: ask for {system}.bleu, or add {score} to the `metrics` of "
            f"the data set's `evaluation`."
        )
    if not run.parses:
        raise UserError(f"{target}: {system} predicts no trees, so it has no attachment score; ask for its .bleu.")
    raise UserError(f"{target}: {_missing_trees(run, score)} Ask for {_alternatives(run)}.")


def _where_it_runs(project: Project, system: str, scale: str) -> str:
    """Name data sets on which a system can be planned, those of the papers and the demo before rehearsals of them."""
    names = []
    for name in project.dataset_files:
        with suppress(UserError):
            project.run(name, system, scale, project.seeds(name, system)[0])
            names.append(name)
    names.sort(key=lambda name: (name.startswith("rehearsal_"), name))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f" {system} can be trained on {', '.join(names[:MOST_NAMED])}{more}." if names else ""


def _missing_trees(run: RunSettings, score: str) -> str:
    """Say which trees are missing for an attachment score of a run that parses."""
    if score == "uas":
        return (
            f"{run.system} learns its trees from no parser, and {run.dataset} names none to compare them with "
            "(`syntax: {source: {dependencies: NAME}}`)."
        )
    if run.tree_comparison == "chain":
        return f"{run.system} predicts chains of previous words, which are not compared with gold trees."
    return f"{run.dataset} has no gold treebank (a split gold_NAME) to compare {run.system} with."


def _alternatives(run: RunSettings) -> str:
    """Name the scores that a run has instead of the one that was asked for, with what they compare."""
    compared = {"uas": "the trees of a parser", "gold.uas": "gold trees"}
    if run.tree_comparison == "chain":
        compared["uas"] = "the chain of previous words"
    others = [f"its .{score}, which compares it with {compared[score]}" for score in run.scores if score in compared]
    return " or ".join(others) or "its .bleu"
