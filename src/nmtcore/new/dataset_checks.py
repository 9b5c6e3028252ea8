"""Check a data set before its jobs start: its files, its annotators' models, and the systems that can be planned."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nmtcore.annotation.models import has_model, missing_models
from nmtcore.config.assembly import MissingAnnotation
from nmtcore.config.corpora import FileSettings
from nmtcore.config.datasets import ANNOTATORS, GOLD, DatasetSettings, ExistingSettings
from nmtcore.config.project import Project
from nmtcore.corpus.sources import FileLocation, locate_file, missing_manual
from nmtcore.errors import UserError
from nmtcore.new.survey import DatasetSurvey, add_round_trips, survey_dataset
from nmtcore.planning.annotation import parsed_sides


@dataclass(kw_only=True)
class DatasetCheck:
    """What is known about a data set before its jobs start."""

    dataset: DatasetSettings
    locations: dict[str, dict[str, list[FileLocation]]]
    """Where the files are, by corpus and role."""
    survey: DatasetSurvey
    """The text of the splits whose files are on this machine."""
    annotators: dict[str, tuple[str, str | None]]
    """Where the models of each annotator are, and what is wrong, if anything."""
    planned: list[str] = field(default_factory=list)
    """Systems that can be planned."""
    missing: dict[str, list[str]] = field(default_factory=dict)
    """Other systems by what the data set lacks for them."""
    refused: dict[str, list[str]] = field(default_factory=dict)
    """Other systems by the error of their plan."""

    @property
    def faults(self) -> list[str]:
        """One sentence for each mistake that would stop the workflow."""
        places = [place for roles in self.locations.values() for files in roles.values() for place in files]
        faults = [place.fault for place in places] + self.survey.faults
        faults += self.survey.bad_lines(self.dataset.max_bad_lines, "`max_bad_lines: {}`")
        faults += [fault for _, fault in self.annotators.values()]
        faults += [f"{fault} (This stops {len(systems)} systems.)" for fault, systems in self.refused.items()]
        return list(dict.fromkeys(fault for fault in faults if fault))


def check_dataset(project: Project, name: str, *, limit: int | None = None) -> DatasetCheck:
    """Check a data set; nothing is downloaded, and at most `limit` pairs of each split are read.

    Raises `UserError` if there is no such data set, or if its file is not valid.
    """
    dataset = project.dataset(name, where=str(project.folders[0]))
    locations = locate_corpora(project, dataset)
    survey = survey_dataset(_with_files(dataset, locations), limit=limit)
    add_round_trips(survey)
    annotators = _annotator_states(project, dataset)
    check = DatasetCheck(dataset=dataset, locations=locations, survey=survey, annotators=annotators)
    _plan_systems(project, check)
    return check


def locate_corpora(project: Project, dataset: DatasetSettings) -> dict[str, dict[str, list[FileLocation]]]:
    """Find the files of the corpora that the splits use, by corpus and role."""
    paths = project.settings.paths
    used = dict.fromkeys(part.corpus for parts in dataset.splits.values() for part in parts)
    return {
        name: {
            role: [
                locate_file(
                    file,
                    downloads=Path(paths.downloads),
                    mirror_roots=project.settings.mirrors,
                    manual_folder=Path(paths.manual),
                )
                for file in files
            ]
            for role, files in dataset.corpora[name].files.items()
        }
        for name in used
    }


def _with_files(dataset: DatasetSettings, locations: Mapping[str, Mapping[str, list[FileLocation]]]) -> DatasetSettings:
    """Return a data set whose corpora are read where they are, if all their files are on this machine."""
    corpora = {
        name: replace(
            dataset.corpora[name],
            files={
                role: tuple(
                    FileSettings(path=str(location.input.path), member=location.input.member) for location in places
                )
                for role, places in roles.items()
            },
        )
        for name, roles in locations.items()
        if all(location.input for places in roles.values() for location in places)
    }
    return replace(dataset, corpora=dataset.corpora | corpora)


def _plan_systems(project: Project, check: DatasetCheck) -> None:
    """Try to plan every system at the configured scale."""
    for system in project.system_entries:
        try:
            project.run(check.dataset.name, system, project.settings.scale, project.settings.seeds[0])
        except MissingAnnotation as error:
            check.missing.setdefault(error.missing, []).append(system)
        except UserError as error:
            check.refused.setdefault(str(error).replace(f": {system} on ", ": on "), []).append(system)
        else:
            check.planned.append(system)


def _annotator_states(project: Project, dataset: DatasetSettings) -> dict[str, tuple[str, str | None]]:
    """Say for each annotator that runs where its models are, and what is wrong, if anything.

    These are the annotators that `syntax` names, and those that are compared with a treebank.
    """
    used = dict.fromkeys(name for annotators in dataset.syntax.values() for name in annotators.values())
    if dataset.gold_annotator and any(split.startswith(GOLD) for split in dataset.splits):
        used |= dict.fromkeys(name for name in dataset.annotators if parsed_sides(dataset, name))
    return {name: _annotator_state(project, dataset, name) for name in used}


def _annotator_state(project: Project, dataset: DatasetSettings, annotator: str) -> tuple[str, str | None]:
    settings = dataset.annotators[annotator]
    tool, folders = ANNOTATORS.name_of(settings), project.settings.model_folders
    if not settings.models:
        is_existing = isinstance(settings, ExistingSettings)
        return "reads the trees of the corpus" if is_existing else f"{tool}; it is your own, and needs no model", None
    if all(has_model(model, folders, tool=tool) for model in settings.models):
        return f"{tool}; its model is here", None
    if sentences := missing_models(settings, folders, fetched=project.model_files):
        return f"{tool}; its model is missing", f"The annotator {annotator} cannot run: {sentences[0]}"
    manual, mirrors = Path(project.settings.paths.manual), project.settings.mirrors
    files = [file for model in settings.models for file in project.annotator_model(model).files]
    by_hand = [sentence for file in files if (sentence := missing_manual(file, manual, mirrors))]
    if by_hand:
        return f"{tool}; its model must be fetched by hand", f"The annotator {annotator} cannot run yet: {by_hand[0]}"
    return f"{tool}; its model is not there yet; the workflow downloads it", None
