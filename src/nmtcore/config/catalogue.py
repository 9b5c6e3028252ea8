"""The files of a configuration, by name: scales, recipes, data sets, corpora, models and systems."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from nmtcore.config.components import COMPONENTS
from nmtcore.config.corpora import FILTERS, SIDES, AnnotatorModelSettings, corpus_options
from nmtcore.config.datasets import ANNOTATORS, DatasetSettings
from nmtcore.config.files import ALL, Layer, Merged, NamedFiles, changed_below, named_files, read_yaml
from nmtcore.config.metrics import TAKEN
from nmtcore.config.registry import own_faults, own_names
from nmtcore.config.systems import (
    EXTERNAL,
    IMPORTED,
    ScaleSettings,
    StandInSettings,
    SystemSettings,
    check_levels,
    check_recipes,
    system_layers,
)
from nmtcore.config.training import METRIC_NAMES, metric_names
from nmtcore.config.typed import Given, build, choose, shown_value
from nmtcore.errors import UserError, quoted
from nmtcore.layout import NAME, RESERVED, SCORES, SELECTION, STAGES

T = TypeVar("T")


class Systems(NamedFiles):
    """The systems in the files of `systems/`, whose translations may come from files."""

    def where(self, name: str) -> str:
        """Return the file and the name of a system, for messages."""
        return f"{self[name]}: {name}"

    @property
    def external(self) -> list[str]:
        """The names of the systems whose translations come from files."""
        return [name for name in self if self.read(name).get(EXTERNAL) is not None]

    @property
    def imported(self) -> list[str]:
        """The names of the systems that are published models."""
        return [name for name in self if self.read(name).get(IMPORTED) is not None]


class Catalogue:
    """The files of a configuration in one or more folders; if several have a file, the first wins."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.folders = tuple(dict.fromkeys(Path(folder) for folder in folders))
        self._datasets: dict[str, DatasetSettings] = {}
        self._settings: dict[Path, Any] = {}

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
                    systems.add(name, path, entry)
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
        metrics += own_faults("metrics", {*TAKEN, *own_names("metrics")}, ending=".yaml")
        return [*unread, *COMPONENTS.own_faults, *ANNOTATORS.own_faults, *FILTERS.own_faults, *metrics]

    def scale(self, name: str, *, where: str = "the target") -> ScaleSettings:
        """Read a scale."""
        return self._read(ScaleSettings, self.scale_files, name, where)

    def recipe_layers(self, name: str, *, where: str) -> tuple[Layer, ...]:
        """Return the layers of a recipe and of those that it extends, each valid, the oldest first."""
        self.recipe_files.check(name, where=where)
        return self.recipe_files.lineage(name, check_recipes)

    def first_recipe(self, dataset: str) -> str | None:
        """Return the recipe that a data set's extends, in the end; None for a treebank alone."""
        recipe, where = self.dataset(dataset).recipe, f"{self.dataset_files.where(dataset)}: recipe"
        return None if recipe is None else self.recipe_layers(recipe, where=where)[0].name

    def _read(self, cls: type[T], files: NamedFiles, name: str, where: str) -> T:
        path = files[files.check(name, where=where)]
        if path not in self._settings:
            self._settings[path] = build(cls, files.read(name), where=str(path))
        return self._settings[path]

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
            where, merged = self.dataset_files.where(name), Merged(self.dataset_layers(name))
            self._datasets[name] = full_form(name, merged.values, self.corpus_files, where=where, given=merged.given)
            _check_names(self._datasets[name], self.dataset_files, where=where)
        return self._datasets[name]

    def dataset_layers(self, name: str) -> tuple[Layer, ...]:
        """Return the layers of a data set and of those that it extends, the oldest first."""
        return self.dataset_files.lineage(name)

    def annotator_model(self, name: str, *, where: str = "the target") -> AnnotatorModelSettings:
        """Read the download settings of an annotator's model."""
        files = self.model_files
        values = {**files.read(files.check(name, where=where)), "name": name}
        return build(AnnotatorModelSettings, values, where=files.where(name))

    def system(self, name: str, dataset: str | None = None, *, where: str = "the target") -> SystemSettings:
        """Compose a system and the systems that it extends, for a data set or, if None, without any `per_dataset`."""
        layers = self.system_layers(name, dataset, where=where)
        return build(SystemSettings, Merged(layers).values, where=layers[-1].where)

    def compared_with(self, name: str) -> str | None:
        """Return the system that a system is compared with, or None: what its entry says, or that of the first system
        that it extends."""
        other = self.system(name).compared_with or self.system_layers(name)[0].name
        return None if other == name else other

    def system_layers(self, name: str, dataset: str | None = None, *, where: str = "the target") -> list[Layer]:
        """Return the layers of a system and of those that it extends, for a data set, the weakest first."""
        self.systems.check(name, where=where)
        levels = self.systems.lineage(name, self._check_system)
        datasets = () if dataset is None else reversed(self.dataset_layers(dataset))
        return system_layers(levels, [layer.name for layer in datasets])

    def _check_system(self, levels: Sequence[Layer]) -> None:
        """Raise `UserError` if an entry of a lineage is not valid, or names what there is not."""
        check_levels(levels)
        for level in levels:
            if (other := level.values.get("compared_with")) is not None:
                self.systems.check(other, where=level.at("compared_with"))
            translations = (level.values.get("external") or {}).get("translations", ())
            named = {("per_dataset",): level.values.get("per_dataset", ()), ("external", "translations"): translations}
            for keys, datasets in named.items():
                for dataset in datasets:
                    self.dataset_files.check(dataset, where=level.at(*keys))


def full_form(
    name: str, values: Mapping[str, Any], shared: NamedFiles, *, where: str, given: Given = lambda place: []
) -> DatasetSettings:
    """Build the settings of a data set from merged values; see `build` for `given`.

    If the splits name a corpus that `corpora` does not define, it is read from the `shared` corpora.
    """
    values = {**values, "name": name}
    if isinstance(values.get("splits"), Mapping) and isinstance(values.setdefault("corpora", {}), Mapping):
        values["corpora"] = {**_shared_corpora(values, shared), **values["corpora"]}
    languages = {language: side for side in SIDES if isinstance(language := values.get(side), str)}
    values = changed_below(values, ("corpora", ALL, "files"), partial(_by_side, languages=languages))
    dataset = build(DatasetSettings, values, where=where, given=given)
    for metric in dataset.evaluation.metrics:
        choose(metric, metric_names(), noun="metric", where=f"{where}: evaluation: metrics")
    return dataset


def _shared_corpora(values: Mapping[str, Any], shared: NamedFiles) -> dict[str, Any]:
    """Read the shared corpora that the splits name and `corpora` does not define."""
    splits = values["splits"].values()
    parts = [part for parts in splits for part in (parts if isinstance(parts, list) else [parts])]
    names = [part.get("corpus") if isinstance(part, Mapping) else part for part in parts]
    return {
        name: shared.read(name)
        for name in names
        if isinstance(name, str) and name in shared and name not in values["corpora"]
    }


def _by_side(files: Any, *, languages: Mapping[str, str]) -> Any:
    """Replace language codes by sides in the keys of a corpus's files."""
    if not isinstance(files, Mapping):
        return files
    return {languages.get(role, role): role_files for role, role_files in files.items()}


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
