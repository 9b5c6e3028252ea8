"""Files behind tables of the accuracy of induced trees: gold treebanks, and what runs have right in them."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.treebanks import treebank_facts, treebank_inputs


def induction_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the treebanks and the counts of sentences of all runs."""
    return treebank_inputs(project, table, file_type="gold_counts")


def induction_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return the result of `treebank_facts`."""
    return treebank_facts(project, table)
