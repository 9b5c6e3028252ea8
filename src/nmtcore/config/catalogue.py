"""The files of a configuration, by name: scales, recipes, data sets, corpora, models and systems."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nmtcore.config.annotator_models import AnnotatorModelSettings
from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.checks import check_names
from nmtcore.config.components import COMPONENTS
from nmtcore.config.composition import check_levels, compose_system
from nmtcore.config.datasets import METRIC_NAMES, DatasetSettings
from nmtcore.config.extends import Level, lineage
from nmtcore.config.filters import FILTERS
from nmtcore.config.named_files import NamedFiles, misnamed, named_files
from nmtcore.config.own_files import read_with_paths
from nmtcore.config.recipes import RecipeSettings, ScaleSettings
from nmtcore.config.short_forms import full_form
from nmtcore.config.system_files import SystemEntries, read_systems
from nmtcore.config.systems import SystemSettings
from nmtcore.config.typed import build, merge
from nmtcore.config.yaml_files import read_yaml
from nmtcore.layout import NAME, RESERVED, STAGES


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
        files = named_files(self.folders, "datasets", noun="data set")
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
        systems = read_systems(files.values(), pattern=NAME, reserved=STAGES)
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
            check_names(self._datasets[name], self.dataset_files, where=str(path))
        return self._datasets[name]

    def _dataset_levels(self, name: str) -> tuple[Level, ...]:
        if name not in self._lineages:
            files = self.dataset_files
            self._lineages[name] = lineage(name, lambda n: (files[n], read_with_paths(files[n])), files.check)
        return self._lineages[name]

    @cached_property
    def corpus_files(self) -> NamedFiles:
        """The corpora shared by data sets, by name."""
        return named_files(self.folders, "corpora", noun="corpus")

    @cached_property
    def model_files(self) -> NamedFiles:
        """The models of annotators that the workflow can download, by name."""
        return named_files(self.folders, "models", noun="model")

    def annotator_model(self, name: str, *, where: str = "the target") -> AnnotatorModelSettings:
        """Read the download settings of an annotator's model."""
        self.model_files.check(name, where=where)
        path = self.model_files[name]
        return build(AnnotatorModelSettings, {**read_yaml(path), "name": name}, where=str(path))

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
