"""Files behind figures of validation curves: the training logs of the systems' runs."""

from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.planning.analysis import validation_beams


def curves_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List the training logs."""
    return [path for by_seed in training_logs(project, table).values() for path in by_seed.values()]


def curves_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return the training logs, {"logs": {runs: {seed: path}}}, and the beams of validation by data set."""
    logs = training_logs(project, table)
    runs = [
        project.run(table.runs[key].dataset, table.runs[key].system, table.scale, int(seed))
        for key, by_seed in logs.items()
        for seed in by_seed
    ]
    return {"logs": logs, "beams": validation_beams(runs=runs)}


def training_logs(project: Project, table: PlannedTable) -> dict[str, dict[str, str]]:
    """Return the training logs of a table's runs, {runs: {seed: path}}; external runs have none."""
    logs: dict[str, dict[str, str]] = {}
    for key, runs in table.runs.items():
        names = {"dataset": runs.dataset, "system": runs.system, "scale": table.scale}
        for seed in runs.seeds:
            if project.run(**names, seed=seed).external is None:
                logs.setdefault(key, {})[str(seed)] = project.layout.path("history", **names, seed=seed)
    return logs
