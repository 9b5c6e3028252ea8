"""What the trainings of a plan take, before anything runs: updates, hours and disk space by data set."""

import math
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

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


@dataclass(frozen=True)
class Cost:
    """What some trainings take."""

    runs: int = 0
    updates: float = 0.0
    """The most updates; without runs in `open_ended`."""
    hours: float = 0.0
    """Device-hours of training; without runs in `untimed`."""
    disk_bytes: float = 0.0
    """Models, and the checkpoints that are kept at a time."""
    at_most: bool = False
    """Whether validations may end a training earlier."""
    open_ended: set[str] = field(default_factory=set)
    """Systems whose number of updates is unknown."""
    untimed: set[str] = field(default_factory=set)
    """Systems whose seconds per update are unknown."""

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            runs=self.runs + other.runs,
            updates=self.updates + other.updates,
            hours=self.hours + other.hours,
            disk_bytes=self.disk_bytes + other.disk_bytes,
            at_most=self.at_most or other.at_most,
            open_ended=self.open_ended | other.open_ended,
            untimed=self.untimed | other.untimed,
        )


class Speeds:
    """Seconds per update: those of the results folder's finished runs of the same scale, else those of speeds.yaml."""

    def __init__(self, project: Project, device: str) -> None:
        self.project, self.device = project, device
        self.measured = read_speeds(project.folders)
        self.finished = 0
        """Finished runs of this folder on such a device."""
        times: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        device_type, count = ("cuda", "gpus") if device == "gpu" else ("cpu", "threads")
        for path in project.layout.existing("manifest"):
            with suppress(UserError, KeyError, TypeError, ValueError, ZeroDivisionError):
                manifest = read_json(path)
                if manifest["device"]["kind"] != device_type:
                    continue
                run = project.run(*(manifest[key] for key in ("dataset", "system", "scale", "seed")))
                seconds = manifest["training"]["seconds"] * manifest["device"][count] / manifest["training"]["updates"]
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
        recipe = self.project.dataset(run.dataset).recipe
        return ("recipes", recipe) if run.scale == PAPER else ("scales", run.scale)


def planned_costs(project: Project, runs: Iterable[RunSettings], *, on_gpu: bool) -> tuple[dict[str, Cost], Speeds]:
    """Estimate what trainings take, by data set, and return the speeds that were used.

    Raises `UserError` if speeds.yaml, or a report of the results folder, is broken.
    """
    speeds, costs = Speeds(project, "gpu" if on_gpu else "cpu"), defaultdict[str, Cost](Cost)
    for run in runs:
        updates, seconds = run_updates(run, training_pairs(project, run)), speeds.seconds(run)
        costs[run.dataset] += Cost(
            runs=1,
            updates=updates or 0,
            hours=(updates or 0) * (seconds or 0) / 3600,
            disk_bytes=run_bytes(run, run.parameter_count(vocabulary_sizes(project, run))),
            at_most=ends_by_validation(run),
            open_ended={run.system} if updates is None else set(),
            untimed={run.system} if updates and seconds is None else set(),
        )
    return dict(costs), speeds


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


def cost_lines(costs: dict[str, Cost], speeds: Speeds, *, free: int | None = None) -> list[str]:
    """Return a table of the costs, and what there is to say about them, as lines; `free` is the free disk space."""
    total = sum(costs.values(), start=Cost())
    unit = "GPU-hours" if speeds.device == "gpu" else "core-hours"
    rows = [("data set", "trainings", "updates", unit, "disk")]
    for name, cost in (*costs.items(), ("total", total)):
        most, more = "<= " if cost.at_most else "", " + ?" if cost.open_ended or cost.untimed else ""
        hours = f"{cost.hours:,.0f}" if cost.hours >= 10 else f"{cost.hours:.2g}"
        disk = f"{cost.disk_bytes / 1e9:,.1f} GB"
        rows.append((name, f"{cost.runs:,}", f"{most}{cost.updates:,.0f}", f"{most}{hours}{more}", disk))
    width = max(len(name) for name, *_ in rows)
    lines = ["What these trainings take, as estimated, without their data:"]
    lines += [f"{name:{width}}  {own[0]:>9}  {own[1]:>14}  {own[2]:>12}  {own[3]:>11}" for name, *own in rows]
    own = f"that of {speeds.finished} finished runs of this folder, else " if speeds.finished else ""
    lines.append(f"Speed: {own}that of speeds.yaml.")
    if total.at_most:
        lines.append("<=: validations end training earlier than the limit of updates, perhaps much earlier.")
    if total.open_ended:
        lines.append(
            f"The updates of {', '.join(sorted(total.open_ended))} depend on the corpus, which is not there yet."
        )
    if total.untimed:
        lines.append(f"speeds.yaml has no seconds per update of {', '.join(sorted(total.untimed))} at this scale.")
    if free is not None and free < total.disk_bytes:
        lines.append(f"Only {free / 1e9:,.1f} GB of disk space are free.")
    return lines
