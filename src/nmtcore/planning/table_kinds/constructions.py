"""Files behind tables of syntactic constructions: supertags of the reference and, for scores, translations."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.analysis import target_supertags
from nmtcore.planning.paper_tables import run_files, segment_score_files


def constructions_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the counts of sentences of all runs and the supertags of the tests."""
    supertags = constructions_facts(project, table)["supertags"]
    paths = [path for by_split in supertags.values() for path in by_split.values()]
    return [*run_files(project, table, "counts"), *paths, *segment_score_files(project, table)]


def constructions_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return the `supertags` of the target side of the tests (`target_supertags`)."""
    return {"supertags": target_supertags(project, ((cell.dataset, cell.split) for cell in table.cells))}
