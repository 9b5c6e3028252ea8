"""What the runs and data of tables take, before anything runs: updates, hours of training and annotation, disk."""

import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.corpora import PartSettings
from nmtcore.config.formats import DemoOptions, corpus_options
from nmtcore.config.planned_costs import Estimate, PlannedCost, PlannedCosts, estimated
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.speeds import DeviceSettings, SpeedsSettings, read_speeds
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.layout import PAPER, ParsedPath
from nmtcore.planning.annotation import annotator_of, selection_annotations
from nmtcore.planning.device_speeds import FinishedRun, TrainingSpeeds
from nmtcore.planning.model_sizes import (
    label_sizes,
    operations_of,
    parameter_count_of,
    run_bytes,
    vocabulary_sizes,
)
from nmtcore.planning.paper_tables import paper_table_inputs
from nmtcore.planning.runs import feature_files, pair_files, tree_files

OTHER_RUNS = "other runs"
"""The name of the row of runs that no table of a paper needs."""

FORWARD, TRAINING = 2, 6
"""Operations per weight and position: of a forward pass, and of forward and backward passes."""


def planned_costs(
    project: Project,
    *,
    tables: Iterable[str],
    others: Iterable[RunSettings] = (),
    on_gpu: bool,
    is_there: Callable[[str], bool] = os.path.exists,
) -> PlannedCosts:
    """Estimate what tables of the papers and other runs take.

    Each run, and each file of data, counts in the first row that needs it. Tables that need neither have no row.
    `is_there` says of the path of a model or a file of data whether it need not be made.
    """
    speeds = read_speeds(project.folders)
    device = speeds.devices[speeds.gpu if on_gpu else speeds.cpu]
    return _Costs(project, speeds, device, is_there).of(tables, others)


def model_path(project: Project, run: RunSettings) -> str:
    """Return the path of a run's model."""
    names = {"scale": run.scale, "dataset": run.dataset, "system": run.system, "seed": run.seed}
    return project.layout.path("model", **names)


def sentence_pairs(project: Project, dataset: str, split: str) -> int | None:
    """Return the number of pairs of a split: as counted in the results folder or, before that, at most.

    That is the smaller one of the published and the configured number; None if neither is known.
    """
    layout, settings = project.layout, project.dataset(dataset)
    reports = [layout.path("pairs_report", dataset=dataset, split=split)]
    if split == "train" and settings.selection is not None:
        reports = [layout.path("selection_report", dataset=dataset)]
    for path in map(Path, reports):
        if path.exists():
            return read_json(path)["kept"]
    counts = [_part_pairs(project, dataset, part) for part in settings.splits[split]]
    known = [settings.published.pairs.get(split), None if None in counts else sum(counts)]
    return min((count for count in known if count is not None), default=None)


def _part_pairs(project: Project, dataset: str, part: PartSettings) -> int | None:
    corpus = project.dataset(dataset).corpora[part.corpus]
    options = corpus_options(corpus.format, corpus.options, corpus.files, where=f"{dataset}, {part.corpus}")
    last = part.last or (options.pairs if isinstance(options, DemoOptions) else None)
    rows = None if last is None else last - part.first + 1
    return part.sample if rows is None else min(rows, part.sample or rows)


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
class _Costs:
    project: Project
    speeds: SpeedsSettings
    device: DeviceSettings
    is_there: Callable[[str], bool]
    counted: set[str] = field(default_factory=set)
    """The models and files that rows count."""
    finished: set[str] = field(default_factory=set)
    """The models of finished runs."""
    unknown: dict[str, None] = field(default_factory=dict)
    """What is unknown, in the order of its first use."""

    def of(self, tables: Iterable[str], others: Iterable[RunSettings]) -> PlannedCosts:
        """Estimate a row per table, one for the other runs, and their sum."""
        rows = [self._row(name, *self._table_needs(name)) for name in tables]
        own = [run for run in others if model_path(self.project, run) not in self.counted]
        rows.append(self._row(OTHER_RUNS, own, []))
        rows = [row for row in rows if row.runs or row.disk_bytes != Estimate()]
        total = self._total(rows)
        hours = "GPU-hours" if self.device.device == "gpu" else "core-hours"
        return PlannedCosts(rows=tuple(rows), total=total, hours=hours, notes=tuple(self._notes(total.updates.at_most)))

    def _total(self, rows: list[PlannedCost]) -> PlannedCost:
        """Return the sum of the rows, with each run once."""
        total = sum(rows, start=PlannedCost(name="total"))
        finished = len(self.finished)
        return replace(total, runs=finished + sum(row.new for row in rows), finished=finished, counted=0)

    def _table_needs(self, name: str) -> tuple[list[RunSettings], list[str]]:
        """Return the runs and the other files that a table is made from."""
        runs: dict[str, RunSettings] = {}
        files: list[str] = []
        for path in paper_table_inputs(self.project, paper_table=name):
            parsed = self.project.layout.parse(path)
            if parsed is not None and "seed" in parsed.names:
                for run in self._with_starts(_run_at(self.project, parsed)):
                    runs.setdefault(model_path(self.project, run), run)
            else:
                files.append(path)
        return [run for run in runs.values() if run.external is None], files

    def _with_starts(self, run: RunSettings) -> Iterator[RunSettings]:
        """Yield a run after those whose models it starts from."""
        if run.start_from is not None:
            yield from self._with_starts(self.project.run(run.dataset, run.start_from, run.scale, run.seed))
        yield run

    def _row(self, name: str, runs: list[RunSettings], files: list[str]) -> PlannedCost:
        finished = counted = 0
        cost = PlannedCost(name=name, runs=len(runs))
        data = dict.fromkeys(files)
        for run in runs:
            model = model_path(self.project, run)
            if self.is_there(model):
                self.finished.add(model)
                finished += 1
            elif self._is_new(model):
                cost += self._run_cost(run)
                data |= dict.fromkeys(self._run_files(run))
            else:
                counted += 1
        for path in data:
            cost += self._file_cost(path)
        return cost + PlannedCost(finished=finished, counted=counted)

    def _is_new(self, path: str) -> bool:
        """Return whether no row counts a path yet; from now on one does."""
        new = path not in self.counted
        self.counted.add(path)
        return new

    def _run_files(self, run: RunSettings) -> Iterator[str]:
        """Yield the files of data that a run reads, treebanks included."""
        yield from selection_annotations(self.project, dataset=run.dataset)
        for splits in ("training_splits", "tests"):
            yield from feature_files(self.project, run=run, splits=splits)
            yield from pair_files(self.project, run=run, splits=splits)
        yield from tree_files(self.project, run=run, splits="parsed_tests")

    def _file_cost(self, path: str) -> PlannedCost:
        """Return the cost of a file of data and of the files it is made from; other files cost nothing."""
        parsed = self.project.layout.parse(path)
        if parsed is None or parsed.file_type not in _FILES or self.is_there(path) or not self._is_new(path):
            return PlannedCost()
        if parsed["split"] in self.project.dataset(parsed["dataset"]).treebanks:
            return PlannedCost()
        names = {key: parsed[key] for key in ("dataset", "split")}
        pairs = self._pairs(**names)
        hours = Estimate()
        cost = PlannedCost()
        if parsed.file_type == "annotation":
            hours = self._annotation_hours(parsed, pairs)
            cost += self._file_cost(self.project.layout.path("pairs", **names))
        elif parsed.file_type in ("syntax", "linearised"):
            annotation = {**names, "annotator": parsed["annotator"], "side": parsed.names.get("side", "source")}
            cost += self._file_cost(self.project.layout.path("annotation", **annotation))
        size = _FILES[parsed.file_type] * getattr(self.speeds.bytes_per_subword, _SIZES[parsed.file_type])
        tokens = self._subwords(pairs)
        return cost + PlannedCost(
            annotation_hours=hours, disk_bytes=estimated(None if tokens is None else tokens * size)
        )

    def _annotation_hours(self, parsed: ParsedPath, pairs: int | None) -> Estimate:
        settings = annotator_of(self.project, dataset=parsed["dataset"], annotator=parsed["annotator"])
        tool = ANNOTATORS.name_of(settings)
        language = self.project.dataset(parsed["dataset"]).language(parsed["side"])
        makes = {getattr(settings, key, None) for key in ("analysis", "tags")} - {None}
        for speed in self.speeds.annotation:
            fits = speed.language in (None, language) and (speed.analysis is None or speed.analysis in makes)
            if speed.tool == tool and fits:
                return estimated(None if pairs is None else pairs / speed.sentences_per_second / 3600)
        self.unknown[f"the speed of {tool} ({language})"] = None
        return estimated(None)

    def _run_cost(self, run: RunSettings) -> PlannedCost:
        sizes = vocabulary_sizes(self.project, run)
        parameters = parameter_count_of(run, sizes=sizes, labels=label_sizes(self.project, run))
        updates = self._updates(run)
        disk = Estimate(value=run_bytes(run, parameters))
        if updates is None:
            self.unknown[f"the updates of {run.system} on {run.dataset}"] = None
            return PlannedCost(updates=estimated(None), training_hours=estimated(None), disk_bytes=disk)
        return PlannedCost(
            updates=estimated(updates, at_most=ends_by_validation(run)),
            training_hours=self._training_hours(run, updates),
            disk_bytes=disk,
        )

    def _updates(self, run: RunSettings) -> float | None:
        pairs = self._used_pairs(run, "train") if run.training.max_epochs is not None else None
        return run_updates(run, pairs=pairs, subwords=self.speeds.subwords_per_sentence)

    def _training_hours(self, run: RunSettings, updates: float) -> Estimate:
        """Return the hours of training, validation and translation; of their unknown ones, only the number."""
        training = self._update_operations(run)
        if training is None:
            return estimated(None)
        validations = updates // run.training.validation.every
        others = [self._validation_operations(run), *(self._translation_operations(run, split) for split in run.tests)]
        times = [validations, *(1 for _ in run.tests)]
        known = sum(count * each for count, each in zip(times, others, strict=True) if each is not None)
        seconds = self.own_speeds.seconds(run, updates=updates, operations=updates * training + known)
        if seconds is None:
            self.unknown[f"the speed of {run.base} models on {self.device.description}"] = None
            return estimated(None)
        hours = (seconds + self.device.seconds_per_run) / 3600
        return Estimate(value=hours, unknown=others.count(None), at_most=ends_by_validation(run))

    def _update_operations(self, run: RunSettings) -> float | None:
        """Return the operations of an update; None if they are unknown.

        A batch is counted as full of subwords, on both sides.
        """
        operations = operations_of(run, sizes=vocabulary_sizes(self.project, run))
        batch = run.training.batch
        unit = self._subwords(1) if batch.unit == "sentences" else 1.0
        if unit is None:
            return None
        per_update = 0.0
        if run.treebank is None or run.treebank.pairs:
            per_update += TRAINING * unit * batch.size * sum(operations)
        if run.treebank is not None:
            per_update += TRAINING * unit * (run.treebank.size or batch.size) * operations.source
        return per_update

    def _validation_operations(self, run: RunSettings) -> float | None:
        """Return the operations of one validation: perplexity and, if it is by BLEU, a search."""
        tokens = self._subwords(self._used_pairs(run, "dev"))
        if tokens is None:
            return None
        operations = operations_of(run, sizes=vocabulary_sizes(self.project, run))
        perplexity = FORWARD * tokens * sum(operations)
        if run.training.validation.metric != "bleu":
            return perplexity
        return perplexity + self._search_operations(run, "dev", beam=run.training.validation.beam)

    def _translation_operations(self, run: RunSettings, split: str) -> float | None:
        """Return the operations of translating a test, with the beam of the run."""
        return self._search_operations(run, split, beam=run.decoding.beam)

    def _search_operations(self, run: RunSettings, split: str, *, beam: int) -> float | None:
        """Return the operations of translating a split, more by as much as search is slower than training."""
        tokens = self._subwords(self._used_pairs(run, split))
        if tokens is None:
            return None
        operations = operations_of(run, sizes=vocabulary_sizes(self.project, run))
        return FORWARD * tokens * (operations.source + beam * operations.target) / self.device.search

    def _used_pairs(self, run: RunSettings, split: str) -> int | None:
        """Return the pairs of a split that a run uses, at most."""
        most, pairs = run.sentences.of(split), self._pairs(run.dataset, split)
        return pairs if most is None else most if pairs is None else min(most, pairs)

    def _pairs(self, dataset: str, split: str) -> int | None:
        pairs = sentence_pairs(self.project, dataset, split)
        if pairs is None:
            self.unknown[f"the size of {dataset}, {split}"] = None
        return pairs

    def _subwords(self, pairs: int | None) -> float | None:
        """Return the subwords of one side of some pairs."""
        mean = self.speeds.subwords_per_sentence
        if mean is None:
            self.unknown["the length of sentences"] = None
        return None if pairs is None or mean is None else pairs * mean

    @cached_property
    def own_speeds(self) -> TrainingSpeeds:
        """The speeds of the results folder's finished runs, and those of the device."""
        return TrainingSpeeds.of(self.device, self._finished_runs())

    def _finished_runs(self) -> Iterator[FinishedRun]:
        """Yield the finished runs on devices of this type that the configuration still has."""
        device_type, count = ("cuda", "gpus") if self.device.device == "gpu" else ("cpu", "threads")
        unknown = dict(self.unknown)
        for path in self.project.layout.existing("manifest"):
            with suppress(UserError, KeyError, TypeError, ValueError):
                manifest = read_json(path)
                device, training = manifest["device"], manifest["training"]
                if manifest["status"] == "interrupted" or device["kind"] != device_type:
                    continue
                run = self.project.run(*(manifest[key] for key in ("dataset", "system", "scale", "seed")))
                update, validation = self._update_operations(run), self._validation_operations(run)
                seconds = float(training["seconds"]) * device[count]
                if update is not None and validation is not None and seconds > 0:
                    validations = training["updates"] // run.training.validation.every
                    operations = training["updates"] * update + validations * validation
                    yield FinishedRun(run=run, device=device["name"], seconds=seconds, operations=operations)
        self.unknown = unknown  # what these runs lack is not part of the plan

    def _notes(self, at_most: bool) -> Iterator[str]:
        if at_most:
            yield "<=: validations end training earlier than the limit of updates, perhaps much earlier."
        yield from self.own_speeds.sentences()
        if self.device.device == "cpu" and self.project.settings.scale == PAPER:
            gpu = self.speeds.devices[self.speeds.gpu].description
            yield f"GPU-hours ({gpu}, by speeds.yaml): --config device=cuda."
        yield "Left out: downloads, treebanks, translations, preparation but annotation, tables; batches count as full."
        if self.speeds.subwords_per_sentence is not None:
            yield f"Assumed: {self.speeds.subwords_per_sentence:g} subwords per sentence (speeds.yaml)."
        if self.unknown:
            yield f"Unknown (+ ?): {'; '.join(self.unknown)}."


_FILES = {"pairs": 2, "annotation": 1, "tokens": 1, "syntax": 1, "linearised": 2}
"""File types of data whose size is counted, and a factor of the size: pairs are there before and after the filters,
and a linearised parse is about twice as long as the sentence."""
_SIZES = {"pairs": "corpus", "annotation": "annotation", "tokens": "tokens", "syntax": "syntax", "linearised": "tokens"}
"""The key of each type in `bytes_per_subword`."""


def _run_at(project: Project, parsed: ParsedPath) -> RunSettings:
    """Return the run that a path belongs to."""
    return project.run(parsed["dataset"], parsed["system"], parsed["scale"], int(parsed["seed"]))
