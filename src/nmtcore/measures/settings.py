"""Settings of runs behind tables of hyperparameters: at the papers' scale and on their own data sets, without files."""

from nmtcore.config.components.settings import PascalSettings
from nmtcore.config.needs import MissingAnnotation
from nmtcore.layout import PAPER
from nmtcore.measures.place import Place, Source

FIRST_SEED = 1
"""The seed of the runs whose settings are shown; settings do not depend on it."""

DIFFERS = " ≠"
"""Mark of a setting that differs from the published one."""

NOTES = f"""
Ours are the settings at the scale `paper` on the paper's own data sets, whatever the scale of the other results. The
learning rate is the peak of its schedule.{DIFFERS}: differs from the published value.
"""


def settings_source(place: Place) -> Source | str:
    """Return the setting that the paper calls by the name of the metric, or say why there is none."""
    project, system, metric = place.project, place.cell.system, place.cell.metric
    dataset = place.column.dataset or place.cell.row  # not `cell.dataset`, which may stand in for the paper's
    if system is None or system not in project.system_entries:
        return f"{system} is no system of ours"
    try:
        run = project.run(dataset, system, PAPER, FIRST_SEED)
    except MissingAnnotation as error:
        return f"{dataset} names {error.missing}"
    pascal = next((own for own in run.components.values() if isinstance(own, PascalSettings)), None)
    match metric:
        case "learning_rate":
            return {"value": run.training.schedule.peak}
        case "beta1":
            return {"value": run.training.betas[0]}
        case "beta2":
            return {"value": run.training.betas[1]}
    if pascal is None:
        return f"{run.system} scales no heads by parents"
    return {"value": pascal.heads if metric == "heads" else pascal.ignoring}


def setting(source: Source) -> list[float]:
    """Return the setting."""
    return [source["value"]]
