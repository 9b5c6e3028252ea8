"""Assemble the settings of a run: the data set's recipe, the data set, the scale and the system, each over the last."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.bases import BASES, BaseSettings, check_settings_of_base
from nmtcore.config.components import (
    COMPONENTS,
    RESERVED_NAMES,
    check_composition,
    check_trees,
    component_settings,
)
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.external import with_translations
from nmtcore.config.files import Level
from nmtcore.config.needs import (
    check_copies,
    check_transforms,
    features_for,
    linearised_parses_annotator,
    parser_to_compare_with,
    with_treebanks,
)
from nmtcore.config.recipes import RecipeSettings, ScaleSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.systems import SystemEntry, SystemSettings
from nmtcore.config.training import ENDS, NO_END, DecodingSettings, TrainingSettings
from nmtcore.config.transforms import transform_settings
from nmtcore.config.typed import build, choose, merge, nearest, plain, shown_value
from nmtcore.errors import UserError
from nmtcore.layout import NAME

Layer = Mapping[str, Mapping[str, Any]]
"""The settings of one layer (a recipe, a data set, a scale or a system) by section."""

DECIDED_BY_SCALE = {
    "model": ("width", "feed_forward", "decoder_layers", "layers"),
    "training": ("schedule", "batch", "validation", "max_updates", "checkpoint_every", "keep", "average"),
    "decoding": (),
}
"""The keys, by section, for which a scale overrides a system, so that the model and the run are as small as the scale
promises. For all other keys (such as dropout) the system overrides the scale, since the system may be about them. Both
override recipes and data sets."""


def merge_layers(section: str, *below: Layer, scale: Layer, system: Layer) -> dict[str, Any]:
    """Merge a section of all layers: those `below`, the scale, the system, and the keys that the scale decides."""
    decided = {key: value for key, value in scale[section].items() if key in DECIDED_BY_SCALE[section]}
    return merge(*(layer[section] for layer in below), scale[section], system[section], decided)


def assemble(
    *,
    data: DatasetSettings,
    recipe: RecipeSettings,
    size: ScaleSettings,
    parts: SystemSettings,
    names: Mapping[str, Any],
    where: str,
    recipe_path: Path,
) -> RunSettings:
    """Assemble one run. Later layers win: recipe, data set, scale, system, except for `DECIDED_BY_SCALE`.

    `names` are those of data set, system and scale, and the seed; `recipe_path` is the recipe's file.
    """
    below = [_layer(recipe, parts.base), _layer(data, parts.base)]
    layers = {"scale": _scale_layer(size, parts), "system": {name: getattr(parts, name) for name in DECIDED_BY_SCALE}}

    def layered(cls: type, section: str) -> Any:
        values = merge_layers(section, *below, **layers)
        if section == "training":
            _check_end(below[0][section], values, where=f"{recipe_path}: training")
        return build(cls, values, where=f"{where}: {section}")

    check_settings_of_base(parts.model, parts.base, where=f"{where}: model")
    model = layered(BASES[parts.base], "model")
    components = {name: component_settings(name, entry, where=where) for name, entry in parts.components.items()}
    check_composition(components, parts.base, model, where=where)
    check_trees(parts.trees, components, where=where)
    transforms = {name: transform_settings(name, entry, where=where) for name, entry in parts.transforms.items()}
    check_transforms(transforms, components, where=where)
    features = features_for((*components.values(), *transforms.values()), data, where=where)
    check_copies(transforms, data, where=where)
    segmentation = cut_segmentation(data, size, parts.segmentation, where=where)
    used = sorted({annotator for annotators in features.values() for annotator in annotators.values()})
    values = dict(
        **names,
        source=data.source,
        target=data.target,
        words=data.words,
        segmentation=segmentation,
        features=features,
        annotators={name: ANNOTATORS.entry_of(data.annotators[name]) for name in used},
        base=parts.base,
        model=model,
        components=components,
        training=layered(TrainingSettings, "training"),
        decoding=layered(DecodingSettings, "decoding"),
        evaluation=data.evaluation,
        tests=data.tests,
        sentences=size.sentences,
        start_from=parts.start_from,
        trees=parts.trees,
        transforms=transforms,
        linearised_by=linearised_parses_annotator(transforms, segmentation, data, where=where),
    )
    run = build(RunSettings, values, where=where)
    if parts.external is not None:
        return with_translations(run, parts.external, data, where=where)
    run = replace(run, trees_by=parser_to_compare_with(run, data))
    return with_treebanks(run, parts.treebank, data, where=where)


def cut_segmentation(
    dataset: DatasetSettings, scale: ScaleSettings, changes: Mapping[str, Any] | None = None, *, where: str = ""
) -> SegmentationSettings:
    """Return the data set's segmentation with a system's changes, at most as large as the scale allows."""
    values = merge(plain(dataset.segmentation), changes or {})
    settings = build(SegmentationSettings, values, where=f"{where}: segmentation")
    return replace(settings, size=min(settings.size, scale.segmentation_size or settings.size))


def _check_end(recipe: Mapping[str, Any], training: Mapping[str, Any], *, where: str) -> None:
    """Raise `UserError` about a recipe that does not say when training ends if nothing else says so."""
    if all(values.get(end) is None for values in (recipe, training) for end in ENDS):
        raise UserError(f"{where}: {NO_END}.")


def _layer(settings: RecipeSettings | DatasetSettings, base: str) -> Layer:
    """Return the settings of a recipe, a data set or a scale for the systems of a base."""
    general = {"model": {}, "training": settings.training, "decoding": settings.decoding}
    return merge(general, settings.per_base.get(base, {}))


def _scale_layer(scale: ScaleSettings, system: SystemSettings) -> Layer:
    """Return a scale's settings for a system; `fine_tuning` applies if the system starts from another one."""
    layer = _layer(scale, system.base)
    return {**layer, "training": merge(layer["training"], scale.fine_tuning)} if system.start_from else layer


BY_NAME = ("components", "transforms")
"""Sections of a system whose entries have names."""


def compose_system(levels: Iterable[Level], datasets: Sequence[str] = ()) -> SystemSettings:
    """Merge a system into its ancestors (the oldest comes first), each with its changes for a data set.

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
    return build(SystemSettings, values, where=level.where)


def check_levels(levels: Iterable[Level]) -> None:
    """Raise `UserError` if the keys of a system or one of its ancestors are not valid."""
    levels = list(levels)
    _check_external(levels)
    present: dict[str, set[str]] = {section: set() for section in BY_NAME}
    for level in levels:
        for section in BY_NAME:
            _check_by_name(section, level.keys.get(section, {}), where=level.where)
        for section, names in present.items():
            entries = level.keys.get(section, {})
            dropped = {name for name, settings in entries.items() if settings is None}
            for name in dropped - names:
                raise UserError(
                    f"{level.where}: {section}: {name}: null drops a {section.removesuffix('s')} of a system that this "
                    f"one extends, but none of them has it. {nearest(name, names)}"
                )
            present[section] = names - dropped | entries.keys() - dropped
        changes = _mapping(level.keys.get("per_dataset", {}), where=f"{level.where}: per_dataset")
        for dataset, special in changes.items():
            where = f"{level.where}: per_dataset: {dataset}"
            _check_special(_mapping(special, where=where), present["components"], where=where)
        build(SystemEntry, level.keys, where=level.where)


def _check_external(levels: Sequence[Level]) -> None:
    """Check that an external system has no keys for training, extends no other system and is not extended."""
    for level in levels:
        if level.keys.get("external") is None:
            continue
        others = [key for key in level.keys if key not in ("external", "description")]
        if others:
            raise UserError(
                f"{level.where}: external: the system is not trained here, so it has no {' and no '.join(others)}: "
                "delete one or the other."
            )
        if len(levels) > 1:
            raise UserError(
                f"{levels[-1].where}: extends: {level.name} is external, and such a system neither extends another "
                "nor is extended."
            )


def _mapping(value: Any, *, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UserError(f"{where} must be a mapping, not {shown_value(value)}.")
    return value


def _check_by_name(section: str, entries: Any, *, where: str) -> None:
    """Check that components or transforms are a mapping from names to settings or null."""
    if not isinstance(entries, dict):
        listed = section == "components" and isinstance(entries, list)
        hint = " Write {depparse: {layer: 1}} for [{name: depparse, layer: 1}]." if listed else ""
        raise UserError(f"{where}: {section} must be a mapping, not {shown_value(entries)}.{hint}")
    for name, settings in entries.items():
        if not re.fullmatch(NAME, str(name)) or name in RESERVED_NAMES:
            raise UserError(
                f"{where}: {section}: a {section.removesuffix('s')} cannot be called '{name}': use small letters, "
                f"digits and single underscores, begin with a letter, and avoid {', '.join(RESERVED_NAMES)}."
            )
        if not isinstance(settings, dict | None):
            raise UserError(
                f"{where}: {section}: {name} must be a mapping of its settings, not {shown_value(settings)}."
            )


def _check_special(special: dict[str, Any], components: Collection[str], *, where: str) -> None:
    """Check the sections of one entry of `per_dataset`, and that it only changes existing `components`."""
    for section, values in special.items():
        choose(section, ("components", "model", "training", "decoding"), noun="key", where=where)
        if section == "components":
            _check_by_name(section, values, where=where)
        elif not isinstance(values, dict):
            raise UserError(f"{where}: {section} must be a mapping, not {shown_value(values)}.")
    for name, settings in special.get("components", {}).items():
        choose(name, components, noun="component", where=f"{where}: components")
        if settings is None:
            raise UserError(
                f"{where}: components: {name} must be a mapping of its settings: `per_dataset` cannot drop a component."
            )


def check_start(run: RunSettings, start: RunSettings, *, where: str) -> None:
    """Raise `UserError` unless a run has the same model, components, transforms and segmentation as its start."""
    where = f"{where}: start_from: {start.system}"
    if start.external is not None:
        raise UserError(f"{where} is external, so it has no model.")
    if run.base != start.base:
        raise UserError(f"{where} has the base '{start.base}', not '{run.base}', so its weights do not fit.")
    if _model(run) != _model(start):
        raise UserError(f"{where} has another model, so its weights do not fit.")
    if _components(run) != _components(start):
        raise UserError(f"{where} has other components, so its weights do not fit.")
    if run.transforms != start.transforms:
        raise UserError(f"{where} has other transforms, so its vocabularies do not fit.")
    if run.segmentation != start.segmentation:
        raise UserError(
            f"{where} has another segmentation ({start.segmentation.name}), so its vocabularies do not fit."
        )


def _components(run: RunSettings) -> list[tuple[str, str]]:
    """Return the name and the registered class name of each component, in order."""
    return [(name, COMPONENTS.name_of(settings)) for name, settings in run.components.items()]


def _model(run: RunSettings) -> tuple[str, BaseSettings]:
    """Return the settings that determine the shapes of a model's weights."""
    dropouts = [field.name for field in fields(run.model) if field.name.endswith("dropout")]
    return run.base, replace(run.model, **dict.fromkeys(dropouts, 0.0))
