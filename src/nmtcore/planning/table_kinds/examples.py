"""Files behind tables of examples: translations by one seed, the sentence pairs, and supertags of the reference."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.analysis import target_supertags
from nmtcore.planning.paper_tables import table_settings


def examples_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the translations by the lowest seed of each system, the sentence pairs and the supertags."""
    path = project.layout.path
    hypotheses = [
        path("hypotheses", scale=table.scale, dataset=runs.dataset, system=runs.system, seed=min(runs.seeds))
        for runs in table.runs.values()
        if runs.seeds
    ]
    tests = dict.fromkeys((cell.dataset, cell.split) for cell in table.cells if cell.runs and cell.split)
    pairs = [path("pairs", dataset=dataset, split=split) for dataset, split in tests]
    supertags = examples_facts(project, table)["supertags"]
    return [*hypotheses, *pairs, *(own for by_split in supertags.values() for own in by_split.values())]


def examples_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return the `supertags` of the target side (`target_supertags`), and the `sentence` that the table shows."""
    tests = ((cell.dataset, cell.split) for cell in table.cells)
    sentence = table_settings(project, f"{table.paper}_{table.name}").sentence
    return {"supertags": target_supertags(project, tests), "sentence": sentence}
