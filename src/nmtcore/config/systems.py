"""Settings of recipes, scales and systems, and a system composed of those that it extends."""

import datetime
import re
from collections.abc import Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from nmtcore.config.components import COMPONENTS, RESERVED_NAMES
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.config.datasets import check_model_name
from nmtcore.config.features import TRANSFORMS, Trees
from nmtcore.config.files import Layer, Merged, read_yaml
from nmtcore.config.registry import PartOf, PartsOf
from nmtcore.config.runs import SentencesSettings
from nmtcore.config.training import (
    BASES,
    DecodingSettings,
    RecurrentSettings,
    TrainingSettings,
    TransformerSettings,
    TreebankSettings,
)
from nmtcore.config.typed import Count, Listed, Positive, build, choose, nearest, settings_class
from nmtcore.errors import UserError
from nmtcore.layout import NAME


@settings_class
class Changes:
    """Changes of training and decoding."""

    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Changes of decoding."""


@settings_class
class ChangesForTransformer(Changes):
    """Changes for systems whose base is the transformer."""

    model: Annotated[dict[str, Any], PartOf(TransformerSettings)] = field(default_factory=dict)
    """Settings of the model."""


@settings_class
class ChangesForRecurrent(Changes):
    """Changes for systems whose base is the recurrent model."""

    model: Annotated[dict[str, Any], PartOf(RecurrentSettings)] = field(default_factory=dict)
    """Settings of the model."""


@settings_class
class ChangesByBase:
    """Changes for the systems of each base."""

    transformer: ChangesForTransformer = field(default_factory=ChangesForTransformer)
    """Changes for transformers."""
    recurrent: ChangesForRecurrent = field(default_factory=ChangesForRecurrent)
    """Changes for recurrent models."""


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


@settings_class
class BelowScaleSettings:
    """Changes of a system that a scale may override; whatever else the system sets, it sets at every scale."""

    model: Annotated[dict[str, Any], PartOf(*BASES.values())] = field(default_factory=dict)
    """Changes of the model."""
    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""


@settings_class
class PerDatasetSettings(Changes):
    """The changes of a system on one data set, and on data sets that extend it."""

    components: Annotated[dict[str, dict[str, Any]], PartsOf(COMPONENTS)] = field(default_factory=dict)
    """Changes of the system's components, by name."""
    model: Annotated[dict[str, Any], PartOf(*BASES.values())] = field(default_factory=dict)
    """Changes of the model."""
    below_scale: Annotated[dict[str, Any], PartOf(BelowScaleSettings)] = field(default_factory=dict)
    """Changes that suit the papers' sizes, and that a scale with other sizes overrides."""


@settings_class
class ExternalSettings:
    """Translations that the workflow does not make itself: by an LLM, an engine or another toolkit."""

    provenance: str
    """What translated, how and when: free text, shown below tables."""
    date: Annotated[str, BeforeValidator(lambda day: str(day) if isinstance(day, datetime.date) else day)] = ""
    """The day of the translation."""
    licence: str = ""
    """Licence or terms of use of the translations."""
    url: str = ""
    """Where the translations, or what made them, can be found."""
    translations: dict[str, dict[str, Annotated[tuple[str, ...], Listed()]]] = field(default_factory=dict)
    """Files by data set and split, `{DATASET: {SPLIT: [FILE, ...]}}`: seed 1 has the first file, seed 2 the second; a
    path alone is seed 1. A file has one line per pair of the split, empty lines included. Paths are absolute, from `~`
    on, or relative to the folder that holds `systems`."""

    def __post_init__(self) -> None:
        if not self.provenance.strip():
            raise ValueError("provenance is empty: say what made the translations")

    @property
    def source_note(self) -> str:
        """Provenance, date, licence and address in one line."""
        return "; ".join(filter(None, (self.provenance.strip(), self.date, self.licence, self.url)))

    def seed_count(self, dataset: str) -> int:
        """Return the number of seeds with translations of a data set."""
        return max(map(len, self.translations.get(dataset, {}).values()), default=0)


@settings_class
class ImportedSettings:
    """A published model of the Marian family, which is not trained here: the same at all scales, with seed 1 alone."""

    model: str
    """Name of its folder in one of `models` of config.yaml, or an entry of `config/models` that has been downloaded."""
    source: str
    """Source language of the data sets for which it exists."""
    target: str
    """Target language of the data sets for which it exists."""
    code: str = ""
    """Language code that is put before every source, such as `>>fra<<`, for a model with several target languages."""
    licence: str = ""
    """Licence of the model."""
    citation: str = ""
    """What to cite."""

    def __post_init__(self) -> None:
        check_model_name(self.model)


@settings_class
class SystemSettings(PerDatasetSettings):
    """A base model and components by name. In a file, an entry has the differences from the system that it extends."""

    base: Literal["transformer", "recurrent"] = "transformer"
    """Base model."""
    description: str = ""
    """A sentence that says what the system is."""
    components: Annotated[dict[str, dict[str, Any] | None], PartsOf(COMPONENTS)] = field(default_factory=dict)
    """Components by name, in the order in which the model calls them; a component's kind is its name or its `kind`.
    null drops an ancestor's component."""
    compared_with: str | None = None
    """The system that its scores are compared with; null: that of the system that it extends or, if none of those names
    one, the first of them. A system that extends none, and names none, is compared with none."""
    trees: Trees | None = None
    """What its trees are compared with. supervised: the trees of the parser that it learned from, and gold treebanks;
    chain: the previous word; induced: gold treebanks, as in grammar induction. null: the default of its components."""
    start_from: str | None = None
    """Another system, or DATASET/SYSTEM, whose model (same scale and seed) gives the initial weights. That system may
    lack components that are neutral at first."""
    treebank: TreebankSettings | None = None
    """Training on the data set's training treebanks; null: none."""
    segmentation: Annotated[dict[str, Any], PartOf(SegmentationSettings)] = field(default_factory=dict)
    """Changes of the data set's segmentation."""
    transforms: Annotated[dict[str, dict[str, Any] | None], PartsOf(TRANSFORMS)] = field(default_factory=dict)
    """Transforms of examples by name, in the order in which they are applied. null drops an ancestor's transform."""
    external: ExternalSettings | None = None
    """Translations made elsewhere, of a system that is not trained here; it has no other keys but `description` and
    `compared_with`."""
    imported: ImportedSettings | None = None
    """A published model that is the system; it has no other keys but `description` and `compared_with`. A system that
    starts from it (`start_from`) has its model, segmentation and search, and any components."""
    per_dataset: dict[str, Annotated[dict[str, Any], PartOf(PerDatasetSettings)]] = field(default_factory=dict)
    """Changes on a data set and on those that extend it; of several such entries only the nearest counts."""
    assumed: dict[str, str] = field(default_factory=dict)
    """What a paper leaves open: keys (`training.clip_norm`) or topics, and why they are so here. Changes no run."""


BY_NAME = ("components", "transforms")
"""Sections of a system whose entries have names."""

EXTERNAL, IMPORTED = "external", "imported"
"""The keys that make a system one that is not trained here."""


def system_layers(levels: Sequence[Layer], datasets: Sequence[str] = ()) -> list[Layer]:
    """Return what a system and its ancestors set for a data set, the oldest first.

    `datasets` are the data set and its ancestors, the nearest first. The changes for one of them follow the entry that
    has them. An ancestor's description is left out, since it describes another system.
    """
    layers = []
    for level in levels:
        left_out = ("per_dataset",) if level is levels[-1] else ("per_dataset", "description")
        special = level.values.get("per_dataset", {})
        nearest_special = next((special[name] for name in datasets if name in special), {})
        values = {key: value for key, value in level.values.items() if key not in left_out}
        layers += [Layer(level.where, values, level.name), Layer(level.where, nearest_special, level.name)]
    return layers


def check_levels(levels: Sequence[Layer]) -> None:
    """Raise `UserError` if the keys of a system or one of its ancestors are not valid."""
    present: dict[str, list[str]] = {section: [] for section in BY_NAME}
    for level in levels:
        build(SystemSettings, level.values, where=level.where)
        for key in (EXTERNAL, IMPORTED):
            if level.values.get(key) is not None:
                _check_untrained(level, levels, key)
        for section in BY_NAME:
            entries = level.values.get(section, {})
            _check_entries(level, section, present[section])
            names = dict.fromkeys([*present[section], *entries])
            present[section] = [name for name in names if entries.get(name, {}) is not None]
        for dataset, special in level.values.get("per_dataset", {}).items():
            where = level.at("per_dataset", dataset, "components")
            for name in special.get("components", {}):
                choose(name, present["components"], noun="component", where=where)


def _check_entries(level: Layer, section: str, present: Sequence[str]) -> None:
    """Check the names of components or transforms, and that those that null drops are present."""
    noun = section.removesuffix("s")
    for name, entry in level.values.get(section, {}).items():
        where = level.at(section, name)
        if entry is None and name not in present:
            raise UserError(
                f"{where}: null drops a {noun} of a system that this one extends, but none of them has it. "
                f"{nearest(name, present)}"
            )
        if not re.fullmatch(NAME, name) or name in RESERVED_NAMES:
            raise UserError(
                f"{where}: a {noun} cannot be called '{name}': use small letters, digits and single underscores, "
                f"begin with a letter, and avoid {', '.join(RESERVED_NAMES)}."
            )


def _check_untrained(level: Layer, levels: Sequence[Layer], key: str) -> None:
    """Check that an external or imported system has no keys for training, extends no other and is not extended."""
    if others := [name for name in level.values if name not in (key, "description", "compared_with")]:
        raise UserError(
            f"{level.at(key)}: the system is not trained here, so it has no {' and no '.join(others)}: "
            "delete one or the other."
        )
    if len(levels) > 1:
        raise UserError(
            f"{levels[-1].where}: extends: {level.name} is {key}, and such a system neither extends another "
            "nor is extended."
        )
