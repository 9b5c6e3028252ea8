"""The tables of the configured systems, specified as those of the papers are."""

from pathlib import Path
from typing import Any

from nmtcore.config.datasets import GOLD
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.planning.configured import configured_runs
from nmtcore.tables.papers import Paper, make_paper
from nmtcore.tables.settings import PaperTablesSettings, TableSettings
from nmtcore.tables.sizes import test_annotations

TRAINING = ("first_loss", "last_loss", "updates", "tokens_per_second", "seconds")
"""What the table of systems says about training."""

PRODUCTIONS = (
    *(f"VERB_{tag}" for tag in ("NOUN", "PRON", "ADV", "VERB")),
    *(f"NOUN_{tag}" for tag in ("DET", "ADP", "NOUN", "ADJ")),
)
"""The productions in the table, as HEAD_DEPENDENT."""

TAGS = (
    *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ"),
    *("SYM", "VERB", "X"),
)
"""The universal tags, in the table of gates."""

OTHERS = {"gold": "the trees of the treebank", "left": "chains to the next word"}
"""Trees that need no run, and what they are."""


def configured_paper(project: Project, name: str) -> Paper:
    """Specify a table of the configured systems. Raises `UserError` if there is nothing to tabulate."""
    runs = {(run.dataset, run.system): run for run in reversed(configured_runs(project)[0])}
    table_kind, specified, needed = _SPECS[name]
    values = specified(project, list(runs.values())[::-1])
    if not values["columns"]:
        raise UserError(f"{needed}, in config.yaml or on the command line.")
    table = TableSettings(kind=table_kind, **values)
    settings = PaperTablesSettings(title=name.capitalize(), others=OTHERS, tables={name: table})
    return make_paper(project, "", settings, {name: Path("config.yaml")})


def _systems(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    columns: list[str] = []
    for name in project.settings.datasets if runs else ():
        dataset, of_dataset = project.dataset(name), [run for run in runs if run.dataset == name]
        for split in dataset.tests:
            metrics = ["bleu", *dataset.evaluation.metrics]
            metrics += ["uas"] if any(split in run.parsed_tests for run in of_dataset) else []
            columns += [f"{name}/{split}/{metric}" for metric in metrics]
        if any(run.tree_comparison == "induced" for run in of_dataset if run.gold):
            columns += [f"{name}/{split}/directed+undirected" for split in dataset.source_treebanks(GOLD)]
        columns += [f"{name}/train/{metric}" for metric in TRAINING]
    return {
        "place": "Systems",
        "description": "scores, differences and training",
        "columns": columns,
        "systems": project.settings.systems,
    }


def _constructions(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    tests = [(name, project.dataset(name).main_test) for name in project.settings.datasets]
    columns = [
        f"{name}/{test}/{system}/bleu_gain"
        for name, test in tests
        if test_annotations(project, name, test)
        for system in _compared(project)
    ]
    return {
        "place": "BLEU by construction",
        "row": "item",
        "column": "dataset/split/system/metric",
        "columns": columns,
        "rows": ["total"],
    }


def _examples(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    compared = _compared(project)
    datasets = project.settings.datasets if compared else ()
    return {
        "place": "Examples",
        "column": "dataset/split",
        "columns": [f"{name}/{project.dataset(name).main_test}" for name in datasets],
        "systems": list(dict.fromkeys((*compared.values(), *compared))),
    }


def _compared(project: Project) -> dict[str, str]:
    """Return the configured systems that are compared with another one, each with that."""
    systems = project.settings.systems
    return {system: other for system in systems if (other := project.compared_with(system)) in systems}


def _gates(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    gated = [run for run in runs if run.has_gates]
    return {
        "place": "Gates by tag",
        "metric": "highest",
        "row": "item",
        "column": "dataset/split/system",
        "columns": [f"{run.dataset}/{run.tests[0]}/{run.system}" for run in gated],
        "rows": TAGS,
    }


def _productions(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    columns: list[str] = []
    for name in project.settings.datasets:
        dataset = project.dataset(name)
        for split in dataset.source_treebanks(GOLD) if dataset.gold_annotator else ():
            systems = [run.system for run in runs if run.dataset == name and split in run.gold]
            columns += [f"{name}/{split}/{system}" for system in (*OTHERS, *systems)]
    return {
        "place": "Productions",
        "metric": "share",
        "row": "item",
        "column": "dataset/split/system",
        "columns": columns,
        "rows": PRODUCTIONS,
    }


def _curves(project: Project, runs: list[RunSettings]) -> dict[str, Any]:
    trained = [run for run in runs if run.is_trained]
    return {
        "place": "Validation scores",
        "column": "dataset",
        "columns": list(dict.fromkeys(run.dataset for run in trained)),
        "systems": list(dict.fromkeys(run.system for run in trained)),
    }


_COMPARED = "`systems` together with what they are `compared_with`, and `datasets`"
_SPECS = {
    "systems": ("scores", _systems, "A table of systems needs `datasets` and `systems`"),
    "constructions": (
        "constructions",
        _constructions,
        f"A table of constructions needs {_COMPARED} whose `syntax` names an annotator for ccg of the target side or "
        "for constituency",
    ),
    "gates": (
        "scores",
        _gates,
        "A table of gates needs `datasets`, and `systems` that have a gate in the decoder (such as sa_nmt_shared)",
    ),
    "productions": (
        "scores",
        _productions,
        "A table of productions needs `datasets` with a gold treebank of the source side (a split gold_NAME)",
    ),
    "examples": ("examples", _examples, f"A table of examples needs {_COMPARED}"),
    "curves": (
        "curves",
        _curves,
        "A figure of curves needs `datasets`, and `systems` that are trained here: external ones have none",
    ),
}
"""The kind of each table, what says what it shows, in the keys of published tables, and what it needs."""
