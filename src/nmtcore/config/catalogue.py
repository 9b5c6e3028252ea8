"""The files of a configuration, by name: scales, recipes, data sets, corpora, models and systems."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nmtcore.config.annotator_models import AnnotatorModelSettings
from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.assembly import check_levels, compose_system
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import METRIC_NAMES, DatasetSettings
from nmtcore.config.external import with_absolute_paths
from nmtcore.config.files import Level, NamedFiles, lineage, misnamed, named_entries, named_files
from nmtcore.config.filters import FILTERS
from nmtcore.config.formats import corpus_options
from nmtcore.config.recipes import RecipeSettings, ScaleSettings
from nmtcore.config.systems import SystemSettings
from nmtcore.config.typed import build, choose, merge, shown_value
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError, quoted
from nmtcore.layout import NAME, RESERVED, SELECTION, STAGES


@dataclass(frozen=True, kw_only=True)
class SystemEntries:
    """The content of the files in `systems/`."""

    entries: dict[str, tuple[Path, dict[str, Any]]] = field(default_factory=dict)
    """The file and the keys of every readable system, by name."""
    faults: list[str] = field(default_factory=list)
    """One sentence for each file or system that cannot be read."""

    @property
    def external(self) -> list[str]:
        """The names of the systems whose translations come from files."""
        return [name for name, (_, keys) in self.entries.items() if keys.get("external") is not None]

    def check(self, name: str, *, where: str) -> str:
        """Return the name. Raises `UserError` if there is no such system; it also lists the faults."""
        try:
            return choose(name, self.entries, noun="system", where=where)
        except UserError as error:
            if not self.faults:
                raise
            raise UserError(" ".join([str(error), "Not read:", *self.faults])) from error


class Catalogue:
    """The files of a configuration in one or more folders; if several have a file, the first wins."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(dict.fromkeys(Path(folder) for folder in folders))
        self._datasets: dict[str, DatasetSettings] = {}
        self._lineages: dict[str, tuple[Level, ...]] = {}
        self._systems: dict[str, tuple[Level, ...]] = {}
        self._layers: dict[Path, RecipeSettings] = {}

    @cached_property
    def scale_files(self) -> NamedFiles:
        """The scales by name."""
        return named_files(self.folders, "scales", noun="scale")

    @cached_property
    def recipe_files(self) -> NamedFiles:
        """The recipes by name."""
        return named_files(self.folders, "recipes", noun="recipe")

    @property
    def scale_names(self) -> list[str]:
        """The names of the scales."""
        return sorted(self.scale_files)

    @cached_property
    def dataset_files(self) -> NamedFiles:
        """The data sets by name, except those named like a scale or a folder of results."""
        files = named_entries(self.folders, "datasets", noun="data set")
        taken = {
            name: f"{path}: '{name}' is also the name of a scale or of a folder in results/: rename it."
            for name, path in files.items()
            if name in self.scale_files or name in RESERVED
        }
        return NamedFiles(files, files.unread | taken, noun="data set")

    @cached_property
    def systems(self) -> SystemEntries:
        """The entries of the systems, and the faults in their files."""
        files = named_files(self.folders, "systems", noun="file of systems")
        systems = _read_systems(files.values(), pattern=NAME, reserved=STAGES)
        return replace(systems, faults=[*files.unread.values(), *systems.faults])

    @property
    def faults(self) -> list[str]:
        """One sentence for each file that is not read: for its name or, if it may define systems, for its content."""
        unread = [misnamed(self.folders, subfolder) for subfolder in ("corpora", "models", "recipes", "scales")]
        unread.append(self.dataset_files.unread)
        own_code = [*COMPONENTS.own_faults, *ANNOTATORS.own_faults, *FILTERS.own_faults, *METRIC_NAMES.own_faults]
        return [*self.systems.faults, *(sentence for files in unread for sentence in files.values()), *own_code]

    @property
    def system_entries(self) -> dict[str, tuple[Path, dict[str, Any]]]:
        """The entry of each system by name, and its file."""
        return self.systems.entries

    def scale(self, name: str, *, where: str = "the target") -> ScaleSettings:
        """Read a scale."""
        self.scale_files.check(name, where=where)
        return self._read(ScaleSettings, self.scale_files[name])

    def recipe(self, name: str, *, where: str) -> RecipeSettings:
        """Read a recipe."""
        self.recipe_files.check(name, where=where)
        return self._read(RecipeSettings, self.recipe_files[name])

    def _read(self, cls: type[RecipeSettings], path: Path) -> Any:
        if path not in self._layers:
            self._layers[path] = build(cls, read_yaml(path), where=str(path))
        return self._layers[path]

    def dataset(self, name: str, *, where: str = "the target") -> DatasetSettings:
        """Read a data set, including the data sets that it extends."""
        if name not in self._datasets:
            self.dataset_files.check(name, where=where)
            path, values = self.dataset_files[name], merge(*(level.keys for level in self._dataset_levels(name)))
            self._datasets[name] = full_form(name, values, self.corpus_files, where=str(path))
            _check_names(self._datasets[name], self.dataset_files, where=str(path))
        return self._datasets[name]

    def _dataset_levels(self, name: str) -> tuple[Level, ...]:
        if name not in self._lineages:
            files = self.dataset_files
            self._lineages[name] = lineage(name, lambda n: (files[n], read_with_paths(files, n)), files.check)
        return self._lineages[name]

    @cached_property
    def corpus_files(self) -> NamedFiles:
        """The corpora shared by data sets, by name."""
        return named_entries(self.folders, "corpora", noun="corpus")

    @cached_property
    def model_files(self) -> NamedFiles:
        """The models of annotators that the workflow can download, by name."""
        return named_entries(self.folders, "models", noun="model")

    def annotator_model(self, name: str, *, where: str = "the target") -> AnnotatorModelSettings:
        """Read the download settings of an annotator's model."""
        self.model_files.check(name, where=where)
        path = self.model_files[name]
        return build(AnnotatorModelSettings, {**self.model_files.read(name), "name": name}, where=str(path))

    def system(self, name: str, dataset: str | None = None, *, where: str = "the target") -> SystemSettings:
        """Compose a system and the systems that it extends, for a data set or, if None, without any `per_dataset`."""
        if name not in self._systems:
            entries = self.system_entries
            self.systems.check(name, where=where)
            levels = lineage(name, entries.__getitem__, self.systems.check)
            check_levels(levels)
            for level in levels:
                for special_dataset in level.keys.get("per_dataset", ()):
                    self.dataset_files.check(special_dataset, where=f"{level.where}: per_dataset")
                for translated in (level.keys.get("external") or {}).get("translations", ()):
                    self.dataset_files.check(translated, where=f"{level.where}: external: translations")
            self._systems[name] = levels
        datasets = [] if dataset is None else [level.name for level in reversed(self._dataset_levels(dataset))]
        return compose_system(self._systems[name], datasets)


def _read_systems(paths: Iterable[Path], *, pattern: str, reserved: Iterable[str]) -> SystemEntries:
    """Read files of systems, whose names must match `pattern` and must not be `reserved`.

    Files and entries that cannot be read become faults of the result. Raises `UserError` if two files define the same
    system.
    """
    systems = SystemEntries()
    for path in paths:
        try:
            values = read_yaml(path)
        except UserError as error:
            systems.faults.append(str(error))
            continue
        for name, entry in values.items():
            if name in systems.entries:
                raise UserError(
                    f"{path}: the system '{name}' is also defined in {systems.entries[name][0]}: rename one of them."
                )
            fault = _fault(name, entry, pattern, reserved)
            if fault:
                systems.faults.append(f"{path}: {fault}")
            else:
                systems.entries[name] = (path, with_absolute_paths(entry, path))
    return systems


def _fault(name: str, entry: Any, pattern: str, reserved: Iterable[str]) -> str | None:
    if not re.fullmatch(pattern, name) or name in reserved:
        return (
            f"'{name}' cannot be a system's name: use small letters, digits and single underscores, begin with a "
            f"letter, and avoid {', '.join(reserved)}."
        )
    if not isinstance(entry, Mapping):
        return f"{name}: expected keys and values, found {shown_value(entry)}."
    return None


def read_with_paths(files: NamedFiles, name: str) -> dict[str, Any]:
    """Read a data set or a corpus and make every `path` in it absolute.

    The path alone, as a string, is a valid entry. Relative paths start at the folder that holds `datasets`, `corpora`
    and `models`; `~` is the home folder.
    """
    values, path = files.read(name), files[name]
    folder = path.parent.parent
    if isinstance(values.get("corpora"), Mapping):
        values["corpora"] = {name: _resolve_corpus(corpus, folder, path) for name, corpus in values["corpora"].items()}
    return _resolve_corpus(values, folder, path)


def _resolve_corpus(corpus: Any, folder: Path, path: Path) -> Any:
    if not isinstance(corpus, Mapping) or not isinstance(corpus.get("files"), Mapping):
        return corpus
    return {**corpus, "files": {role: _resolve_entry(entry, folder, path) for role, entry in corpus["files"].items()}}


def _resolve_entry(entry: Any, folder: Path, path: Path) -> Any:
    if isinstance(entry, list):
        return [_resolve_entry(file, folder, path) for file in entry]
    if isinstance(entry, str):
        entry = {"path": entry}
    if not isinstance(entry, Mapping) or not isinstance(entry.get("path"), str):
        return entry
    if "://" in entry["path"]:
        raise UserError(
            f"{path}: '{entry['path']}' is an address, not a path: write {{name: ..., url: {entry['path']}}}."
        )
    if not entry["path"].strip():
        raise UserError(f"{path}: a file's `path` is empty.")
    return {**entry, "path": os.path.abspath(folder / os.path.expanduser(entry["path"]))}


def full_form(name: str, values: Mapping[str, Any], shared: NamedFiles, *, where: str) -> DatasetSettings:
    """Build the settings of a data set from its file.

    If the splits name a corpus that `corpora` does not define, it is read from the `shared` corpora. A null for a key,
    a split, a corpus, an annotator, or for a side or an annotation in `syntax` drops the extended data set's value.
    """
    values = _without_nulls(values) | {"name": name}
    for key in ("corpora", "annotators", "syntax"):
        if isinstance(values.get(key), Mapping):
            values[key] = _without_nulls(values[key])
    if isinstance(values.get("syntax"), Mapping):
        values["syntax"] = {
            side: _without_nulls(annotators) if isinstance(annotators, Mapping) else annotators
            for side, annotators in values["syntax"].items()
        }
    if isinstance(values.get("splits"), Mapping):
        values["splits"] = _without_nulls(values["splits"])
        if isinstance(values.setdefault("corpora", {}), Mapping):
            values["corpora"] = {**_shared_corpora(values, shared), **values["corpora"]}
    if isinstance(values.get("corpora"), Mapping):
        languages = {language: side for side in SIDES if isinstance(language := values.get(side), str)}
        values["corpora"] = {key: _expand_corpus(corpus, languages) for key, corpus in values["corpora"].items()}
    dataset = build(DatasetSettings, values, where=where)
    for metric in dataset.evaluation.metrics:
        choose(metric, METRIC_NAMES.valid, noun="metric", where=f"{where}: evaluation: metrics")
    return dataset


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _shared_corpora(values: Mapping[str, Any], shared: NamedFiles) -> dict[str, Any]:
    """Read the shared corpora that the splits name and `corpora` does not define."""
    splits = values["splits"].values()
    parts = [part for parts in splits for part in (parts if isinstance(parts, list) else [parts])]
    names = [part.get("corpus") if isinstance(part, Mapping) else part for part in parts]
    return {
        name: read_with_paths(shared, name)
        for name in names
        if isinstance(name, str) and name in shared and name not in values["corpora"]
    }


def _expand_corpus(corpus: Any, languages: Mapping[str, str]) -> Any:
    """Replace language codes by sides in the keys of `files`."""
    if not isinstance(corpus, Mapping) or not isinstance(corpus.get("files"), Mapping):
        return corpus
    return {**corpus, "files": {languages.get(role, role): files for role, files in corpus["files"].items()}}


def _check_names(dataset: DatasetSettings, datasets: NamedFiles, *, where: str) -> None:
    """Raise `UserError` if a name that becomes part of a path does not match `NAME`, or a reference is unknown."""
    if dataset.segmentation_from:
        datasets.check(dataset.segmentation_from, where=f"{where}: segmentation_from")
    if SELECTION in dataset.annotators:
        raise UserError(
            f"{where}: an annotator cannot be called '{SELECTION}', which is the name of a folder of the data set."
        )
    for noun, names in (("split", dataset.splits), ("annotator", dataset.annotators), ("corpus", dataset.corpora)):
        for name in names:
            if not re.fullmatch(NAME, name):
                raise UserError(
                    f"{where}: the {noun} name {quoted(name)} is not valid: use small letters, digits and single "
                    "underscores."
                )
    for name, corpus in dataset.corpora.items():
        corpus_options(corpus.format, corpus.options, corpus.files, where=f"{where}: corpora.{name}")
