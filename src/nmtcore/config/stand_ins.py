"""Data sets that stand in for those of the papers at small scales, from `config/stand_ins/NAME.yaml`."""

from dataclasses import field

from nmtcore.config.catalogue import Catalogue
from nmtcore.config.files import NamedFiles, named_files
from nmtcore.config.ranges import settings_class
from nmtcore.config.typed import build
from nmtcore.config.yaml_files import read_yaml


@settings_class
class StandInSettings:
    """A choice of data sets that stand in for others."""

    description: str
    """A sentence that says what the data sets are."""
    datasets: dict[str, str] = field(default_factory=dict)
    """The data set that stands in for each: {cs2en: demo_en2de}. A split that it lacks is its main test or, of a
    treebank, its first gold treebank."""


def stand_in_files(catalogue: Catalogue) -> NamedFiles:
    """Return the files of stand-ins by name."""
    return named_files(catalogue.folders, "stand_ins", noun="choice of stand-ins")


def read_stand_ins(catalogue: Catalogue, name: str, *, where: str) -> StandInSettings:
    """Read a choice of stand-ins. Raises `UserError` if there is none of this name, or if it names no data set."""
    files = stand_in_files(catalogue)
    files.check(name, where=where)
    settings = build(StandInSettings, read_yaml(files[name]), where=str(files[name]))
    for dataset, stand_in in settings.datasets.items():
        for known in (dataset, stand_in):
            catalogue.dataset_files.check(known, where=f"{files[name]}: datasets.{dataset}")
    return settings
