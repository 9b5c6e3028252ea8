"""What the trainings of a plan take, before anything runs: updates, hours and disk space by data set."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from nmtcore.config.corpora import SIDES
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.systems import read_speeds
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.layout import PAPER

SUBWORDS = 30
"""Assumed subwords of a sentence, `</s>` included, where a limit of epochs ends training; captions have 14."""
NEWEST = 2
"""How many of the newest checkpoints are kept (`nmtcore.training.checkpoints.KEPT`)."""


class Cost(NamedTuple):
    """What a training takes: its most updates, device-seconds for each (None if unknown), and room on the disk."""

    run: RunSettings
    updates: int | None
    seconds: float | None
    disk_bytes: int


def planned_costs(project: Project, runs: Iterable[RunSettings], *, on_gpu: bool) -> tuple[list[Cost], int]:
    """Estimate what each training takes; also return how many finished runs of the folder say how long updates take.

    Raises `UserError` if speeds.yaml, or a report of the results folder, is broken.
    """
    measured, finished, costs = read_speeds(project.folders), list(finished_speeds(project, on_gpu=on_gpu)), []
    for run in runs:
        place = _place(project, run)
        of_base = [speed for speed in finished if speed[0] == place and speed[2] == run.base]
        update_seconds = [seconds for *_, seconds in [speed for speed in of_base if speed[1] == run.system] or of_base]
        known = measured.seconds(*place, "gpu" if on_gpu else "cpu", system=run.system, base=run.base)
        parameters = run.parameter_count(dict.fromkeys(SIDES, run.segmentation.size))
        updates = run_updates(run, training_pairs(project, run))
        costs.append(
            Cost(run, updates, median(update_seconds) if update_seconds else known, run_bytes(run, parameters))
        )
    return costs, len(finished)


def finished_speeds(project: Project, *, on_gpu: bool) -> Iterator[tuple[tuple[str, str], str, str, float]]:
    """Yield the place in speeds.yaml, system, base and seconds per update of each finished run on such a device."""
    for path in project.layout.existing("manifest"):
        with suppress(UserError, KeyError, TypeError, ValueError, ZeroDivisionError):
            manifest = read_json(path)
            run = project.run(*(manifest[key] for key in ("dataset", "system", "scale", "seed")))
            if bool(manifest["gpus"]) == on_gpu:
                devices = manifest["gpus"] or manifest["threads"]
                seconds = manifest["training_seconds"] * devices / manifest["updates"]
                yield _place(project, run), run.system, run.base, seconds


def _place(project: Project, run: RunSettings) -> tuple[str, str]:
    return ("recipes", project.first_recipe(run.dataset)) if run.scale == PAPER else ("scales", run.scale)


def run_updates(run: RunSettings, pairs: int | None) -> int | None:
    """Return the largest number of updates of a run with so many training pairs; None if it is unknown."""
    batch, training = run.training.batch, run.training
    epochs = None
    if training.max_epochs is not None and pairs is not None and (run.treebank is None or run.treebank.pairs):
        size = pairs * (SUBWORDS if batch.unit == "tokens" else 1)
        epochs = training.max_epochs * math.ceil(size / batch.size)
    return min((limit for limit in (training.max_updates, epochs) if limit is not None), default=None)


def training_pairs(project: Project, run: RunSettings) -> int | None:
    """Return the training pairs of a run: counted in the results folder or, before that, published; None: unknown."""
    dataset = project.dataset(run.dataset)
    file_type, names = ("pairs_report", {"split": "train"}) if dataset.selection is None else ("selection_report", {})
    path = Path(project.layout.path(file_type, dataset=run.dataset, **names))
    pairs = read_json(path)["kept"] if path.exists() else dataset.published.pairs.get("train")
    return min((count for count in (pairs, run.sentences.train) if count is not None), default=None)


def run_bytes(run: RunSettings, parameters: int) -> int:
    """Return the size of a trained run: its model, and its checkpoints with Adam's two moments of each weight, fp32."""
    checkpoints = NEWEST + (run.training.average if run.training.keep == "average" else 1)
    return parameters * 4 * (1 + 3 * checkpoints)


def cost_lines(costs: Sequence[Cost], finished: int, *, on_gpu: bool) -> list[str]:
    """Return a table of the costs by data set, and what there is to say about them, as lines.

    `finished` is the number of finished runs from `planned_costs`.
    """
    by_name = {
        name: [cost for cost in costs if cost.run.dataset == name] for name in (cost.run.dataset for cost in costs)
    }
    rows = [("data set", "trainings", "updates", "GPU-hours" if on_gpu else "core-hours", "disk")]
    rows += [_row(name, row_costs) for name, row_costs in [*by_name.items(), ("total", costs)]]
    width = max(len(name) for name, *_ in rows)
    lines = ["What these trainings take, as estimated, without their data:"]
    lines += [f"{name:{width}}  {cells[0]:>9}  {cells[1]:>14}  {cells[2]:>12}  {cells[3]:>11}" for name, *cells in rows]
    finished_speed = f"that of {finished} finished runs of this folder, else " if finished else ""
    lines.append(f"Speed: {finished_speed}that of speeds.yaml.")
    if any(_ends_by_validation(cost.run) for cost in costs):
        lines.append("<=: validations end training earlier than the limit of updates, perhaps much earlier.")
    if unknown := sorted({cost.run.system for cost in costs if cost.updates is None or cost.seconds is None}):
        reasons = "their corpus is not there yet, or speeds.yaml lacks their speed at this scale"
        lines.append(f"?: the costs of {', '.join(unknown)} are unknown: {reasons}.")
    return lines


def _ends_by_validation(run: RunSettings) -> bool:
    schedule, validation = run.training.schedule, run.training.validation
    by_rate = schedule.kind == "halving" and schedule.stop_after is not None
    return validation.stop_after is not None or schedule.stop_at_floor or by_rate


def _row(name: str, costs: Sequence[Cost]) -> tuple[str, ...]:
    """Return a row of the table: its name, trainings, updates, hours and disk space."""
    hours = sum((cost.updates or 0) * (cost.seconds or 0) for cost in costs) / 3600
    most = "<= " if any(_ends_by_validation(cost.run) for cost in costs) else ""
    more = " + ?" if any(cost.updates is None or cost.seconds is None for cost in costs) else ""
    return (
        name,
        f"{len(costs):,}",
        f"{most}{sum(cost.updates or 0 for cost in costs):,}",
        f"{most}{f'{hours:,.0f}' if hours >= 10 else f'{hours:.2g}'}{more}",
        f"{sum(cost.disk_bytes for cost in costs) / 1e9:,.1f} GB",
    )
