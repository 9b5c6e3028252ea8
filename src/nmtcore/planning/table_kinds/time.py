"""Files behind figures of training times: the training logs of the systems' runs."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.table_kinds.curves import training_logs


def time_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the training logs."""
    return [path for by_seed in training_logs(project, table).values() for path in by_seed.values()]


def time_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return the training logs, {"logs": {runs: {seed: path}}}."""
    return {"logs": training_logs(project, table)}
