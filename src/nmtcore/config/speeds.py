"""Settings of `speeds.yaml`: how long an update of training takes, to estimate the hours of a plan."""

from collections.abc import Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path

from nmtcore.config.ranges import Positive, settings_class
from nmtcore.config.typed import build, merge
from nmtcore.config.yaml_files import read_yaml


@settings_class
class DeviceSpeeds:
    """Seconds per update on one device, by system (`sa_nmt_*`) or base; the first name that fits counts."""

    cpu: dict[str, Positive] = field(default_factory=dict)
    """On one processor core."""
    gpu: dict[str, Positive] = field(default_factory=dict)
    """On one GPU."""


@settings_class
class SpeedsSettings:
    """Seconds per update, from which dry runs of several trainings estimate hours."""

    recipes: dict[str, DeviceSpeeds] = field(default_factory=dict)
    """At the scale `paper`, by the data set's recipe."""
    scales: dict[str, DeviceSpeeds] = field(default_factory=dict)
    """At other scales."""

    def seconds(self, section: str, name: str, device: str, *, system: str, base: str) -> float | None:
        """Return the seconds per update of a system; None if they are unknown.

        `section` is "recipes" or "scales", `name` an entry of it, and `device` "cpu" or "gpu".
        """
        speeds = getattr(getattr(self, section).get(name, DeviceSpeeds()), device)
        fitting = (seconds for pattern, seconds in speeds.items() if fnmatchcase(system, pattern))
        return speeds.get(system, next(fitting, speeds.get(base)))


def read_speeds(folders: Sequence[Path]) -> SpeedsSettings:
    """Read `speeds.yaml` of the folders of a configuration; an earlier folder's file changes those of later ones."""
    paths = [path for folder in folders if (path := Path(folder) / "speeds.yaml").is_file()]
    where = str(paths[0]) if paths else "speeds.yaml"
    return build(SpeedsSettings, merge({}, *(read_yaml(path) for path in reversed(paths))), where=where)
