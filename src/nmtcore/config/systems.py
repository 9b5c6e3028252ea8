"""Settings of systems, and a system composed of those that it extends."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Annotated, Any, Literal

from nmtcore.config.bases import BASES, Changes
from nmtcore.config.components import COMPONENTS, RESERVED_NAMES
from nmtcore.config.components.base import Trees
from nmtcore.config.layers import Layer
from nmtcore.config.needs import ExternalSettings
from nmtcore.config.ranges import PartOf, settings_class
from nmtcore.config.registry import PartsOf
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.training import TrainingSettings, TreebankSettings
from nmtcore.config.transforms import TRANSFORMS
from nmtcore.config.typed import build, choose, nearest
from nmtcore.errors import UserError
from nmtcore.layout import NAME


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
    """Another system, or DATASET/SYSTEM, whose model (same scale and seed) gives the initial weights."""
    treebank: TreebankSettings | None = None
    """Training on the data set's training treebanks; null: none."""
    segmentation: Annotated[dict[str, Any], PartOf(SegmentationSettings)] = field(default_factory=dict)
    """Changes of the data set's segmentation."""
    transforms: Annotated[dict[str, dict[str, Any] | None], PartsOf(TRANSFORMS)] = field(default_factory=dict)
    """Transforms of examples by name, in the order in which they are applied. null drops an ancestor's transform."""
    external: ExternalSettings | None = None
    """Translations made elsewhere, of a system that is not trained here; it has no other keys but `description` and
    `compared_with`."""
    per_dataset: dict[str, Annotated[dict[str, Any], PartOf(PerDatasetSettings)]] = field(default_factory=dict)
    """Changes on a data set and on those that extend it; of several such entries only the nearest counts."""
    assumed: dict[str, str] = field(default_factory=dict)
    """What a paper leaves open: keys (`training.clip_norm`) or topics, and why they are so here. Changes no run."""


BY_NAME = ("components", "transforms")
"""Sections of a system whose entries have names."""

EXTERNAL = ("external", "description", "compared_with")
"""The keys of a system that is not trained here."""


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
        if level.values.get("external") is not None:
            _check_external(level, levels)
        for section in BY_NAME:
            entries = level.values.get(section, {})
            _check_entries(entries, present[section], noun=section.removesuffix("s"), where=f"{level.where}: {section}")
            names = dict.fromkeys([*present[section], *entries])
            present[section] = [name for name in names if entries.get(name, {}) is not None]
        for dataset, special in level.values.get("per_dataset", {}).items():
            where = f"{level.where}: per_dataset: {dataset}: components"
            for name in special.get("components", {}):
                choose(name, present["components"], noun="component", where=where)


def _check_entries(entries: Mapping[str, Any], present: Sequence[str], *, noun: str, where: str) -> None:
    """Check the names of components or transforms, and that those that null drops are present."""
    for name, entry in entries.items():
        if entry is None and name not in present:
            raise UserError(
                f"{where}: {name}: null drops a {noun} of a system that this one extends, but none of them has it. "
                f"{nearest(name, present)}"
            )
        if not re.fullmatch(NAME, name) or name in RESERVED_NAMES:
            raise UserError(
                f"{where}: a {noun} cannot be called '{name}': use small letters, digits and single underscores, "
                f"begin with a letter, and avoid {', '.join(RESERVED_NAMES)}."
            )


def _check_external(level: Layer, levels: Sequence[Layer]) -> None:
    """Check that an external system has no keys for training, extends no other system and is not extended."""
    if others := [key for key in level.values if key not in EXTERNAL]:
        raise UserError(
            f"{level.where}: external: the system is not trained here, so it has no {' and no '.join(others)}: "
            "delete one or the other."
        )
    if len(levels) > 1:
        raise UserError(
            f"{levels[-1].where}: extends: {level.name} is external, and such a system neither extends another "
            "nor is extended."
        )
