"""Inputs of the import of external translations, and the systems that it makes."""

import os
from collections.abc import Sequence

from nmtcore.config.corpora import PartSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.formats import DemoOptions, corpus_options
from nmtcore.config.own_folder import file_state, own_file_states
from nmtcore.config.project import Project
from nmtcore.config.runs import RunSettings
from nmtcore.config.stages import ReadingSettings
from nmtcore.corpus.text_lines import read_aligned_lines
from nmtcore.files import read_json


def translation_files(project: Project, *, run: RunSettings) -> list[str]:
    """List the files of an external run's translations, one per test.

    Raises `UserError` if one is no text, or has not one line per pair of its split. If only reading the corpus tells
    the number of pairs, the import compares it.
    """
    data = project.dataset(run.dataset)
    for split, path in run.external.items():
        count, counted_in = _pair_count(project, data, split)
        read_aligned_lines(path, count=count, split=f"the split {split} of {data.name} ({counted_in})")
    return list(run.external.values())


def raw_reports(project: Project, *, run: RunSettings) -> list[str]:
    """List the reports on reading the tests of a run, which have their numbers of pairs."""
    return [project.layout.path("raw_report", dataset=run.dataset, split=split) for split in run.tests]


def translation_states(run: RunSettings) -> dict[str, str]:
    """Return the states of the files of an external run's translations, which are imported again when one changes."""
    return {path: file_state(path) for path in run.external.values()}


def external_notes(project: Project, *, runs: list[RunSettings]) -> dict[str, str]:
    """Return what is known of the origin of the external systems' translations, and their missing seeds, by system."""
    names: dict[str, list[str]] = {}
    for dataset, system in dict.fromkeys((run.dataset, run.system) for run in runs if run.external is not None):
        names.setdefault(system, []).extend(missing_seed_notes(project, dataset=dataset, system=system))
    return {name: ". ".join([project.system(name).external.source_note, *notes]) for name, notes in names.items()}


def missing_seed_notes(project: Project, *, dataset: str, system: str) -> list[str]:
    """Write a sentence if an external system has no translations of a data set for some of the configured seeds."""
    seeds = project.seeds(dataset, system)
    missing = [seed for seed in project.settings.seeds if seed not in seeds]
    return [missing_seeds_sentence(dataset, system, missing)] if missing else []


def missing_seeds_sentence(dataset: str, system: str, missing: Sequence[int]) -> str:
    """Name the seeds that an external system has no translations of a data set for."""
    seeds = f"seed{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing))}"
    return f"{system} has no external translations of {dataset} for {seeds}: its scores lack them."


def trained_pattern(project: Project) -> str:
    """Return the regular expression of the wildcard `system` for systems that are trained here."""
    names, any_system = "|".join(project.systems.external), project.layout.constraints["system"]
    return f"(?!(?:{names})/){any_system}" if names else any_system


def external_pattern(project: Project) -> str:
    """Return the regular expression of the wildcard `system` for external systems; it matches nothing without any."""
    return f"(?:{'|'.join(project.systems.external) or '(?!)'})"


def _pair_count(project: Project, data: DatasetSettings, split: str) -> tuple[int | None, str]:
    """Return the number of pairs of a split before any is dropped, and the file that says so; None if it is unknown.

    It is known if the data set names first and last rows or the size of a sample, if its corpora are generated, or if
    the split has been read since its files changed.
    """
    sizes = [_part_size(data, part) for part in data.splits[split]]
    if all(sizes):
        return sum(sizes), str(project.dataset_files[data.name])
    report = project.layout.path("raw_report", dataset=data.name, split=split)
    if not os.path.exists(report):
        return None, report
    files = own_file_states(ReadingSettings.of(data, split))
    changed = any(os.path.getmtime(file) > os.path.getmtime(report) for file in files)
    return None if changed else read_json(report)["pairs"], report


def _part_size(data: DatasetSettings, part: PartSettings) -> int | None:
    """Return the number of rows of a part of a corpus; None if only reading it tells."""
    if part.sample:
        return part.sample
    corpus = data.corpora[part.corpus]
    options = corpus_options(corpus.format, corpus.options, corpus.files, where=f"{data.name}, {part.corpus}")
    last = part.last or (options.pairs if isinstance(options, DemoOptions) else None)
    return last and last - part.first + 1
