"""The project's configuration: config.yaml, data sets, systems, recipes and scales, read, checked and put together.

The Snakefile, the scripts and the command line all go through `Project`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from nmtcore.config.annotators import annotator_entry, annotator_settings
from nmtcore.config.components import check_composition, component_settings
from nmtcore.config.datasets import SIDES, DatasetSettings, SegmentationSettings
from nmtcore.config.filters import filter_settings
from nmtcore.config.formats import check_roles, format_options
from nmtcore.config.model import TransformerSettings
from nmtcore.config.runs import RunSettings, SentencesSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.config.typed import build, choose, merge
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError

STAGES = ("corpus", "annotation", "segmentation", "features")
"""Folders of a data set beside those of its systems, so no system may have such a name."""

RESERVED = ("tables", "figures", "logs", "benchmarks")
"""Folders of results/ beside those of the data sets and scales."""

NAME = r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*"
"""What data sets, systems, recipes and scales may be called."""


@dataclass(frozen=True, kw_only=True)
class PathsSettings:
    """Folders, relative to the working directory."""

    results: str = "results"
    downloads: str = "downloads"
    manual: str = "manual"


@dataclass(frozen=True, kw_only=True)
class ProjectSettings:
    """config.yaml: what to run and where."""

    scale: str = "paper"
    seeds: tuple[int, ...] = (1,)
    datasets: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    paths: PathsSettings = field(default_factory=PathsSettings)
    mirrors: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    device: Literal["auto", "cpu", "cuda"] = "auto"
    gpus: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ValueError("seeds must be a list of different numbers, at least one")
        if self.threads < 1 or self.gpus < 1:
            raise ValueError("threads and gpus must be at least 1")


@dataclass(frozen=True, kw_only=True)
class RecipeSettings:
    """One paper's way of training: what it changes in the defaults of the model, of training and of decoding."""

    description: str
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ScaleSettings(RecipeSettings):
    """What shrinks: changes like a recipe's, laid over all others, and less data."""

    sentences: SentencesSettings = field(default_factory=SentencesSettings)
    segmentation_size: int | None = None
    """A data set's segmentation is cut down to at most this many merges or words."""


@dataclass(frozen=True, kw_only=True)
class SystemSettings:
    """A base model and a list of components."""

    base: Literal["transformer"] = "transformer"
    description: str = ""
    components: tuple[dict[str, Any], ...] = ()
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)
    per_dataset: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Data set: what changes there: components (by name), model, training, decoding."""


class Project:
    """The configuration in one or more folders (the first that has a file wins) and the settings of config.yaml."""

    def __init__(self, folders: Sequence[Path], settings: Mapping[str, Any], *, where: str = "config.yaml") -> None:
        self.folders = tuple(dict.fromkeys(Path(folder) for folder in folders))
        self.settings = build(ProjectSettings, settings, where=where)
        choose(self.settings.scale, self.scale_names, what="scale", where=where)
        for name in self.settings.datasets:
            choose(name, self.dataset_files, what="data set", where=f"{where}: datasets")
        for name in self.settings.systems:
            choose(name, self.system_entries, what="system", where=f"{where}: systems")
        self._runs: dict[tuple, RunSettings] = {}
        self._datasets: dict[str, DatasetSettings] = {}

    @classmethod
    def load(cls, folder: Path, **overrides: Any) -> "Project":
        """Read `folder`/config.yaml; keyword arguments override its keys."""
        path = Path(folder) / "config.yaml"
        return cls([folder], merge(read_yaml(path), overrides), where=str(path))

    def _files(self, kind: str) -> dict[str, Path]:
        files: dict[str, Path] = {}
        for folder in reversed(self.folders):
            for path in sorted((folder / kind).glob("*.yaml")):
                if not re.fullmatch(NAME, path.stem):
                    raise UserError(
                        f"{path}: a name has small letters, digits and single underscores, and begins with a letter."
                    )
                files[path.stem] = path
        return files

    @cached_property
    def scale_files(self) -> dict[str, Path]:
        """The scales by name."""
        return self._files("scales")

    @property
    def scale_names(self) -> list[str]:
        """The names of the scales."""
        return sorted(self.scale_files)

    @cached_property
    def dataset_files(self) -> dict[str, Path]:
        """The data sets by name; one that is called like a scale or a folder of results is an error."""
        files = self._files("datasets")
        for name in files:
            if name in self.scale_files or name in RESERVED:
                raise UserError(
                    f"{files[name]}: '{name}' is the name of a scale or of a folder in results/: rename it."
                )
        return files

    @cached_property
    def system_entries(self) -> dict[str, tuple[Path, dict[str, Any]]]:
        """The systems' entries by name, with the file of each."""
        entries: dict[str, tuple[Path, dict[str, Any]]] = {}
        for path in self._files("systems").values():
            for name, entry in read_yaml(path).items():
                if not re.fullmatch(NAME, str(name)) or name in STAGES:
                    raise UserError(f"{path}: '{name}' cannot be a system's name (stages are {', '.join(STAGES)}).")
                if name in entries:
                    raise UserError(f"{path}: the system '{name}' stands in {entries[name][0]} too.")
                if not isinstance(entry, Mapping):
                    raise UserError(f"{path}: {name}: expected keys and values, found {entry!r}.")
                entries[name] = (path, dict(entry))
        return entries

    def scale(self, name: str, *, where: str = "the target") -> ScaleSettings:
        """Read a scale."""
        choose(name, self.scale_files, what="scale", where=where)
        path = self.scale_files[name]
        return build(ScaleSettings, read_yaml(path), where=str(path))

    def recipe(self, name: str, *, where: str) -> RecipeSettings:
        """Read a recipe."""
        files = self._files("recipes")
        choose(name, files, what="recipe", where=where)
        return build(RecipeSettings, read_yaml(files[name]), where=str(files[name]))

    def dataset(self, name: str, *, where: str = "the target") -> DatasetSettings:
        """Read a data set, with what it extends."""
        if name not in self._datasets:
            choose(name, self.dataset_files, what="data set", where=where)
            files = self.dataset_files
            values = _extended(name, lambda n: (files[n], read_yaml(files[n])), files, what="data set")
            self._datasets[name] = _dataset(name, values, where=str(self.dataset_files[name]))
        return self._datasets[name]

    def system(self, name: str, *, where: str = "the target") -> SystemSettings:
        """Read a system, with what it extends."""
        choose(name, self.system_entries, what="system", where=where)
        path, _ = self.system_entries[name]
        entries = self.system_entries
        values = _extended(name, entries.__getitem__, entries, what="system")
        values["description"] = entries[name][1].get("description", "")  # A parent's would be of another system.
        system = build(SystemSettings, values, where=f"{path}: {name}")
        for dataset in system.per_dataset:
            choose(dataset, self.dataset_files, what="data set", where=f"{path}: {name}: per_dataset")
        return system

    def segmentation(self, dataset: DatasetSettings, scale: ScaleSettings) -> SegmentationSettings:
        """Give the data set's segmentation, cut down to the scale's size."""
        size = min(dataset.segmentation.size, scale.segmentation_size or dataset.segmentation.size)
        return replace(dataset.segmentation, size=size)

    def run(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        """Put together one run. Later layers win: recipe, data set, system, its per_dataset, scale."""
        key = (dataset, system, scale, seed)
        if key not in self._runs:
            self._runs[key] = self._assemble(*key)
        return self._runs[key]

    def _assemble(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        data, parts, size = self.dataset(dataset), self.system(system), self.scale(scale)
        where = f"{self.system_entries[system][0]}: {system} on {dataset} at scale {scale}"
        recipe = self.recipe(data.recipe, where=f"{self.dataset_files[dataset]}: recipe")
        special = parts.per_dataset.get(dataset, {})
        _check_keys(special, where=where)

        def layered(cls: type, section: str) -> Any:
            values = [getattr(layer, section) for layer in (recipe, data, parts)]
            return build(
                cls, merge(*values, special.get(section, {}), getattr(size, section)), where=f"{where}: {section}"
            )

        model = layered(TransformerSettings, "model")
        components = tuple(
            component_settings(merge(entry, special.get("components", {}).get(entry.get("name"), {})), where=where)
            for entry in parts.components
        )
        check_composition(components, model, where=where)
        syntax = _syntax(components, data, where=where)
        used = sorted({annotator for kinds in syntax.values() for annotator in kinds.values()})
        return RunSettings(
            dataset=dataset,
            system=system,
            scale=scale,
            seed=seed,
            source=data.source,
            target=data.target,
            words=data.words,
            segmentation=self.segmentation(data, size),
            syntax=syntax,
            annotators={name: annotator_entry(data.annotators[name]) for name in used},
            base=parts.base,
            model=model,
            components=components,
            training=layered(TrainingSettings, "training"),
            decoding=layered(DecodingSettings, "decoding"),
            evaluation=data.evaluation,
            tests=data.tests,
            sentences=size.sentences,
        )


def _extended(
    name: str,
    entry: Callable[[str], tuple[Path, dict[str, Any]]],
    names: Iterable[str],
    *,
    what: str,
    children: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Lay what `entry` gives for `name` (its file and its keys) over what it `extends`; a circle is an error."""
    path, keys = entry(name)
    values = dict(keys)
    parent = values.pop("extends", None)
    if parent is None:
        return values
    choose(parent, names, what=what, where=f"{path}: {name}: extends")
    if parent in (*children, name):
        raise UserError(f"{path}: {' extends '.join([*children, name, parent])}: a circle.")
    return merge(_extended(parent, entry, names, what=what, children=(*children, name)), values)


def _check_keys(special: Mapping[str, Any], *, where: str) -> None:
    for key in special:
        choose(key, ("components", "model", "training", "decoding"), what="key", where=f"{where}: per_dataset")


def _syntax(components: tuple, data: DatasetSettings, *, where: str) -> dict[str, dict[str, str]]:
    """Find the annotator that gives each kind of annotation that the components need."""
    found: dict[str, dict[str, str]] = {}
    for settings in components:
        for side, kinds in settings.needs.items():
            for kind in kinds:
                annotator = data.syntax.get(side, {}).get(kind)
                if annotator is None:
                    raise UserError(
                        f"{where}: needs {kind} on the {side} side, but the data set names no annotator for it: "
                        f"add `syntax: {{{side}: {{{kind}: NAME}}}}` to config/datasets/{data.name}.yaml."
                    )
                found.setdefault(side, {})[kind] = annotator
    return found


def _dataset(name: str, values: Mapping[str, Any], *, where: str) -> DatasetSettings:
    """Bring the short forms of a data set's file to the full ones, then build the settings."""
    values = dict(values, name=name)
    if isinstance(values.get("words"), str):
        values["words"] = dict.fromkeys(SIDES, values["words"])
    if isinstance(values.get("corpora"), Mapping):
        values["corpora"] = {key: _corpus(corpus) for key, corpus in values["corpora"].items()}
    if isinstance(values.get("splits"), Mapping):
        values["splits"] = {key: _parts(parts) for key, parts in values["splits"].items()}
    if isinstance(values.get("filters"), list):
        values["filters"] = tuple(filter_settings(entry, where=f"{where}: filters") for entry in values["filters"])
    if isinstance(values.get("annotators"), Mapping):
        values["annotators"] = {
            key: annotator_settings(entry, where=f"{where}: annotators.{key}")
            for key, entry in values["annotators"].items()
        }
    dataset = build(DatasetSettings, values, where=where)
    _check_names(dataset, where=where)
    return dataset


def _corpus(corpus: Any) -> Any:
    if not isinstance(corpus, Mapping) or not isinstance(corpus.get("files"), Mapping):
        return corpus
    files = {role: entry if isinstance(entry, list) else [entry] for role, entry in corpus["files"].items()}
    return {**corpus, "files": files}


def _parts(parts: Any) -> Any:
    parts = parts if isinstance(parts, list) else [parts]
    return [{"corpus": part} if isinstance(part, str) else part for part in parts]


def _check_names(dataset: DatasetSettings, *, where: str) -> None:
    """Names become parts of paths, so they are held to one pattern."""
    for kind, names in (("split", dataset.splits), ("annotator", dataset.annotators), ("corpus", dataset.corpora)):
        for name in names:
            if not re.fullmatch(NAME, name):
                raise UserError(
                    f"{where}: a {kind} cannot be called '{name}': small letters, digits and single underscores only."
                )
    for side in dataset.words:
        choose(side, SIDES, what="side", where=f"{where}: words")
    for name, corpus in dataset.corpora.items():
        place = f"{where}: corpora.{name}"
        check_roles(format_options(corpus.format, corpus.options, where=place), corpus.files, where=place)
