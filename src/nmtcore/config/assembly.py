"""Assemble the settings of a run from its data set, the data set's recipe, the scale and the system."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.bases import BASES, check_settings_of_base
from nmtcore.config.catalogue import Catalogue
from nmtcore.config.components import check_composition, check_trees, component_settings
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.external import with_translations
from nmtcore.config.layers import DECIDED_BY_SCALE, Layer, Overridden, merge_layers, overridden
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
from nmtcore.config.systems import SystemSettings
from nmtcore.config.training import ENDS, NO_END, DecodingSettings, TrainingSettings
from nmtcore.config.transforms import transform_settings
from nmtcore.config.typed import build, merge, plain
from nmtcore.errors import UserError


def assemble(catalogue: Catalogue, dataset: str, system: str, scale: str, seed: int, *, where: str) -> RunSettings:
    """Assemble one run. Later layers win: recipe, data set, scale, system, except for `DECIDED_BY_SCALE`."""
    data, parts, size = catalogue.dataset(dataset), catalogue.system(system, dataset), catalogue.scale(scale)
    recipe = _layer(catalogue.recipe(data.recipe, where=f"{catalogue.dataset_files[dataset]}: recipe"), parts.base)
    layers = {"scale": _scale_layer(size, parts), "system": _system_layer(parts)}

    def layered(cls: type, section: str) -> Any:
        values = merge_layers(section, recipe, _layer(data, parts.base), **layers)
        if section == "training":
            _check_end(recipe[section], values, where=f"{catalogue.recipe_files[data.recipe]}: training")
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
        dataset=dataset,
        system=system,
        scale=scale,
        seed=seed,
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


def overridden_settings(catalogue: Catalogue, dataset: str, system: str, scale: str) -> list[Overridden]:
    """List the settings of a system that a scale overrides on a data set."""
    parts, size = catalogue.system(system, dataset), catalogue.scale(scale)
    return [
        Overridden(system=system, scale=scale, setting=setting, value=value, system_value=system_value)
        for setting, value, system_value in overridden(_scale_layer(size, parts), _system_layer(parts))
    ]


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


def _system_layer(system: SystemSettings) -> Layer:
    return {section: getattr(system, section) for section in DECIDED_BY_SCALE}


def _scale_layer(scale: ScaleSettings, system: SystemSettings) -> Layer:
    """Return a scale's settings for a system; `fine_tuning` applies if the system starts from another one."""
    layer = _layer(scale, system.base)
    return {**layer, "training": merge(layer["training"], scale.fine_tuning)} if system.start_from else layer
