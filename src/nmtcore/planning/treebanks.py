"""Gold treebanks behind tables of trees: their files, and the runs that parse them."""

from typing import Any

from nmtcore.config.datasets import GOLD
from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.runs import gold_files


def treebank_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return the treebanks of a table's cells and the runs that parse them, as plain values.

    `treebanks`: {data set: {split: {"pairs": path, "trees": path}}}, of the splits that are gold treebanks.
    `parsed`: {runs: the treebanks that they parse}. `induced`: the runs among them whose trees are induced.
    """
    treebanks: dict[str, dict[str, dict[str, str]]] = {}
    for cell in table.cells:
        if cell.dataset is None or cell.split is None or cell.reason:
            continue
        if cell.split in project.dataset(cell.dataset).source_treebanks(GOLD):
            pairs, trees = gold_files(project, dataset=cell.dataset, split=cell.split)
            treebanks.setdefault(cell.dataset, {})[cell.split] = {"pairs": pairs, "trees": trees}
    planned = {key: runs for key, runs in table.runs.items() if runs.seeds}
    runs = {
        key: project.run(own.dataset, own.system, table.scale, own.seeds[0])
        for key, own in planned.items()
        if own.dataset in treebanks
    }
    return {
        "treebanks": treebanks,
        "parsed": {key: list(run.gold) for key, run in runs.items() if run.gold},
        "induced": [key for key, run in runs.items() if run.gold and run.tree_comparison == "induced"],
    }


def treebank_inputs(
    project: Project, table: PlannedTable, *, file_type: str = "gold_parses", first_seed: bool = False
) -> list[str]:
    """List the treebanks of a table, and the parses or the counts of its runs (of their first seeds, if asked for)."""
    facts = treebank_facts(project, table)
    files = [path for splits in facts["treebanks"].values() for paths in splits.values() for path in paths.values()]
    for key in facts["parsed"]:
        runs = table.runs[key]
        names = {"scale": table.scale, "dataset": runs.dataset, "system": runs.system}
        seeds = runs.seeds[:1] if first_seed else runs.seeds
        files += [project.layout.path(file_type, **names, seed=seed) for seed in seeds]
    return files
