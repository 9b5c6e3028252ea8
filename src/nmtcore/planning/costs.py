"""What the trainings of a plan take, before anything runs: updates, hours and disk space by data set."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import NamedTuple

from nmtcore.config.corpora import SIDES
from nmtcore.config.project import Project
from nmtcore.config.recipes import read_speeds
from nmtcore.config.runs import RunSettings
from nmtcore.errors import UserError
from nmtcore.files import read_json, read_lines
from nmtcore.layout import PAPER, file_name
from nmtcore.planning.features import segmentation_folder

SUBWORDS = 30
"""Assumed subwords of a sentence, `</s>` included, where a limit of epochs ends training; captions have 14."""
BYTES_PER_NUMBER = 4
"""Weights and Adam's moments are stored in fp32."""
MOMENTS = 2
"""Numbers that Adam keeps for each weight."""
NEWEST = 2
"""How many of the newest checkpoints are kept (`nmtcore.training.checkpoints.KEPT`)."""


class Cost(NamedTuple):
    """What a training takes."""

    run: RunSettings
    updates: int | None
    """The most updates; None if they are unknown."""
    seconds: float | None
    """Device-seconds per update; None if they are unknown."""
    disk_bytes: int
    """The model, and the checkpoints that are kept at a time."""


class Speeds:
    """Seconds per update: those of the results folder's finished runs of the same scale, else those of speeds.yaml."""

    def __init__(self, project: Project, device: str) -> None:
        self.project, self.device = project, device
        self.measured = read_speeds(project.folders)
        self.finished = 0
        """Finished runs of this folder on such a device."""
        times: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        count = "gpus" if device == "gpu" else "threads"
        for path in project.layout.existing("manifest"):
            with suppress(UserError, KeyError, TypeError, ValueError, ZeroDivisionError):
                manifest = read_json(path)
                if bool(manifest["gpus"]) != (device == "gpu"):
                    continue
                run = project.run(*(manifest[key] for key in ("dataset", "system", "scale", "seed")))
                seconds = manifest["training_seconds"] * manifest[count] / manifest["updates"]
                for name in (run.system, run.base):
                    times[*self._section(run), name].append(seconds)
                self.finished += 1
        self.own = {key: median(values) for key, values in times.items()}

    def seconds(self, run: RunSettings) -> float | None:
        """Return the seconds per update of a run; None if they are unknown."""
        section = self._section(run)
        for name in (run.system, run.base):
            if (*section, name) in self.own:
                return self.own[*section, name]
        return self.measured.seconds(*section, self.device, system=run.system, base=run.base)

    def _section(self, run: RunSettings) -> tuple[str, str]:
        return ("recipes", self.project.first_recipe(run.dataset)) if run.scale == PAPER else ("scales", run.scale)


def planned_costs(project: Project, runs: Iterable[RunSettings], *, on_gpu: bool) -> tuple[list[Cost], Speeds]:
    """Estimate what each training takes, and return the speeds that were used.

    Raises `UserError` if speeds.yaml, or a report of the results folder, is broken.
    """
    speeds, costs = Speeds(project, "gpu" if on_gpu else "cpu"), []
    for run in runs:
        disk_bytes = run_bytes(run, run.parameter_count(vocabulary_sizes(project, run)))
        costs.append(Cost(run, run_updates(run, training_pairs(project, run)), speeds.seconds(run), disk_bytes))
    return costs, speeds


def run_updates(run: RunSettings, pairs: int | None) -> int | None:
    """Return the largest number of updates of a run with so many training pairs; None if it is unknown."""
    batch, training = run.training.batch, run.training
    epochs = None
    if training.max_epochs is not None and pairs is not None and (run.treebank is None or run.treebank.pairs):
        size = pairs * (SUBWORDS if batch.unit == "tokens" else 1)
        epochs = training.max_epochs * math.ceil(size / batch.size)
    return min((limit for limit in (training.max_updates, epochs) if limit is not None), default=None)


def ends_by_validation(run: RunSettings) -> bool:
    """Return whether validations can end training before its largest number of updates."""
    schedule, validation = run.training.schedule, run.training.validation
    by_rate = schedule.kind == "halving" and schedule.stop_after is not None
    return validation.stop_after is not None or schedule.stop_at_floor or by_rate


def training_pairs(project: Project, run: RunSettings) -> int | None:
    """Return the training pairs of a run: counted in the results folder or, before that, published; None: unknown."""
    dataset = project.dataset(run.dataset)
    file_type, names = ("pairs_report", {"split": "train"}) if dataset.selection is None else ("selection_report", {})
    path = Path(project.layout.path(file_type, dataset=run.dataset, **names))
    pairs = read_json(path)["kept"] if path.exists() else dataset.published.pairs.get("train")
    return min((count for count in (pairs, run.sentences.train) if count is not None), default=None)


def vocabulary_sizes(project: Project, run: RunSettings) -> dict[str, int]:
    """Return the sizes of a run's vocabularies by side: those of the results folder or, before that, as configured."""
    folder = segmentation_folder(project, dataset=run.dataset, segmentation=run.segmentation.name)
    paths = {side: Path(folder) / file_name("vocabulary", side=side) for side in SIDES}
    return {side: len(read_lines(path)) if path.exists() else run.segmentation.size for side, path in paths.items()}


def kept_checkpoints(run: RunSettings) -> int:
    """Return the largest number of checkpoints that a run keeps at a time, the best one included."""
    averaged = run.training.average if run.training.keep == "average" else 1
    return averaged + NEWEST


def run_bytes(run: RunSettings, parameters: int) -> int:
    """Return the size of a trained run: its model, and its checkpoints with the optimiser's moments."""
    return parameters * BYTES_PER_NUMBER * (1 + (1 + MOMENTS) * kept_checkpoints(run))


def cost_lines(costs: Sequence[Cost], speeds: Speeds, *, free: int | None = None) -> list[str]:
    """Return a table of the costs by data set, and what there is to say about them, as lines.

    `free` is the free disk space.
    """
    unit = "GPU-hours" if speeds.device == "gpu" else "core-hours"
    names = dict.fromkeys(cost.run.dataset for cost in costs)
    rows = [("data set", "trainings", "updates", unit, "disk")]
    rows += [_row(name, [cost for cost in costs if cost.run.dataset == name]) for name in names]
    rows.append(_row("total", costs))
    width = max(len(name) for name, *_ in rows)
    lines = ["What these trainings take, as estimated, without their data:"]
    lines += [f"{name:{width}}  {own[0]:>9}  {own[1]:>14}  {own[2]:>12}  {own[3]:>11}" for name, *own in rows]
    own = f"that of {speeds.finished} finished runs of this folder, else " if speeds.finished else ""
    lines.append(f"Speed: {own}that of speeds.yaml.")
    if any(ends_by_validation(cost.run) for cost in costs):
        lines.append("<=: validations end training earlier than the limit of updates, perhaps much earlier.")
    if open_ended := sorted({cost.run.system for cost in costs if cost.updates is None}):
        lines.append(f"The updates of {', '.join(open_ended)} depend on the corpus, which is not there yet.")
    if untimed := sorted({cost.run.system for cost in costs if cost.updates and cost.seconds is None}):
        lines.append(f"speeds.yaml has no seconds per update of {', '.join(untimed)} at this scale.")
    if free is not None and free < sum(cost.disk_bytes for cost in costs):
        lines.append(f"Only {free / 1e9:,.1f} GB of disk space are free.")
    return lines


def _row(name: str, costs: Sequence[Cost]) -> tuple[str, ...]:
    """Return a row of the table: its name, trainings, updates, hours and disk space."""
    hours = sum((cost.updates or 0) * (cost.seconds or 0) for cost in costs) / 3600
    most = "<= " if any(ends_by_validation(cost.run) for cost in costs) else ""
    more = " + ?" if any(cost.updates is None or cost.seconds is None for cost in costs) else ""
    return (
        name,
        f"{len(costs):,}",
        f"{most}{sum(cost.updates or 0 for cost in costs):,}",
        f"{most}{f'{hours:,.0f}' if hours >= 10 else f'{hours:.2g}'}{more}",
        f"{sum(cost.disk_bytes for cost in costs) / 1e9:,.1f} GB",
    )
