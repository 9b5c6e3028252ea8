"""The settings of config.yaml: what to run and where."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from nmtcore.config.command_line import as_typed
from nmtcore.config.typed import build
from nmtcore.layout import MODELS, Layout


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
    """What config.yaml holds."""

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
    def layout(self) -> Layout:
        """Where files lie, for who does not know the scales: a folder of any name is one's where one can stand."""
        return Layout(results=self.paths.results, downloads=self.paths.downloads)

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
        return (*map(Path, self.models), Path(self.paths.manual) / MODELS)

    @property
    def model_folders(self) -> tuple[Path, ...]:
        """Where annotators' models are looked for: the user's folders, then the workflow's own downloads."""
        return (*self.own_model_folders, Path(self.paths.downloads) / MODELS)


def read_project_settings(values: Mapping[str, Any], *, where: str) -> ProjectSettings:
    """Read config.yaml's settings, with what the command line changed; the one way for plans and for jobs."""
    return build(ProjectSettings, as_typed(ProjectSettings, values), where=where)
