"""What training a run takes: updates, hours of training, validation and translation, disk space."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from nmtcore.config.planned_costs import Estimate, PlannedCost, estimated
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.speeds import DeviceSettings
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.planning.device_speeds import FinishedRun, TrainingSpeeds, search_share
from nmtcore.planning.known_sizes import KnownSizes
from nmtcore.planning.model_sizes import (
    Operations,
    operations_of,
    run_bytes,
    vocabulary_sizes,
)

FORWARD, TRAINING = 2, 6
"""Operations per weight and position: of a forward pass, and of forward and backward passes."""


def run_updates(run: RunSettings, *, pairs: int | None, subwords: float | None) -> float | None:
    """Return the largest number of updates of a run; None if it is unknown.

    Args:
        run: the run.
        pairs: sentence pairs of the training split.
        subwords: mean subwords of a sentence.
    """
    batch, limits = run.training.batch, [run.training.max_updates]
    if run.training.max_epochs is not None and pairs is not None and (run.treebank is None or run.treebank.pairs):
        size = pairs if batch.unit == "sentences" else None if subwords is None else pairs * subwords
        limits.append(None if size is None else run.training.max_epochs * math.ceil(size / batch.size))
    return min((limit for limit in limits if limit is not None), default=None)


def ends_by_validation(run: RunSettings) -> bool:
    """Return whether validations can end training before its largest number of updates."""
    training = run.training
    stops = training.validation.stop_after is not None or training.schedule.stop_at_floor
    return stops or (training.schedule.kind == "halving" and training.schedule.stop_after is not None)


@dataclass
class RunCosts:
    """Estimates the cost of runs on a device."""

    project: Project
    device: DeviceSettings
    sizes: KnownSizes

    def of(self, run: RunSettings) -> PlannedCost:
        """Estimate the cost of a run that is not trained yet."""
        sizes = vocabulary_sizes(self.project, run)
        parameters = run.parameter_count(sizes)
        disk = Estimate(value=run_bytes(run, parameters))
        pairs = self.sizes.used_pairs(run, "train") if run.training.max_epochs is not None else None
        updates = run_updates(run, pairs=pairs, subwords=self.sizes.subwords_per_sentence)
        if updates is None:
            self.sizes.note_unknown(f"the updates of {run.system} on {run.dataset}")
            return PlannedCost(updates=estimated(None), training_hours=estimated(None), disk_bytes=disk)
        hours = self.training_hours(run, updates)
        return PlannedCost(
            updates=estimated(updates, at_most=ends_by_validation(run)), training_hours=hours, disk_bytes=disk
        )

    def training_hours(self, run: RunSettings, updates: float) -> Estimate:
        """Return the hours of training, validation and translation; of their unknown ones, only the number."""
        work = _Work(run, self._operations(run), self.device, self.sizes)
        if work.update is None:
            return estimated(None)
        others = [work.validations(updates), *(work.search(split, beam=run.decoding.beam) for split in run.tests)]
        known = sum(operations for operations in others if operations is not None)
        seconds = self.speeds.seconds(run, updates=updates, operations=updates * work.update + known)
        if seconds is None:
            self.sizes.note_unknown(f"the speed of {run.base} models on {self.device.description}")
            return estimated(None)
        hours = (seconds + self.device.seconds_per_run) / 3600
        return Estimate(value=hours, unknown=others.count(None), at_most=ends_by_validation(run))

    @cached_property
    def speeds(self) -> TrainingSpeeds:
        """The speeds of the results folder's finished runs, and those of the device."""
        return TrainingSpeeds.of(self.device, self._finished_runs())

    def _operations(self, run: RunSettings) -> Operations:
        return operations_of(run, sizes=vocabulary_sizes(self.project, run))

    def _finished_runs(self) -> Iterator[FinishedRun]:
        """Yield the finished runs on devices of this type that the configuration still has.

        What is unknown about them is no part of the plan, and not noted.
        """
        device_type, count = ("cuda", "gpus") if self.device.device == "gpu" else ("cpu", "threads")
        sizes = replace(self.sizes, unknown={})
        for path in self.project.layout.existing("manifest"):
            with suppress(UserError, KeyError, TypeError, ValueError):
                manifest = read_json(path)
                device, training = manifest["device"], manifest["training"]
                if device["kind"] != device_type:
                    continue
                run = self.project.run(*(manifest[key] for key in ("dataset", "system", "scale", "seed")))
                work = _Work(run, self._operations(run), self.device, sizes)
                operations = training["updates"] * work.update + work.validations(training["updates"])
                seconds = float(training["seconds"]) * device[count]
                if seconds > 0:
                    yield FinishedRun(run=run, device=device["name"], seconds=seconds, operations=operations)


@dataclass(frozen=True)
class _Work:
    """The operations of a run's jobs; None if they are unknown."""

    run: RunSettings
    operations: Operations
    device: DeviceSettings
    sizes: KnownSizes

    @property
    def update(self) -> float | None:
        """Those of an update. A batch is counted as full of subwords, on both sides."""
        batch, treebank = self.run.training.batch, self.run.treebank
        unit = self.sizes.subwords(1) if batch.unit == "sentences" else 1.0
        if unit is None:
            return None
        pairs = batch.size * sum(self.operations) if treebank is None or treebank.pairs else 0
        sentences = 0 if treebank is None else (treebank.size or batch.size) * self.operations.source
        return TRAINING * unit * (pairs + sentences)

    def validations(self, updates: float) -> float | None:
        """Those of all validations: perplexity and, for validation by BLEU, a search."""
        settings = self.run.training.validation
        tokens = self.sizes.subwords(self.sizes.used_pairs(self.run, "dev"))
        if tokens is None:
            return None
        search = self.search("dev", beam=settings.beam) if settings.metric == "bleu" else 0
        return updates // settings.every * (FORWARD * tokens * sum(self.operations) + search)

    def search(self, split: str, *, beam: int) -> float | None:
        """Those of translating a split, more by as much as search is slower than training."""
        tokens = self.sizes.subwords(self.sizes.used_pairs(self.run, split))
        if tokens is None:
            return None
        return (
            FORWARD
            * tokens
            * (self.operations.source + beam * self.operations.target)
            / search_share(self.device, self.run)
        )
