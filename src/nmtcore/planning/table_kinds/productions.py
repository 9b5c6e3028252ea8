"""Files behind tables of the kind productions."""

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project


def productions_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the files."""
    return []
