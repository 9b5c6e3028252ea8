"""Files behind tables of scores: the counts of sentences of runs, also by COMET and of gold treebanks."""

from typing import Any

from nmtcore.config.datasets import GOLD
from nmtcore.config.paper_tables import ATTACHMENT_MEASURES
from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.paper_tables import run_files, segment_score_files


def scores_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the counts of all runs; for attachment scores of gold treebanks and for COMET, those of these."""
    trees = scores_facts(project, table)["trees"]
    translated = _is_translated(table)
    counts = run_files(project, table, "counts") if translated else []
    return [
        *counts,
        *_gold_counts(project, table, trees),
        *segment_score_files(project, table),
    ]


def scores_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return the files that parses are compared with: {"trees": {runs: {split: {"pairs": path, "trees": path}}}}.

    `trees` is None if heads are compared with the previous word. Runs that do not parse are left out.
    """
    trees: dict[str, dict[str, dict[str, str | None]]] = {}
    for cell in table.cells:
        runs = None if cell.runs is None else table.runs[cell.runs]
        if runs is None or cell.split is None or table.measure(cell.metric) not in ATTACHMENT_MEASURES:
            continue
        run = project.run(runs.dataset, runs.system, table.scale, runs.seeds[0])
        gold = cell.split.startswith(GOLD)
        if cell.split not in (run.gold if gold else run.parsed_tests):
            continue
        names = {"dataset": runs.dataset, "split": cell.split}
        annotator = run.gold_annotator if gold else run.tree_annotator
        path = (
            None
            if annotator is None
            else project.layout.path("annotation", **names, annotator=annotator, side="source")
        )
        trees.setdefault(cell.runs, {})[cell.split] = {"pairs": project.layout.path("pairs", **names), "trees": path}
    return {"trees": trees}


def _is_translated(table: PlannedTable) -> bool:
    """Return whether the table has scores of tests, whose files are in the folder of translations."""
    return any(cell.runs and cell.split and not cell.split.startswith(GOLD) for cell in table.cells)


def _gold_counts(project: Project, table: PlannedTable, trees: dict[str, Any]) -> list[str]:
    keys = [key for key, by_split in trees.items() if any(split.startswith(GOLD) for split in by_split)]
    names = [(table.runs[key], seed) for key in keys for seed in table.runs[key].seeds]
    return [
        project.layout.path("gold_counts", scale=table.scale, dataset=runs.dataset, system=runs.system, seed=seed)
        for runs, seed in names
    ]
