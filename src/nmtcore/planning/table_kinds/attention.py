"""Files behind tables of the kind attention."""

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project


def attention_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the files."""
    return []
