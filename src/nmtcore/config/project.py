"""The project's configuration: config.yaml, and the settings of runs, assembled in layers.

The Snakefile, the scripts and the command line all use `Project`.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from nmtcore.config.assembly import (
    MissingAnnotation,
    assemble,
    check_start,
    section_of,
)
from nmtcore.config.catalogue import Catalogue
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.files import REPOSITORY, Layer, Merged, config_file, merge, named_files, read_yaml
from nmtcore.config.imported import published_settings
from nmtcore.config.metrics import command_metric_names
from nmtcore.config.registry import own_config, own_names
from nmtcore.config.runs import RunSettings
from nmtcore.config.systems import ScaleSettings, SystemSettings, recipe_layers
from nmtcore.config.typed import Count, LinedKey, Listed, Seed, build, choose, line_of, settings_class
from nmtcore.errors import UserError
from nmtcore.layout import MODELS, NAME, PAPER, Layout


def check_folders(folders: Iterable[str], *, key: str) -> None:
    """Raise a `ValueError` if a folder is an empty string, which would mean the working directory."""
    if not all(folder.strip() for folder in folders):
        raise ValueError(f"{key}: an empty string is not a folder (the working directory is '.')")


@settings_class
class PathsSettings:
    """Folders: absolute, or relative to the working directory."""

    results: str = "results"
    """Everything that the workflow computes. A target begins with this path, exactly as it is written here."""
    downloads: str = "downloads"
    """Files that the workflow downloads."""
    manual: str = "manual"
    """Files that you must fetch by hand, under their `name`; a dry run lists them."""

    def __post_init__(self) -> None:
        for key in ("results", "downloads", "manual"):
            check_folders([getattr(self, key)], key=key)
        if os.path.normpath(self.results) == os.curdir:
            raise ValueError("results cannot be the working directory itself: name a folder, such as results")


@settings_class
class MachineSettings:
    """How this machine trains and translates, within its memory and time. Results differ only by rounding, and with
    `compile` by the masks of dropout."""

    device_size: Count | None = 8192
    """Largest batch that one device computes at once in training, in the unit of `training.batch`; larger ones are
    accumulated. null: no limit (fewer and larger products, on a card with room for them)."""
    compile: bool = False
    """Compile the loss, and the layers of a transformer or the decoder's step of a recurrent model, with torch.compile:
    minutes at the first updates, which pays in long training on a GPU. Dropout draws other masks."""
    log_every: Count = 10
    """Updates per line of training.jsonl."""
    batch_sentences: Count | None = None
    """Sentences that are translated or parsed at once; null: 64 on a CPU, 512 on a GPU."""
    jobs_per_gpu: Count | None = None
    """Jobs that share a GPU at a time, without an executor; null: those of the scale, usually one."""

    @property
    def of_runs(self) -> dict[str, Any]:
        """What it sets for runs, by section."""
        training = {key: getattr(self, key) for key in ("compile", "log_every")}
        return {
            "training": {"batch": {"device_size": self.device_size}, **training},
            "decoding": {"batch_sentences": self.batch_sentences},
        }


@settings_class
class ProjectSettings:
    """The settings of config.yaml."""

    scale: str = "paper"
    """Scale of the target rules: a file of `scales/`."""
    seeds: tuple[Seed, ...] = (1,)
    """A run is trained once per seed; scores are the mean and spread over seeds."""
    datasets: Annotated[tuple[str, ...], Listed()] = ()
    """Data sets of the target rules: names or patterns (`rehearsal_*`) of files of `datasets/`."""
    systems: Annotated[tuple[str, ...], Listed()] = ()
    """Systems of the target rules: names or patterns (`pascal_*`). A pattern skips the systems for which a data set
    lacks an annotation, a treebank or translations made elsewhere, and planning lists them."""
    stand_ins: str | None = "demo"
    """Data sets in place of the papers' in their tables at scales below `paper`: a file of `stand_ins/`; null: none."""
    unfinished_runs: Literal["train", "leave_out"] = "train"
    """What tables of the papers do about runs that are not finished: train them, or leave out their cells."""
    paths: PathsSettings = field(default_factory=PathsSettings)
    """Folders: absolute, or relative to the working directory."""
    mirrors: Annotated[tuple[str, ...], Listed()] = ()
    """Folders, `file://` or `https://` roots that are tried before a file's URL, folders first."""
    models: Annotated[tuple[str, ...], Listed()] = ()
    """Folders that hold models of annotators and metrics by name. Models can run code, so no other folders but
    `manual/models` are searched; a model in none of them is downloaded if `config/models` describes it."""
    http_hosts: Annotated[tuple[str, ...], Listed()] = ()
    """Hosts that files may be downloaded from without encryption; all others need https."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device of training and decoding; auto: cuda if the planning machine has a GPU (on a cluster, set cpu or cuda)."""
    gpus: Count = 1
    """GPUs per training run, with one process per GPU, each with its own memory and `threads`."""
    threads: Count = 1
    """Processor threads per training or decoding job; small models gain little from a second one."""

    machine: MachineSettings = field(default_factory=MachineSettings)
    """How this machine trains and translates, within its memory and time. Results differ only by rounding, and with
    `compile` by the masks of dropout."""

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise ValueError("seeds must be a list of different numbers, at least one")
        check_folders(self.models, key="models")

    @property
    def layout(self) -> Layout:
        """The paths of results, for code that does not know which scales exist: any folder name may be a scale."""
        own_scores = (*own_names("metrics"), *command_metric_names())
        return Layout(results=self.paths.results, downloads=self.paths.downloads, own_scores=own_scores)

    @property
    def missing_folders(self) -> list[str]:
        """One sentence per folder of `mirrors` or `models` that does not exist; addresses are not checked."""
        named = [*(("mirrors", folder) for folder in self.mirrors), *(("models", folder) for folder in self.models)]
        return [
            f"{key}: the folder {folder} does not exist."
            for key, folder in named
            if "://" not in folder and not Path(folder).is_dir()
        ]

    @property
    def own_model_folders(self) -> tuple[Path, ...]:
        """The user's folders of annotators' models: those of config.yaml and that of files fetched by hand."""
        return (*map(Path, self.models), Path(self.paths.manual) / MODELS)

    @property
    def model_folders(self) -> tuple[Path, ...]:
        """The folders that are searched for annotators' models: the user's, then the workflow's downloads."""
        return (*self.own_model_folders, Path(self.paths.downloads) / MODELS)


def read_project_settings(values: Mapping[str, Any], *, where: str) -> ProjectSettings:
    """Build the settings of config.yaml, with the command line's changes; used by planning and by jobs."""
    if isinstance(seed := values.get("seeds"), int | str):
        raise UserError(f"{where}: seeds: write a list, [{seed}] for one run with this seed, [1, 2, 3] for three runs.")
    return build(ProjectSettings, _with_nulls(values), where=where)


def _with_nulls(value: Any) -> Any:
    """Replace `null` within lists and mappings by None: there, Snakemake reads everything after `--config` as text."""
    if isinstance(value, Mapping):
        return {key: _with_nulls(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_with_nulls(inner) for inner in value]
    return None if value == "null" else value


MACHINE = "machine, in config.yaml"
"""The layer of what config.yaml says about this machine."""


class Project(Catalogue):
    """The catalogue of a configuration and the settings in config.yaml; assembles runs."""

    def __init__(self, folders: Sequence[Path], settings: Mapping[str, Any], *, where: str = "config.yaml") -> None:
        super().__init__(folders)
        self.settings = read_project_settings(settings, where=where)
        self.scale_files.check(self.settings.scale, where=where)
        check = partial(self.dataset_files.check, where=f"{where}: datasets")
        datasets = _matching(self.settings.datasets, self.dataset_files, check)
        # An unknown name may belong to a system in a file that cannot be read: only a target that needs it fails.
        unread = [name for name in self.settings.systems if self.systems.unread and re.fullmatch(NAME, name)]
        valid = dict.fromkeys([*self.system_entries, *unread])
        check = partial(choose, valid=valid, noun="system", where=f"{where}: systems")
        systems = _matching(self.settings.systems, valid, check)
        if self.settings.stand_ins is not None and self.stand_in_files:
            self.stand_in_files.check(self.settings.stand_ins, where=f"{where}: stand_ins")
        self.chosen_by_pattern = frozenset(systems) - frozenset(self.settings.systems)
        """Configured systems that only match a pattern."""
        self.settings = replace(self.settings, datasets=datasets, systems=systems)
        scales = tuple(name for name in self.scale_names if name != PAPER)
        papers = tuple(sorted(named_files(self.folders, "tables", noun="paper")))
        self.layout = replace(self.settings.layout, scales=scales, papers=papers)
        """The paths of all files."""
        self._runs: dict[tuple, RunSettings] = {}

    @classmethod
    def load(cls, folder: Path, **overrides: Any) -> "Project":
        """Read `folder`/config.yaml; `overrides` replace its keys."""
        path = config_file(folder)
        return cls([folder], merge(read_yaml(path), overrides), where=str(path))

    def run(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        """Assemble one run."""
        key = (dataset, system, scale, seed)
        if key not in self._runs:
            self._runs[key] = self._checked_run(*key)
        return self._runs[key]

    def _checked_run(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        path, _ = self.system_entries[self.systems.check(system, where="the target")]
        where = f"{path}: {system} on {dataset} at scale {scale}"
        data, size, parts = self.dataset(dataset), self.scale(scale), self.system(system, dataset)
        if data.is_treebank:
            sentence = f"{dataset} is a treebank alone, so nothing is trained on it: ask for results/tables/parsers.md."
            raise MissingAnnotation(sentence, missing="no training pairs")
        merged = self.merged(dataset, system, scale)
        names = {"dataset": dataset, "system": system, "scale": scale, "seed": seed}
        run = assemble(data, size, parts, merged, names=names, where=where)
        if run.start is not None:
            self._check_start(run, where=f"{where}: start_from")
        return run

    def merged(self, dataset: str, system: str, scale: str) -> Merged:
        """Merge what files set for a run, each value with its file.

        The weakest come first: the data set, which sets what no other one does; the recipe; what the system leaves to
        the scale (`below_scale`); the scale; the system; and this machine.
        """
        data, parts, scale_file = self.dataset(dataset), self.system(system, dataset), str(self.scale_files[scale])
        recipes = self.recipe_layers(data.recipe, where=f"{self.dataset_files.where(dataset)}: recipe")
        of_scale, above = self.scale_files.read(scale), self.system_layers(system, dataset)
        tuning = {"training": of_scale.get("fine_tuning", {})} if parts.start_from is not None else {}
        merged = Merged(
            [
                *self.dataset_layers(dataset),
                *recipe_layers(recipes, parts.base),
                *(Layer(layer.where, layer.values.get("below_scale", {})) for layer in above),
                *recipe_layers([Layer(scale_file, of_scale)], parts.base),
                Layer(scale_file, {**tuning, "sentences": of_scale.get("sentences", {})}),
                *self._published_layers(system, parts),
                *above,
                Layer(MACHINE, self.settings.machine.of_runs),
            ]
        )
        where, limit = self.systems.where(system), self.scale(scale).segmentation_size
        segmentation = section_of(merged, "segmentation", SegmentationSettings, where=where)
        if limit is not None and segmentation.model is None and segmentation.size > limit:
            size = LinedKey("size", line_of(of_scale, ["segmentation_size"]))
            merged.add(Layer(scale_file, {"segmentation": {size: limit}}))
        return merged

    def _published_layers(self, system: str, parts: SystemSettings) -> list[Layer]:
        """Return what a published model says of a run: of the imported system itself, or of one that starts from it,
        or from one that does."""
        where, imported, start, seen = f"{self.systems.where(system)}: start_from", system, parts.start_from, set()
        while start is not None and start not in seen:
            seen.add(start)
            imported = start.rpartition("/")[2]
            start = self.system(imported, where=where).start_from
        if imported not in self.systems.imported or parts.base != "transformer":
            return []
        folder = self.published_model(imported)
        code = self.system(imported).imported.code
        return [Layer(str(folder), published_settings(folder, code=code))]

    def published_model(self, system: str) -> Path:
        """Return the folder of an imported system's model. Raises `MissingAnnotation` if no folder has it."""
        name, folders = self.system(system).imported.model, self.settings.model_folders
        candidates = [Path(folder) / name for folder in folders]
        folder = next((path for path in candidates if path.is_dir()), None)
        if folder is None:
            advice = "put it at one of these places, or add the folder that holds it to `models` in config/config.yaml"
            if name in self.model_files:
                files = (self.layout.path("download", file=file.name) for file in self.annotator_model(name).files)
                advice = f"download it first (`snakemake --cores 1 {' '.join(files)}`)"
            raise MissingAnnotation(
                f"{self.systems.where(system)}: imported: there is no model {name} at "
                f"{', '.join(map(str, candidates))}: {advice}.",
                missing=f"no model {name}",
            )
        return folder

    def start_run(self, run: RunSettings) -> RunSettings:
        """Return the run whose model gives a run its initial weights: of an imported system, that of seed 1."""
        dataset, system = run.start
        return self.run(dataset, system, run.scale, 1 if system in self.systems.imported else run.seed)

    def _check_start(self, run: RunSettings, *, where: str) -> None:
        """Raise `UserError` if a run starts from itself, or from one that is not there or whose weights do not fit."""
        chain = [(run.dataset, run.system)]
        while (name := self.system(chain[-1][1], where=where).start_from) is not None:
            dataset, _, system = name.rpartition("/")
            chain.append((dataset or chain[-1][0], system))
            if chain[-1] in chain[:-1]:
                shown = " starts from ".join(system for _, system in chain)
                raise UserError(f"{where}: {shown}: this is circular, remove one `start_from`.")
        owners = [self.dataset(name, where=where).segmentation_from or name for name in (run.dataset, chain[1][0])]
        check_start(run, self.start_run(run), owners, where=where)

    def seeds(self, dataset: str, system: str, wanted: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Return the seeds of a system: for an external system, those with translations, for an imported one, seed 1.

        `wanted` are the seeds to choose from, by default those of config.yaml. If the system has none of them, all are
        returned, and `run` says what is missing.
        """
        seeds = self.settings.seeds if wanted is None else wanted
        if system in self.systems.imported:
            count = 1
        elif system in self.systems.external:
            count = self.system(system).external.seed_count(dataset)
        else:
            return seeds
        return tuple(seed for seed in seeds if 1 <= seed <= count) or seeds

    def segmentation(self, dataset: DatasetSettings, scale: ScaleSettings) -> SegmentationSettings:
        """Return the data set's segmentation, at most as large as the scale allows unless it is a given model's."""
        settings = dataset.segmentation
        if settings.model is not None:
            return settings
        return replace(settings, size=min(settings.size, scale.segmentation_size or settings.size))


def _matching(patterns: Iterable[str], valid: Iterable[str], check: Callable[[str], str]) -> tuple[str, ...]:
    """Return the `valid` names that match any of the patterns (`rehearsal_*`), each once.

    `check` is called for a pattern that matches no name and raises `UserError` if it is not a name either.
    """
    matches: list[str] = []
    for pattern in patterns:
        matches += [name for name in valid if fnmatchcase(name, pattern)] or [check(pattern)]
    return tuple(dict.fromkeys(matches))


def own_folders(**folders: Sequence[str]) -> dict[str, list[str]]:
    """Return settings of config.yaml that list folders, made absolute; addresses stay, empty lists are left out."""
    return {
        key: [name if "://" in name else os.path.abspath(os.path.expanduser(name)) for name in names]
        for key, names in folders.items()
        if names
    }


def project_of_folder(folder: Path, **overrides: Any) -> Project:
    """Read the project that Snakemake would read in a working folder (`snakemake -d FOLDER`).

    Its settings are those of the folder's own config.yaml or, without one, of the repository's; `overrides` replace
    keys. Relative folders in them start at the working directory, so call this there. Raises `UserError` if there is no
    configuration.
    """
    shared = REPOSITORY / "config"
    if not config_file(shared).is_file():
        raise UserError(
            "This command reads the configuration of the repository, which an installed wheel lacks: use the nmtcore "
            "of a checkout (its .venv/bin/nmtcore, or pip install --editable)."
        )
    folder_config = config_file(folder / "config")
    settings = folder_config if folder_config.is_file() else config_file(shared)
    return Project([folder / "config", shared], merge(read_yaml(settings), overrides), where=str(settings))


def project_model_folders(bundle: Path) -> tuple[Path, ...]:
    """Return the folders of annotators' models in the working folder's config/config.yaml; empty without that file.

    A configuration inside `bundle`, a trained model that may come from somebody else, is never read, even if it is in
    the working folder. Raises `UserError` if the configuration is not valid.
    """
    path = config_file(own_config())
    if not path.is_file() or path.resolve().is_relative_to(bundle.resolve()):
        return ()
    settings = read_project_settings(read_yaml(path), where=str(path))
    return tuple(path.parent.parent / folder for folder in settings.model_folders)
