"""Settings of systems, and a system composed of those that it extends."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Annotated, Any, Literal

from nmtcore.config.bases import BASES
from nmtcore.config.components import COMPONENTS, RESERVED_NAMES
from nmtcore.config.components.base import Trees
from nmtcore.config.external import ExternalSettings
from nmtcore.config.files import Level
from nmtcore.config.partial import PartOf
from nmtcore.config.ranges import settings_class
from nmtcore.config.registry import PartsOf
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings, TreebankSettings
from nmtcore.config.transforms import TRANSFORMS
from nmtcore.config.typed import build, choose, merge, nearest
from nmtcore.errors import UserError
from nmtcore.layout import NAME


@settings_class
class SystemSettings:
    """A base model and components by name, in the order in which the model calls them."""

    base: Literal["transformer", "recurrent"] = "transformer"
    """Base model."""
    description: str = ""
    """A sentence that says what the system is."""
    components: Annotated[dict[str, dict[str, Any]], PartsOf(COMPONENTS)] = field(default_factory=dict)
    """Components by name, in the order in which the model calls them; a component's kind is its name or its `kind`."""
    trees: Trees | None = None
    """What its trees are compared with. supervised: the trees of the parser that it learned from, and gold treebanks;
    chain: the previous word; induced: gold treebanks, as in grammar induction. null: the default of its components."""
    model: Annotated[dict[str, Any], PartOf(*BASES.values())] = field(default_factory=dict)
    """Changes of the model."""
    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Changes of decoding."""
    start_from: str | None = None
    """Another system, whose model (same data set, scale and seed) gives the initial weights."""
    treebank: TreebankSettings | None = None
    """Training on the data set's training treebanks; null: none."""
    segmentation: Annotated[dict[str, Any], PartOf(SegmentationSettings)] = field(default_factory=dict)
    """Changes of the data set's segmentation."""
    transforms: Annotated[dict[str, dict[str, Any]], PartsOf(TRANSFORMS)] = field(default_factory=dict)
    """Transforms of examples by name, in the order in which they are applied."""
    external: ExternalSettings | None = None
    """Translations made elsewhere, of a system that is not trained here; it has no other keys but `description`."""


@settings_class
class PerDatasetSettings:
    """The changes of a system on one data set, and on data sets that extend it."""

    components: Annotated[dict[str, dict[str, Any]], PartsOf(COMPONENTS)] = field(default_factory=dict)
    """Changes of the system's components, by name."""
    model: Annotated[dict[str, Any], PartOf(*BASES.values())] = field(default_factory=dict)
    """Changes of the model."""
    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Changes of decoding."""


@settings_class
class SystemEntry(SystemSettings):
    """An entry of a file of systems: its differences from the system that it extends."""

    components: Annotated[dict[str, dict[str, Any] | None], PartsOf(COMPONENTS)] = field(default_factory=dict)
    """Components by name, in the order in which the model calls them; a component's kind is its name or its `kind`.
    null drops an ancestor's component."""
    transforms: Annotated[dict[str, dict[str, Any] | None], PartsOf(TRANSFORMS)] = field(default_factory=dict)
    """Transforms of examples by name, in the order in which they are applied. null drops an ancestor's transform."""
    per_dataset: dict[str, Annotated[dict[str, Any], PartOf(PerDatasetSettings)]] = field(default_factory=dict)
    """Changes on a data set and on those that extend it; of several such entries only the nearest counts."""


BY_NAME = ("components", "transforms")
"""Sections of a system whose entries have names."""


def compose_system(levels: Sequence[Level], datasets: Sequence[str] = ()) -> SystemSettings:
    """Merge a system into its ancestors, as `merged_levels` does, and build its settings."""
    return build(SystemSettings, merged_levels(levels, datasets), where=levels[-1].where)


def merged_levels(levels: Iterable[Level], datasets: Sequence[str] = ()) -> dict[str, Any]:
    """Merge the keys of a system into those of its ancestors (the oldest comes first), with changes for a data set.

    `datasets` are the data set and its ancestors, the nearest first. The definition nearest to the system wins.
    Ancestors' components come first, in their order.
    """
    values: dict[str, Any] = {}
    for level in levels:
        own = {key: value for key, value in level.keys.items() if key != "per_dataset"}
        special = level.keys.get("per_dataset", {})
        values = merge(values, own, next((special[name] for name in datasets if name in special), {}))
        for section in BY_NAME:
            entries = values.get(section, {})
            values[section] = {name: entry for name, entry in entries.items() if entry is not None}
        values["description"] = own.get("description", "")  # an ancestor's describes another system
    return values


def check_levels(levels: Sequence[Level]) -> None:
    """Raise `UserError` if the keys of a system or one of its ancestors are not valid."""
    present: dict[str, set[str]] = {section: set() for section in BY_NAME}
    for level in levels:
        build(SystemEntry, level.keys, where=level.where)
        if level.keys.get("external") is not None:
            _check_external(level, levels)
        for section, names in present.items():
            entries = level.keys.get(section, {})
            dropped = {name for name, settings in entries.items() if settings is None}
            _check_entries(entries, dropped - names, section, names, where=f"{level.where}: {section}")
            present[section] = (names | entries.keys()) - dropped
        for dataset, special in level.keys.get("per_dataset", {}).items():
            where = f"{level.where}: per_dataset: {dataset}: components"
            for name in special.get("components", {}):
                choose(name, present["components"], noun="component", where=where)


def _check_entries(entries: dict[str, Any], absent: set[str], section: str, names: set[str], *, where: str) -> None:
    """Check the names of components or transforms, and that an ancestor has those that null drops."""
    noun = section.removesuffix("s")
    for name in absent:
        raise UserError(
            f"{where}: {name}: null drops a {noun} of a system that this one extends, but none of them has it. "
            f"{nearest(name, names)}"
        )
    for name in entries:
        if not re.fullmatch(NAME, name) or name in RESERVED_NAMES:
            raise UserError(
                f"{where}: a {noun} cannot be called '{name}': use small letters, digits and single underscores, "
                f"begin with a letter, and avoid {', '.join(RESERVED_NAMES)}."
            )


def _check_external(level: Level, levels: Sequence[Level]) -> None:
    """Check that an external system has no keys for training, extends no other system and is not extended."""
    if others := [key for key in level.keys if key not in ("external", "description")]:
        raise UserError(
            f"{level.where}: external: the system is not trained here, so it has no {' and no '.join(others)}: "
            "delete one or the other."
        )
    if len(levels) > 1:
        raise UserError(
            f"{levels[-1].where}: extends: {level.name} is external, and such a system neither extends another "
            "nor is extended."
        )
