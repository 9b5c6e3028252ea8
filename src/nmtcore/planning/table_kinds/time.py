"""Files behind tables of the kind time."""

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project


def time_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the files."""
    return []
