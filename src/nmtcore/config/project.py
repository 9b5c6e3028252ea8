"""The project's configuration: config.yaml, data sets, systems, recipes and scales, read, checked and put together.

The Snakefile, the scripts and the command line all go through `Project`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from nmtcore.config.annotators import annotator_entry, annotator_settings
from nmtcore.config.command_line import as_typed
from nmtcore.config.components import ComponentSettings, check_composition, component_name, component_settings
from nmtcore.config.configured import MissingAnnotation
from nmtcore.config.datasets import GOLD, SIDES, TREEBANK, DatasetSettings, SegmentationSettings
from nmtcore.config.filters import filter_settings
from nmtcore.config.formats import check_roles, format_options
from nmtcore.config.kinds import FEATURES
from nmtcore.config.layers import DECIDED_BY_SCALE, Layer, Overridden, laid_over, overridden
from nmtcore.config.model import TransformerSettings
from nmtcore.config.models import ModelSettings
from nmtcore.config.named_files import NAME, NamedFiles, misnamed, named_files
from nmtcore.config.own_files import read_with_paths
from nmtcore.config.runs import RunSettings, SentencesSettings
from nmtcore.config.system_files import SystemEntries, read_systems
from nmtcore.config.training import DecodingSettings, TrainingSettings, TreebankSettings
from nmtcore.config.typed import build, choose, merge
from nmtcore.config.yaml_files import config_file, read_yaml
from nmtcore.errors import UserError

STAGES = ("corpus", "annotation", "segmentation", "features")
"""Folders of a data set beside those of its systems, so no system may have such a name."""

SELECTION = "selection"
"""The folder beside those of annotators that says which training pairs are used."""

RESERVED = ("tables", "figures", "logs", "benchmarks")
"""Folders of results/ beside those of the data sets and scales."""


def check_folders(folders: Iterable[str], *, what: str = "") -> None:
    """Raise a `ValueError` at an empty entry, which would stand for the working directory without saying so."""
    if not all(folder.strip() for folder in folders):
        raise ValueError(f"{what}an empty text is no folder (the working directory is '.')")


@dataclass(frozen=True, kw_only=True)
class PathsSettings:
    """Folders, relative to the working directory."""

    results: str = "results"
    downloads: str = "downloads"
    manual: str = "manual"

    def __post_init__(self) -> None:
        check_folders((self.results, self.downloads, self.manual))


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
    http_hosts: tuple[str, ...] = ()
    """Hosts that files may be fetched from without encryption."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    gpus: int = 1
    threads: int = 1

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ValueError("seeds must be a list of different numbers, at least one")
        if min(self.seeds) < 0:
            raise ValueError(f"seeds must be 0 or more, not {min(self.seeds)}")
        if self.threads < 1 or self.gpus < 1:
            raise ValueError("threads and gpus must be at least 1")
        check_folders(self.models, what="models: ")

    @property
    def missing_folders(self) -> list[str]:
        """A sentence for each folder of mirrors or models that is not there; addresses are no folders."""
        named = [*(("mirrors", folder) for folder in self.mirrors), *(("models", folder) for folder in self.models)]
        return [
            f"{key}: {folder} is no folder here."
            for key, folder in named
            if "://" not in folder and not Path(folder).is_dir()
        ]

    @property
    def own_model_folders(self) -> tuple[Path, ...]:
        """Where the user keeps annotators' models: folders of hers, and what she fetched by hand."""
        return (*map(Path, self.models), Path(self.paths.manual) / "models")

    @property
    def model_folders(self) -> tuple[Path, ...]:
        """Where annotators' models are looked for: the user's folders, then the workflow's own downloads."""
        return (*self.own_model_folders, Path(self.paths.downloads) / "models")


def project_settings(values: Mapping[str, Any], *, where: str) -> ProjectSettings:
    """Read config.yaml's settings, with what the command line changed; the one way for plans and for jobs."""
    return build(ProjectSettings, as_typed(ProjectSettings, values), where=where)


@dataclass(frozen=True, kw_only=True)
class RecipeSettings:
    """One paper's way of training: what it changes in the defaults of the model, of training and of decoding."""

    description: str
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ScaleSettings(RecipeSettings):
    """What shrinks: less data, and changes like a recipe's, laid over recipe and data set; those of `DECIDED_BY_SCALE`
    are laid over the system too."""

    sentences: SentencesSettings = field(default_factory=SentencesSettings)
    fine_tuning: dict[str, Any] = field(default_factory=dict)
    """Changes of `training` for systems that start from another one's model, laid over the scale's own `training`."""
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
    start_from: str | None = None
    """Another system: its model, on the same data set and scale and with the same seed, has the first weights."""
    treebank: TreebankSettings | None = None
    """It is trained on the data set's training treebanks."""
    tasks: tuple[Literal["translation", "parsing"], ...] = ("translation",)
    """With parsing, every source stands twice: to be translated, and to be parsed (Currey and Heafield 2019)."""
    per_dataset: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Data set: what changes there, and on data sets that extend it: components (by name), model, training, decoding.
    Of several such entries the nearest counts."""


class Project:
    """The configuration in one or more folders (the first that has a file wins) and the settings of config.yaml."""

    def __init__(self, folders: Sequence[Path], settings: Mapping[str, Any], *, where: str = "config.yaml") -> None:
        self.folders = tuple(dict.fromkeys(Path(folder) for folder in folders))
        self.settings = project_settings(settings, where=where)
        self.scale_files.check(self.settings.scale, where=where)
        check = partial(self.dataset_files.check, where=f"{where}: datasets")
        datasets = _matching(self.settings.datasets, self.dataset_files, check)
        # An unknown name may be that of a system in a file that cannot be read: only a target that needs it fails.
        unread = [name for name in self.settings.systems if self.systems.faults and re.fullmatch(NAME, name)]
        known = dict.fromkeys([*self.system_entries, *unread])
        check = partial(choose, valid=known, what="system", where=f"{where}: systems")
        systems = _matching(self.settings.systems, known, check)
        self.chosen_by_pattern = frozenset(systems) - frozenset(self.settings.systems)
        """Configured systems that only a pattern matches."""
        self.settings = replace(self.settings, datasets=datasets, systems=systems)
        self._runs: dict[tuple, RunSettings] = {}
        self._datasets: dict[str, DatasetSettings] = {}
        self._parents: dict[str, str | None] = {}
        self._layers: dict[Path, RecipeSettings] = {}

    @classmethod
    def load(cls, folder: Path, **overrides: Any) -> "Project":
        """Read `folder`/config.yaml; keyword arguments override its keys."""
        path = config_file(folder)
        return cls([folder], merge(read_yaml(path), overrides), where=str(path))

    @cached_property
    def scale_files(self) -> NamedFiles:
        """The scales by name."""
        return named_files(self.folders, "scales", what="scale")

    @cached_property
    def recipe_files(self) -> NamedFiles:
        """The recipes by name."""
        return named_files(self.folders, "recipes", what="recipe")

    @property
    def scale_names(self) -> list[str]:
        """The names of the scales."""
        return sorted(self.scale_files)

    @cached_property
    def dataset_files(self) -> NamedFiles:
        """The data sets by name; one that is called like a scale or a folder of results is not read."""
        files = named_files(self.folders, "datasets", what="data set")
        taken = {
            name: f"{path}: '{name}' is the name of a scale or of a folder in results/: rename it."
            for name, path in files.items()
            if name in self.scale_files or name in RESERVED
        }
        return NamedFiles(files, files.unread | taken, what="data set")

    @cached_property
    def systems(self) -> SystemEntries:
        """The systems' entries, and what is wrong in their files."""
        files = named_files(self.folders, "systems", what="file of systems")
        found = read_systems(files.values(), pattern=NAME, reserved=STAGES)
        return replace(found, faults=[*files.unread.values(), *found.faults])

    @property
    def faults(self) -> list[str]:
        """A sentence for each file that is not read, for its name or, where systems may stand, for what it holds."""
        others = [misnamed(self.folders, kind) for kind in ("corpora", "models", "recipes", "scales")]
        return [*self.systems.faults, *(s for found in (*others, self.dataset_files.unread) for s in found.values())]

    @property
    def system_entries(self) -> dict[str, tuple[Path, dict[str, Any]]]:
        """The systems' entries by name, with the file of each."""
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
        """Read a data set, with what it extends."""
        if name not in self._datasets:
            files = self.dataset_files
            files.check(name, where=where)
            values = _extended(name, lambda n: (files[n], read_with_paths(files[n])), files.check)
            self._datasets[name] = _dataset(name, values, self.corpus_files, where=str(files[name]))
            _check_names(self._datasets[name], files, where=str(files[name]))
        return self._datasets[name]

    def _line(self, dataset: str | None) -> Iterator[str]:
        """Give a data set that can be read, what it extends, and so on."""
        while dataset is not None:
            yield dataset
            if dataset not in self._parents:
                self._parents[dataset] = read_yaml(self.dataset_files[dataset]).get("extends")
            dataset = self._parents[dataset]

    @cached_property
    def corpus_files(self) -> NamedFiles:
        """The corpora that data sets share, by name."""
        return named_files(self.folders, "corpora", what="corpus")

    @cached_property
    def model_files(self) -> NamedFiles:
        """The models of annotators that the workflow can download, by name."""
        return named_files(self.folders, "models", what="model")

    def annotator_model(self, name: str, *, where: str = "the target") -> ModelSettings:
        """Read where a model of an annotator comes from."""
        self.model_files.check(name, where=where)
        path = self.model_files[name]
        return build(ModelSettings, {**read_yaml(path), "name": name}, where=str(path))

    def system(self, name: str, *, where: str = "the target") -> SystemSettings:
        """Read a system, with what it extends."""
        path, _ = self.system_entries[self.systems.check(name, where=where)]
        entries = self.system_entries
        values = _extended(name, entries.__getitem__, self.systems.check)
        values["description"] = entries[name][1].get("description", "")  # A parent's would be of another system.
        system = build(SystemSettings, values, where=f"{path}: {name}")
        for dataset, special in system.per_dataset.items():
            at = f"{path}: {name}: per_dataset"
            self.dataset_files.check(dataset, where=at)
            _check_special(special, where=f"{at}: {dataset}")
        own = {str(entry.get("name")) for entry in system.components}
        for dataset, special in (entries[name][1].get("per_dataset") or {}).items():
            for component in special.get("components", {}):
                choose(component, own, what="component", where=f"{path}: {name}: per_dataset: {dataset}: components")
        return system

    def segmentation(self, dataset: DatasetSettings, scale: ScaleSettings) -> SegmentationSettings:
        """Give the data set's segmentation, cut down to the scale's size."""
        size = min(dataset.segmentation.size, scale.segmentation_size or dataset.segmentation.size)
        return replace(dataset.segmentation, size=size)

    def run(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        """Put together one run. Later layers win: recipe, data set, scale, system, but for `DECIDED_BY_SCALE`."""
        key = (dataset, system, scale, seed)
        if key not in self._runs:
            self._runs[key] = self._assemble(*key)
        return self._runs[key]

    def overridden(self, dataset: str, system: str, scale: str) -> list[Overridden]:
        """Give the settings of a system that a scale overrides on a data set."""
        parts, size = self.system(system), self.scale(scale)
        own = _system_layer(parts, self._special(parts, dataset))
        found = overridden(_scale_layer(size, parts), own)
        return [Overridden(system=system, scale=scale, setting=s, value=v, instead_of=o) for s, v, o in found]

    def _special(self, system: SystemSettings, dataset: str) -> dict[str, Any]:
        """Give what a system changes on a data set: of its `per_dataset`, the nearest entry."""
        return next((system.per_dataset[name] for name in self._line(dataset) if name in system.per_dataset), {})

    def _assemble(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        data, parts, size = self.dataset(dataset), self.system(system), self.scale(scale)
        where = f"{self.system_entries[system][0]}: {system} on {dataset} at scale {scale}"
        recipe = self.recipe(data.recipe, where=f"{self.dataset_files[dataset]}: recipe")
        special = self._special(parts, dataset)
        layers = {"scale": _scale_layer(size, parts), "system": _system_layer(parts, special)}

        def layered(cls: type, section: str) -> Any:
            values = laid_over(section, _layer(recipe), _layer(data), **layers)
            return build(cls, values, where=f"{where}: {section}")

        model = layered(TransformerSettings, "model")
        components = tuple(
            component_settings(merge(entry, special.get("components", {}).get(str(entry.get("name")), {})), where=where)
            for entry in parts.components
        )
        check_composition(components, model, where=where)
        syntax = _syntax(components, data, where=where)
        used = sorted({annotator for kinds in syntax.values() for annotator in kinds.values()})
        run = RunSettings(
            dataset=dataset,
            system=system,
            scale=scale,
            seed=seed,
            source=data.source,
            target=data.target,
            words=data.words,
            segmentation=_for_tasks(self.segmentation(data, size), parts.tasks, components, data, where=where),
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
            start_from=parts.start_from,
        )
        self._check_start(run, where=where)
        return _with_treebanks(run, parts.treebank, data, where=where)

    def _check_start(self, run: RunSettings, *, where: str) -> None:
        """Compare a run with the one whose weights it starts from: they must have the same."""
        if run.start_from is None:
            return
        names, name = [run.system], run.start_from
        while name is not None:
            if name in names:
                raise UserError(f"{where}: {' starts from '.join([*names, name])}: a circle.")
            names, name = [*names, name], self.system(name, where=f"{where}: start_from").start_from
        start = self.run(run.dataset, run.start_from, run.scale, run.seed)
        for what, shapes in (("model", _shape), ("components", lambda r: [*map(component_name, r.components)])):
            if shapes(run) != shapes(start):
                raise UserError(f"{where}: start_from: {start.system} has other {what}, so its weights do not fit.")
        if run.segmentation != start.segmentation:
            raise UserError(f"{where}: start_from: {start.system} cuts words otherwise ({start.segmentation.name}).")


def _layer(settings: RecipeSettings | DatasetSettings | SystemSettings) -> dict[str, dict[str, Any]]:
    return {section: getattr(settings, section) for section in DECIDED_BY_SCALE}


def _scale_layer(scale: ScaleSettings, system: SystemSettings) -> Layer:
    """Give what a scale sets for a system: its `fine_tuning` counts where the system starts from another one."""
    layer = _layer(scale)
    return {**layer, "training": merge(layer["training"], scale.fine_tuning)} if system.start_from else layer


def _system_layer(system: SystemSettings, special: Mapping[str, Any]) -> Layer:
    """Give what a system sets on a data set, for which it has the `special` changes."""
    return {section: merge(values, special.get(section, {})) for section, values in _layer(system).items()}


def _shape(run: RunSettings) -> tuple[str, TransformerSettings]:
    """Give what decides the shape of a model's weights."""
    dropouts = ("dropout", "embedding_dropout", "attention_dropout", "activation_dropout")
    return run.base, replace(run.model, **dict.fromkeys(dropouts, 0.0))


def _with_treebanks(
    run: RunSettings, treebank: TreebankSettings | None, data: DatasetSettings, *, where: str
) -> RunSettings:
    """Add the treebanks that a run is trained on and compared with."""
    annotator = data.gold_annotator
    if run.parses_to_trees and annotator:
        run = replace(run, gold=data.source_treebanks(GOLD), gold_annotator=annotator)
    if treebank is None:
        return run
    if not run.parses_to_trees:
        raise UserError(f"{where}: treebank: none of its components learns to parse from trees.")
    splits = data.source_treebanks(TREEBANK)
    if not splits or not annotator:
        raise MissingAnnotation(
            f"{where}: needs a treebank on the source side, but the data set names none: add a split "
            f"`{TREEBANK}NAME` and an annotator `{{tool: existing}}` to config/datasets/{data.name}.yaml.",
            what="no treebank to train on",
        )
    return replace(run, treebank=treebank, treebanks=splits)


def _extended(
    name: str,
    entry: Callable[[str], tuple[Path, dict[str, Any]]],
    check: Callable[..., str],
    children: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Lay what `entry` gives for `name` (its file and its keys) over what it `extends`; a circle is an error.

    `check(name, where=...)` raises an error for a name that is not known.
    """
    path, keys = entry(name)
    values = dict(keys)
    parent = values.pop("extends", None)
    if parent is None:
        return values
    check(parent, where=f"{path}: {name}: extends")
    if parent in (*children, name):
        raise UserError(f"{path}: {' extends '.join([*children, name, parent])}: a circle.")
    return merge(_extended(parent, entry, check, (*children, name)), values)


def _matching(names: Iterable[str], known: Iterable[str], check: Callable[[str], str]) -> tuple[str, ...]:
    """Give the names that stand there, each perhaps a pattern (rehearsal_*) for several of the `known`.

    `check` raises a `UserError` at a name that is neither.
    """
    found: list[str] = []
    for name in names:
        found += [one for one in known if fnmatchcase(one, name)] or [check(name)]
    return tuple(dict.fromkeys(found))


def _check_special(special: Mapping[str, Any], *, where: str) -> None:
    """Check one entry of `per_dataset` as far as its sections go."""
    for section, values in special.items():
        choose(section, ("components", "model", "training", "decoding"), what="key", where=where)
        if not isinstance(values, dict):
            raise UserError(f"{where}: {section} must be a mapping, not {values!r}.")
        for component, settings in values.items() if section == "components" else ():
            if not isinstance(settings, dict):
                raise UserError(
                    f"{where}: components: {component} must be a mapping of its settings, not {settings!r}."
                )


def _for_tasks(
    segmentation: SegmentationSettings,
    tasks: Sequence[str],
    components: tuple[ComponentSettings, ...],
    data: DatasetSettings,
    *,
    where: str,
) -> SegmentationSettings:
    """Give the segmentation that a system's tasks want."""
    if "translation" not in tasks:
        raise UserError(f"{where}: tasks: translation must be among them.")
    if "parsing" not in tasks:
        return segmentation
    _annotator_of(data, "source", "constituency", "constituency", where=where)
    for settings in components:
        if settings.needs or settings.parses:
            raise UserError(
                f"{where}: the task parsing does not go with {component_name(settings)}, which reads trees or tags or "
                "gives every source word a head: sources stand between tags that have neither."
            )
    return replace(segmentation, parsing=True)


def _annotator_of(data: DatasetSettings, side: str, annotation: str, kind: str, *, where: str) -> str:
    """Find the annotator that gives a kind of annotation, of which features of `kind` are made."""
    annotator = data.syntax.get(side, {}).get(annotation)
    if annotator is None:
        raise MissingAnnotation(
            f"{where}: needs {kind} on the {side} side, but the data set names no annotator for it: "
            f"add `syntax: {{{side}: {{{annotation}: NAME}}}}` to config/datasets/{data.name}.yaml.",
            what=f"no annotator for {annotation} on the {side} side",
        )
    return annotator


def _syntax(components: tuple, data: DatasetSettings, *, where: str) -> dict[str, dict[str, str]]:
    """Find the annotator that gives each kind of annotation that the components need."""
    found: dict[str, dict[str, str]] = {}
    for settings in components:
        for side, kinds in settings.needs.items():
            for kind in kinds:
                annotator = _annotator_of(data, side, FEATURES[kind].annotation, kind, where=where)
                found.setdefault(side, {})[kind] = annotator
    return found


def _dataset(name: str, values: Mapping[str, Any], shared: Mapping[str, Path], *, where: str) -> DatasetSettings:
    """Bring the short forms of a data set's file to the full ones, then build the settings.

    A corpus that its splits name and its `corpora` do not define is one of those that data sets share. A null, for a
    key, a split, a corpus, an annotator, or a side or kind of `syntax`, drops what the data set it extends has there.
    """
    values = _without_nulls(values) | {"name": name}
    for key in ("corpora", "annotators", "syntax"):
        if isinstance(values.get(key), Mapping):
            values[key] = _without_nulls(values[key])
    if isinstance(values.get("syntax"), Mapping):
        values["syntax"] = {
            side: _without_nulls(kinds) if isinstance(kinds, Mapping) else kinds
            for side, kinds in values["syntax"].items()
        }
    if "words" in values:
        values["words"] = _words(values["words"])
    if isinstance(values.get("splits"), Mapping):
        values["splits"] = {key: _parts(parts) for key, parts in values["splits"].items() if parts is not None}
        if isinstance(values.setdefault("corpora", {}), Mapping):
            values["corpora"] = {**_shared_corpora(values, shared), **values["corpora"]}
    if isinstance(values.get("corpora"), Mapping):
        languages = {values.get("source"): "source", values.get("target"): "target"}
        values["corpora"] = {key: _corpus(corpus, languages) for key, corpus in values["corpora"].items()}
    if isinstance(values.get("filters"), list):
        values["filters"] = tuple(filter_settings(entry, where=f"{where}: filters") for entry in values["filters"])
    if isinstance(values.get("annotators"), Mapping):
        values["annotators"] = {
            key: annotator_settings(entry, where=f"{where}: annotators.{key}")
            for key, entry in values["annotators"].items()
        }
    return build(DatasetSettings, values, where=where)


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _shared_corpora(values: Mapping[str, Any], shared: Mapping[str, Path]) -> dict[str, Any]:
    """Read the corpora of the splits that `corpora` does not define and that data sets share."""
    named = [part.get("corpus") for parts in values["splits"].values() for part in parts if isinstance(part, Mapping)]
    return {name: read_with_paths(shared[name]) for name in named if name not in values["corpora"] and name in shared}


def _words(words: Any) -> Any:
    """A kind, or settings, for both sides; or one of them for each."""
    if isinstance(words, str) or (isinstance(words, Mapping) and not set(words) & set(SIDES)):
        words = dict.fromkeys(SIDES, words)
    if not isinstance(words, Mapping):
        return words
    return {side: {"kind": entry} if isinstance(entry, str) else entry for side, entry in words.items()}


def _corpus(corpus: Any, languages: Mapping[str, str]) -> Any:
    """Give files by role: a language code stands for the side of that language, one file for a list of one."""
    if not isinstance(corpus, Mapping) or not isinstance(corpus.get("files"), Mapping):
        return corpus
    files = corpus["files"].items()
    files = {languages.get(role, role): entry if isinstance(entry, list) else [entry] for role, entry in files}
    return {**corpus, "files": files}


def _parts(parts: Any) -> Any:
    parts = parts if isinstance(parts, list) else [parts]
    return [{"corpus": part} if isinstance(part, str) else part for part in parts]


def _check_names(dataset: DatasetSettings, datasets: NamedFiles, *, where: str) -> None:
    """Names become parts of paths, so they are held to one pattern; those of other things must be known."""
    if dataset.segmentation_from:
        datasets.check(dataset.segmentation_from, where=f"{where}: segmentation_from")
    if SELECTION in dataset.annotators:
        raise UserError(f"{where}: no annotator can be called '{SELECTION}': a folder of the data set is.")
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
