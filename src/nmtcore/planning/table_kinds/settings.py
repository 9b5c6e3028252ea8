"""Settings of runs behind tables of hyperparameters: at the papers' scale and on their own data sets, without files."""

from typing import Any

from nmtcore.config.components.settings import PascalSettings
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.layout import PAPER

FIRST_SEED = 1
"""The seed of the runs whose settings are shown; settings do not depend on it."""


def settings_inputs(project: Project, table: PlannedTable) -> list[str]:
    """List no files."""
    return []


def settings_facts(project: Project, table: PlannedTable) -> dict[str, Any]:
    """Return each cell's setting, {"settings": {row: {column: value}}}; a text says why there is none."""
    datasets = {column.name: column.dataset for column in table.columns}
    settings: dict[str, dict[str, float | str]] = {}
    for cell in table.cells:
        # Not `cell.dataset`, which may stand in for the paper's.
        dataset = datasets[cell.column] or cell.row
        settings.setdefault(cell.row, {})[cell.column] = _setting(project, dataset, cell.system, cell.metric)
    return {"settings": settings}


def settings_stand_ins(project: Project, table: PlannedTable) -> dict[str, str]:
    """Return nothing: nothing stands in for the papers' data sets here."""
    return {}


def _setting(project: Project, dataset: str, system: str | None, metric: str | None) -> float | str:
    if system is None or system not in project.system_entries:
        return f"{system} is no system of ours"
    try:
        run = project.run(dataset, system, PAPER, FIRST_SEED)
    except MissingAnnotation as error:
        return f"{dataset} names {error.missing}"
    return _setting_of(run, metric)


def _setting_of(run: RunSettings, metric: str | None) -> float | str:
    """Return the setting that the paper calls `metric`."""
    match metric:
        case "learning_rate":
            return run.training.schedule.peak
        case "beta1":
            return run.training.betas[0]
        case "beta2":
            return run.training.betas[1]
    pascal = next((own for own in run.components.values() if isinstance(own, PascalSettings)), None)
    if metric not in ("heads", "parent_ignoring"):
        return f"{metric} is no setting that is shown here"
    if pascal is None:
        return f"{run.system} scales no heads by parents"
    return pascal.heads if metric == "heads" else pascal.ignoring
