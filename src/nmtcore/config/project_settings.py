"""Settings of config.yaml: what to run, and where."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from nmtcore.config.annotators import check_model_name
from nmtcore.config.own_code import own_names
from nmtcore.config.ranges import Count, Listed, Seed, settings_class
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.layout import MODELS, Layout


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
class CometSettings:
    """COMET, a neural metric, for the targets `.comet`."""

    model: str = "wmt22-comet-da"
    """Name of a COMET model: a folder in one of `models`, with hparams.yaml and checkpoints/model.ckpt."""
    python: str | None = None
    """Python interpreter of an environment that has unbabel-comet; null: that of `envs/comet.yaml`, by conda."""
    batch: Count = 16
    """Sentences per batch."""

    def __post_init__(self) -> None:
        check_model_name(self.model)


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
    """Folders that hold annotators' models, and COMET's, by name. Models can run code, so no other folders but
    `manual/models` are searched; a model in none of them is downloaded if `config/models` describes it."""
    http_hosts: Annotated[tuple[str, ...], Listed()] = ()
    """Hosts that files may be downloaded from without encryption; all others need https."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device of training and decoding; auto: cuda if the planning machine has a GPU (on a cluster, set cpu or cuda)."""
    gpus: Count = 1
    """GPUs per training run, with one process per GPU, each with its own memory and `threads`."""
    comet: CometSettings = field(default_factory=CometSettings)
    """COMET, a neural metric, for the targets `.comet`."""
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
        own_scores = tuple(own_names("metrics"))
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
