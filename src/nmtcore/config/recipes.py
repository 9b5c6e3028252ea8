"""Settings of recipes, scales, stand-ins and speeds."""

from collections.abc import Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from nmtcore.config.bases import Changes, ChangesByBase
from nmtcore.config.layers import Layer, Merged
from nmtcore.config.ranges import Count, PartOf, Positive, settings_class
from nmtcore.config.runs import SentencesSettings
from nmtcore.config.training import TrainingSettings
from nmtcore.config.typed import build
from nmtcore.config.yaml_files import read_yaml


@settings_class
class RecipeSettings(Changes):
    """The settings of one paper: its changes of the defaults of model, training and decoding, or of another recipe."""

    description: str
    """A sentence that says what the file is for."""
    per_base: Annotated[dict[str, Any], PartOf(ChangesByBase)] = field(default_factory=dict)
    """The model's settings, and changes of training and decoding, for the systems of each base."""
    assumed: dict[str, str] = field(default_factory=dict)
    """What a paper leaves open: keys (`training.clip_norm`) or topics, and why they are so here. Changes no run."""


@settings_class
class ScaleSettings(RecipeSettings):
    """The size of runs: less data, and settings that override those of recipes and data sets.

    What a system sets itself overrides them, except for its `below_scale`.
    """

    sentences: SentencesSettings = field(default_factory=SentencesSettings)
    """Sentences to use of each split."""
    fine_tuning: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of the scale's `training` for systems that start from another system's model."""
    segmentation_size: Count | None = None
    """Most merges or words of a segmentation; null: as the data set has them."""
    verdicts: bool = True
    """Whether its results decide the papers' claims, and systems have the seeds of `tables/`; false: runs are too small
    for that."""
    converges: bool = True
    """Whether training ends after the baseline has stopped improving; false: no claim about a system with a second loss
    is decided, since such a loss slows the start."""
    jobs_per_gpu: Count = 1
    """Jobs that share a GPU at a time; more are faster where one leaves most of the GPU idle (docs/benchmarks.md)."""


SECTIONS = ("model", "training", "decoding")
"""The sections of a run that recipes, scales and systems set."""


def check_recipes(levels: Sequence[Layer]) -> None:
    """Raise `UserError` if a recipe or one that it extends is not valid."""
    for level in levels:
        build(RecipeSettings, level.values, where=level.where)


def recipe_layers(levels: Sequence[Layer], base: str) -> list[Layer]:
    """Return what recipes that extend each other, or a scale, set for systems of a base, the weakest first.

    What each says of the base overrides what it says in general.
    """
    layers = []
    for where, values, _ in levels:
        general = {key: values[key] for key in (*SECTIONS, "assumed") if key in values}
        layers += [Layer(where, general), Layer(where, values.get("per_base", {}).get(base, {}))]
    return layers


@settings_class
class StandInSettings:
    """Data sets that stand in for those of the papers at small scales."""

    description: str
    """A sentence that says what the data sets are."""
    datasets: dict[str, str] = field(default_factory=dict)
    """The data set that stands in for each: {cs2en: demo_en2de}. A split that it lacks is its main test or, of a
    treebank, its first gold treebank."""


@settings_class
class DeviceSpeeds:
    """Seconds per update on one device, by system (`sa_nmt_*`) or base; the first name that fits counts."""

    cpu: dict[str, Positive] = field(default_factory=dict)
    """On one processor core."""
    gpu: dict[str, Positive] = field(default_factory=dict)
    """On one GPU."""


@settings_class
class SpeedsSettings:
    """Seconds per update (`speeds.yaml`), from which dry runs of several trainings estimate hours."""

    recipes: dict[str, DeviceSpeeds] = field(default_factory=dict)
    """At the scale `paper`, by the recipe that the data set's extends in the end."""
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
    merged = Merged((Layer(str(path), read_yaml(path)) for path in reversed(paths)), dropping=())
    return build(SpeedsSettings, merged.values, where=str(paths[0]) if paths else "speeds.yaml", given=merged.given)
