"""The tables of the configured systems, specified as those of the papers are."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.datasets import GOLD
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.planning.configured import configured_runs
from nmtcore.tables.kinds import test_annotations
from nmtcore.tables.papers import Paper, make_paper
from nmtcore.tables.settings import PaperTablesSettings, TableSettings

TRAINING = ("first_loss", "last_loss", "updates", "tokens_per_second", "seconds")
"""What the table of systems says about training."""

PRODUCTIONS = (
    *(f"VERB_{tag}" for tag in ("NOUN", "PRON", "ADV", "VERB")),
    *(f"NOUN_{tag}" for tag in ("DET", "ADP", "NOUN", "ADJ")),
)
"""The productions in the table, as HEAD_DEPENDENT."""

GOLD_TREES, LEFT = "gold", "left"
"""The names of trees that need no run: those of the treebank, and chains to the next word."""


def configured_paper(project: Project, name: str) -> Paper:
    """Specify a table of the configured systems. Raises `UserError` if there is nothing to tabulate."""
    runs = configured_runs(project)[0]
    table_kind, specified = _SPECS[name]
    settings = TableSettings(kind=table_kind, **specified(project, _first_runs(runs)))
    others = {GOLD_TREES: "the trees of the treebank", LEFT: "chains to the next word"}
    values = PaperTablesSettings(title=name.capitalize(), others=others, tables={name: settings})
    return make_paper(project, "", values, {name: Path("config.yaml")})


def _first_runs(runs: Iterable[RunSettings]) -> list[RunSettings]:
    """Return the first run of each system on each data set."""
    return list({(run.dataset, run.system): run for run in reversed(list(runs))}.values())[::-1]


def _needed(present: Sequence[Any], what: str) -> None:
    if not present:
        raise UserError(f"{what}, in config.yaml or on the command line.")


def _systems(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    _needed(runs, "A table of systems needs `datasets` and `systems`")
    columns: list[str] = []
    for name in project.settings.datasets:
        dataset, own = project.dataset(name), [run for run in runs if run.dataset == name]
        for split in dataset.tests:
            metrics = ["bleu", *dataset.evaluation.metrics]
            metrics += ["uas"] if any(split in run.parsed_tests for run in own) else []
            columns += [f"{name}/{split}/{metric}" for metric in metrics]
        if any(run.tree_comparison == "induced" for run in own if run.gold):
            columns += [f"{name}/{split}/directed+undirected" for split in dataset.source_treebanks(GOLD)]
        columns += [f"{name}/train/{metric}" for metric in TRAINING]
    return {
        "place": "Systems",
        "description": "scores, differences and training",
        "columns": tuple(columns),
        "systems": tuple(project.settings.systems),
    }


def _constructions(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    compared = _compared(project, runs, "A table of constructions")
    annotated = {
        name: split
        for name in project.settings.datasets
        if test_annotations(project, name, split := project.dataset(name).main_test)
    }
    _needed(
        [*annotated],
        "A table of constructions needs `systems`, and `datasets` whose `syntax` names an annotator for ccg of the "
        "target side or for constituency",
    )
    pairs = [(name, system) for name in annotated for system in compared]
    columns = tuple(f"{name}/{annotated[name]}/{system}/bleu_gain" for name, system in pairs)
    return {
        "place": "BLEU by construction",
        "row": "item",
        "column": "dataset/split/system/metric",
        "columns": columns,
        "rows": {"total": (None,) * len(columns)},
    }


def _examples(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    compared = _compared(project, runs, "A table of examples")
    systems = tuple(dict.fromkeys((*compared.values(), *compared)))
    columns = tuple(f"{name}/{project.dataset(name).main_test}" for name in project.settings.datasets)
    return {"place": "Examples", "column": "dataset/split", "columns": columns, "systems": systems}


def _compared(project: Project, runs: list[RunSettings], subject: str) -> dict[str, str]:
    """Return the configured systems that are compared with another one, each with that.

    Raises `UserError` if there is none.
    """
    systems = project.settings.systems
    compared = {system: other for system in systems if (other := project.compared_with(system)) in systems}
    _needed([*compared], f"{subject} needs `systems` together with what they are `compared_with`")
    _needed(runs, f"{subject} needs `datasets`")
    return compared


def _gates(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    gated = [run for run in runs if run.has_gates]
    _needed(
        gated,
        "A table of gates needs `datasets`, and `systems` that have a gate in the decoder (such as sa_nmt_shared)",
    )
    tests = dict.fromkeys(f"{run.dataset}/{run.tests[0]}" for run in gated)
    systems = tuple(dict.fromkeys(run.system for run in gated))
    return {"place": "Gates by tag", "column": "dataset/split", "columns": tuple(tests), "systems": systems}


def _productions(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    columns: list[str] = []
    for name in project.settings.datasets:
        dataset = project.dataset(name)
        for split in dataset.source_treebanks(GOLD) if dataset.gold_annotator else ():
            systems = [run.system for run in runs if run.dataset == name and split in run.gold]
            columns += [f"{name}/{split}/{system}" for system in (GOLD_TREES, LEFT, *systems)]
    _needed(
        columns, "A table of productions needs `datasets` with a gold treebank of the source side (a split gold_NAME)"
    )
    return {
        "place": "Productions",
        "metric": "share",
        "row": "item",
        "column": "dataset/split/system",
        "columns": tuple(columns),
        "rows": dict.fromkeys(PRODUCTIONS, (None,) * len(columns)),
    }


def _curves(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    trained = [run for run in runs if run.external is None]
    _needed(
        trained, "A figure of curves needs `datasets`, and `systems` that are trained here: external ones have none"
    )
    columns = tuple(dict.fromkeys(run.dataset for run in trained))
    systems = tuple(dict.fromkeys(run.system for run in trained))
    return {"place": "Validation scores", "column": "dataset", "columns": columns, "systems": systems}


_SPECS = {
    "systems": ("scores", _systems),
    "constructions": ("constructions", _constructions),
    "gates": ("gates", _gates),
    "productions": ("scores", _productions),
    "examples": ("examples", _examples),
    "curves": ("curves", _curves),
}
"""The kind of each table, and what says what it shows, in the keys of published tables."""
