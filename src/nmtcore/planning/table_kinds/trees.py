"""Files behind figures of trees: gold treebanks, and the parses of them by the first seed of each system."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.treebanks import treebank_facts, treebank_inputs


def trees_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the treebanks and the parses."""
    return treebank_inputs(project, table, first_seed=True)


def trees_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return the result of `treebank_facts`."""
    return treebank_facts(project, table)
