"""The files of a configuration, by name: scales, recipes, data sets, corpora, models and systems."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from nmtcore.config.annotator_models import AnnotatorModelSettings
from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import SIDES
from nmtcore.config.datasets import METRIC_NAMES, DatasetSettings, metric_names
from nmtcore.config.files import Level, NamedFiles, lineage, named_files
from nmtcore.config.filters import FILTERS
from nmtcore.config.formats import corpus_options
from nmtcore.config.own_code import own_faults
from nmtcore.config.recipes import RecipeSettings, ScaleSettings, StandInSettings
from nmtcore.config.systems import SystemSettings, check_levels, compose_system
from nmtcore.config.typed import build, choose, merge, shown_value
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError, quoted
from nmtcore.layout import NAME, RESERVED, SCORES, SELECTION, STAGES

T = TypeVar("T")


class Systems(NamedFiles):
    """The systems in the files of `systems/`, whose translations may come from files."""

    @property
    def external(self) -> list[str]:
        """The names of the systems whose translations come from files."""
        return [name for name in self if self.read(name).get("external") is not None]


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

    @cached_property
    def corpus_files(self) -> NamedFiles:
        """The corpora shared by data sets, by name."""
        return named_files(self.folders, "corpora", noun="corpus", entries=True)

    @cached_property
    def model_files(self) -> NamedFiles:
        """The models of annotators that the workflow can download, by name."""
        return named_files(self.folders, "models", noun="model", entries=True)

    @cached_property
    def stand_in_files(self) -> NamedFiles:
        """The choices of data sets that stand in for others, by name."""
        return named_files(self.folders, "stand_ins", noun="choice of stand-ins")

    @cached_property
    def dataset_files(self) -> NamedFiles:
        """The data sets by name, except those named like a scale or a folder of results."""
        files = named_files(self.folders, "datasets", noun="data set", entries=True)
        for name in files.keys() & {*self.scale_files, *RESERVED}:
            taken = f"'{name}' is also the name of a scale or of a folder in results/: rename it."
            files.leave_out(name, f"{files[name]}: {taken}")
        return files

    @cached_property
    def _system_files(self) -> NamedFiles:
        return named_files(self.folders, "systems", noun="file of systems")

    @cached_property
    def systems(self) -> Systems:
        """The systems by name. Raises `UserError` if two files define the same system."""
        systems = Systems("system")
        systems.unread |= self._system_files.unread
        systems.absent = self._system_files.absent
        for path in self._system_files.values():
            try:
                values = read_yaml(path)
            except UserError as error:
                systems.unread[str(path)] = str(error)
                continue
            for name, entry in values.items():
                if name in systems:
                    raise UserError(
                        f"{path}: the system '{name}' is also defined in {systems[name]}: rename one of them."
                    )
                if not re.fullmatch(NAME, name) or name in STAGES:
                    systems.unread[name] = (
                        f"{path}: '{name}' cannot be a system's name: use small letters, digits and single "
                        f"underscores, begin with a letter, and avoid {', '.join(STAGES)}."
                    )
                elif not isinstance(entry, Mapping):
                    systems.unread[name] = f"{path}: {name}: expected keys and values, found {shown_value(entry)}."
                else:
                    files = ("external", "translations", ALL, ALL)
                    systems.add(name, path, _changed(entry, files, _resolved(path)))
        return systems

    @cached_property
    def system_entries(self) -> dict[str, tuple[Path, dict[str, Any]]]:
        """The file and the keys of each system by name."""
        return {name: (path, self.systems.read(name)) for name, path in self.systems.items()}

    @property
    def scale_names(self) -> list[str]:
        """The names of the scales."""
        return sorted(self.scale_files)

    @property
    def _kinds(self) -> tuple[NamedFiles, ...]:
        return self.scale_files, self.recipe_files, self.dataset_files, self.corpus_files, self.model_files

    @property
    def hidden(self) -> list[str]:
        """One sentence for each file that hides another file of the same name in a later folder."""
        published = named_files(self.folders, "published", noun="paper")
        return [sentence for files in (*self._kinds, self._system_files, published) for sentence in files.hidden]

    @property
    def faults(self) -> list[str]:
        """One sentence for each file that is not read: for its name or, if it may define systems, for its content."""
        unread = [sentence for files in (self.systems, *self._kinds) for sentence in files.unread.values()]
        metrics = own_faults("metrics", (*METRIC_NAMES, *SCORES, "chrf"))
        return [*unread, *COMPONENTS.own_faults, *ANNOTATORS.own_faults, *FILTERS.own_faults, *metrics]

    def scale(self, name: str, *, where: str = "the target") -> ScaleSettings:
        """Read a scale."""
        return self._read(ScaleSettings, self.scale_files, name, where)

    def recipe(self, name: str, *, where: str) -> RecipeSettings:
        """Read a recipe."""
        return self._read(RecipeSettings, self.recipe_files, name, where)

    def _read(self, cls: type[T], files: NamedFiles, name: str, where: str) -> T:
        path = files[files.check(name, where=where)]
        if path not in self._layers:
            self._layers[path] = build(cls, files.read(name), where=str(path))
        return self._layers[path]

    def stand_ins(self, name: str, *, where: str) -> dict[str, str]:
        """Read a choice of data sets that stand in for others. Raises `UserError` if one of them is unknown."""
        datasets = self._read(StandInSettings, self.stand_in_files, name, where).datasets
        for dataset, stand_in in datasets.items():
            for known in (dataset, stand_in):
                self.dataset_files.check(known, where=f"{self.stand_in_files[name]}: datasets.{dataset}")
        return datasets

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

    def annotator_model(self, name: str, *, where: str = "the target") -> AnnotatorModelSettings:
        """Read the download settings of an annotator's model."""
        path = self.model_files[self.model_files.check(name, where=where)]
        return build(AnnotatorModelSettings, {**self.model_files.read(name), "name": name}, where=str(path))

    def system(self, name: str, dataset: str | None = None, *, where: str = "the target") -> SystemSettings:
        """Compose a system and the systems that it extends, for a data set or, if None, without any `per_dataset`."""
        return compose_system(*self.system_levels(name, dataset, where=where))

    def compared_with(self, name: str) -> str | None:
        """Return the system that a system is compared with, or None: what its entry says, or that of the first system
        that it extends."""
        levels, _ = self.system_levels(name)
        other = compose_system(levels).compared_with or levels[0].name
        return None if other == name else other

    def system_levels(
        self, name: str, dataset: str | None = None, *, where: str = "the target"
    ) -> tuple[tuple[Level, ...], list[str]]:
        """Return a system and the systems that it extends, the oldest first; a data set and its ancestors, it first."""
        if name not in self._systems:
            self.systems.check(name, where=where)
            levels = lineage(name, self.system_entries.__getitem__, self.systems.check)
            check_levels(levels)
            for level in levels:
                if (other := level.keys.get("compared_with")) is not None:
                    self.systems.check(other, where=f"{level.where}: compared_with")
                translations = (level.keys.get("external") or {}).get("translations", ())
                for key, named in (
                    ("per_dataset", level.keys.get("per_dataset", ())),
                    ("external: translations", translations),
                ):
                    for special_dataset in named:
                        self.dataset_files.check(special_dataset, where=f"{level.where}: {key}")
            self._systems[name] = levels
        datasets = [] if dataset is None else [level.name for level in reversed(self.dataset_levels(dataset))]
        return self._systems[name], datasets


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


def _resolved(path: Path) -> Callable[[Any], Any]:
    """Return a function that resolves the paths of files: a path, a list of them, or the `path` of a file.

    Relative paths start at the folder that holds `datasets`, `corpora` and `systems`, one of which holds `path`; `~` is
    the home folder. Paths in the working directory become relative to it, so that they stay as they are if it is moved;
    all others become absolute.
    """

    def resolved(value: Any) -> Any:
        if isinstance(value, list):
            return [resolved(inner) for inner in value]
        if isinstance(value, Mapping):
            return _changed(value, ["path"], lambda own: resolved(own) if isinstance(own, str) else own)
        if not isinstance(value, str):
            return value
        if "://" in value:
            raise UserError(f"{path}: '{value}' is an address, not a path: write {{name: ..., url: {value}}}.")
        if not value.strip():
            raise UserError(f"{path}: a file's `path` is empty.")
        absolute = os.path.abspath(path.parent.parent / os.path.expanduser(value))
        relative = os.path.relpath(absolute)
        return absolute if relative.startswith("..") else relative

    return resolved


def read_with_paths(files: NamedFiles, name: str) -> dict[str, Any]:
    """Read a data set or a corpus, and resolve the paths of its files."""
    values, resolved = files.read(name), _resolved(files[name])
    return _changed(_changed(values, ("files", ALL), resolved), ("corpora", ALL, "files", ALL), resolved)


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
