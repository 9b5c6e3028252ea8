"""The files of a configuration, by name: scales, recipes, data sets, corpora, models and systems."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from nmtcore.config.annotator_models import AnnotatorModelSettings
from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import METRIC_NAMES, DatasetSettings, metric_names
from nmtcore.config.files import Level, NamedFiles, lineage, misnamed, named_entries, named_files
from nmtcore.config.filters import FILTERS
from nmtcore.config.formats import corpus_options
from nmtcore.config.own_code import own_faults
from nmtcore.config.recipes import RecipeSettings, ScaleSettings
from nmtcore.config.systems import SystemSettings, check_levels, compose_system
from nmtcore.config.typed import build, choose, merge, shown_value
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError, quoted
from nmtcore.layout import NAME, RESERVED, SCORES, SELECTION, STAGES


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
        return NamedFiles(files, files.unread | taken, noun="data set", hidden=files.hidden)

    @cached_property
    def systems(self) -> SystemEntries:
        """The entries of the systems, and the faults in their files."""
        files = self._system_files
        return _read_systems(files.values(), faults=[*files.unread.values()])

    @cached_property
    def _system_files(self) -> NamedFiles:
        return named_files(self.folders, "systems", noun="file of systems")

    @property
    def hidden(self) -> list[str]:
        """One sentence for each file that hides another file of the same name in a later folder."""
        published = named_files(self.folders, "published", noun="paper")
        kinds = (self.scale_files, self.recipe_files, self.dataset_files, self.corpus_files, self.model_files)
        return [sentence for files in (*kinds, self._system_files, published) for sentence in files.hidden]

    @property
    def faults(self) -> list[str]:
        """One sentence for each file that is not read: for its name or, if it may define systems, for its content."""
        unread = [misnamed(self.folders, subfolder) for subfolder in ("corpora", "models", "recipes", "scales")]
        unread.append(self.dataset_files.unread)
        metrics = own_faults("metrics", (*METRIC_NAMES, *SCORES, "chrf"))
        own_code = [*COMPONENTS.own_faults, *ANNOTATORS.own_faults, *FILTERS.own_faults, *metrics]
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
            path, values = self.dataset_files[name], merge(*(level.keys for level in self.dataset_levels(name)))
            self._datasets[name] = full_form(name, values, self.corpus_files, where=str(path))
            _check_names(self._datasets[name], self.dataset_files, where=str(path))
        return self._datasets[name]

    def dataset_levels(self, name: str) -> tuple[Level, ...]:
        """Return a data set and the data sets that it extends, the oldest first."""
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
        return compose_system(*self.system_levels(name, dataset, where=where))

    def system_levels(
        self, name: str, dataset: str | None = None, *, where: str = "the target"
    ) -> tuple[tuple[Level, ...], list[str]]:
        """Return a system and the systems that it extends, the oldest first; a data set and its ancestors, it first."""
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
        datasets = [] if dataset is None else [level.name for level in reversed(self.dataset_levels(dataset))]
        return self._systems[name], datasets


def _read_systems(paths: Iterable[Path], *, faults: list[str]) -> SystemEntries:
    """Read files of systems; add a fault for each file or entry that cannot be read.

    Raises `UserError` if two files define the same system.
    """
    systems = SystemEntries(faults=faults)
    for path in paths:
        try:
            values = read_yaml(path)
        except UserError as error:
            faults.append(str(error))
            continue
        for name, entry in values.items():
            if name in systems.entries:
                raise UserError(
                    f"{path}: the system '{name}' is also defined in {systems.entries[name][0]}: rename one of them."
                )
            if not re.fullmatch(NAME, name) or name in STAGES:
                faults.append(
                    f"{path}: '{name}' cannot be a system's name: use small letters, digits and single underscores, "
                    f"begin with a letter, and avoid {', '.join(STAGES)}."
                )
            elif not isinstance(entry, Mapping):
                faults.append(f"{path}: {name}: expected keys and values, found {shown_value(entry)}.")
            else:
                systems.entries[name] = (path, _changed(entry, ("external", "translations", ALL, ALL), _absolute(path)))
    return systems


ALL = "*"
"""Every key of a mapping."""


def _changed(values: Any, keys: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """Return values in which what stands below a path of keys is changed; checking reports other forms."""
    if not keys:
        return change(values)
    if not isinstance(values, Mapping):
        return values
    inner = {key: value for key, value in values.items() if keys[0] in (ALL, key)}
    return {**values, **{key: _changed(value, keys[1:], change) for key, value in inner.items()}}


def _absolute(path: Path) -> Callable[[Any], Any]:
    """Return a function that makes the paths of files absolute: a path, a list of them, or the `path` of a file.

    Relative paths start at the folder that holds `datasets`, `corpora` and `systems`, one of which holds `path`; `~` is
    the home folder.
    """

    def absolute(value: Any) -> Any:
        if isinstance(value, list):
            return [absolute(inner) for inner in value]
        if isinstance(value, Mapping):
            return _changed(value, ["path"], lambda own: absolute(own) if isinstance(own, str) else own)
        if not isinstance(value, str):
            return value
        if "://" in value:
            raise UserError(f"{path}: '{value}' is an address, not a path: write {{name: ..., url: {value}}}.")
        if not value.strip():
            raise UserError(f"{path}: a file's `path` is empty.")
        return os.path.abspath(path.parent.parent / os.path.expanduser(value))

    return absolute


def read_with_paths(files: NamedFiles, name: str) -> dict[str, Any]:
    """Read a data set or a corpus, and make the paths of its files absolute."""
    values, absolute = files.read(name), _absolute(files[name])
    return _changed(_changed(values, ("files", ALL), absolute), ("corpora", ALL, "files", ALL), absolute)


def full_form(name: str, values: Mapping[str, Any], shared: NamedFiles, *, where: str) -> DatasetSettings:
    """Build the settings of a data set from its file.

    If the splits name a corpus that `corpora` does not define, it is read from the `shared` corpora. A null for a key,
    a split, a corpus, an annotator, or for a side or an annotation in `syntax` drops the extended data set's value.
    """
    values = _without_nulls(values) | {"name": name}
    for keys in (["corpora"], ["annotators"], ["splits"], ["syntax"], ["syntax", ALL]):
        values = _changed(values, keys, _without_nulls)
    if isinstance(values.get("splits"), Mapping) and isinstance(values.setdefault("corpora", {}), Mapping):
        values["corpora"] = {**_shared_corpora(values, shared), **values["corpora"]}
    languages = {language: side for side in SIDES if isinstance(language := values.get(side), str)}
    values = _changed(values, ("corpora", ALL, "files"), partial(_by_side, languages=languages))
    dataset = build(DatasetSettings, values, where=where)
    for metric in dataset.evaluation.metrics:
        choose(metric, metric_names(), noun="metric", where=f"{where}: evaluation: metrics")
    return dataset


def _without_nulls(values: Any) -> Any:
    if not isinstance(values, Mapping):
        return values
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


def _by_side(files: Any, *, languages: Mapping[str, str]) -> Any:
    """Replace language codes by sides in the keys of a corpus's files."""
    if not isinstance(files, Mapping):
        return files
    return {languages.get(role, role): own for role, own in files.items()}


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
