"""Assemble a run from merged values, with what it needs in its data set: annotators, treebanks, translations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nmtcore.config.components import COMPONENTS, check_composition, check_trees
from nmtcore.config.corpora import SegmentationSettings
from nmtcore.config.datasets import ANNOTATORS, GOLD, TREEBANK, DatasetSettings
from nmtcore.config.features import FEATURES, TRANSFORMS, ComponentSettings, TransformSettings, feature_named
from nmtcore.config.files import Merged, check_files
from nmtcore.config.registry import Registry
from nmtcore.config.runs import RunSettings, differences
from nmtcore.config.systems import ExternalSettings, ImportedSettings, ScaleSettings, SystemSettings
from nmtcore.config.training import (
    BASES,
    DecodingSettings,
    TrainingSettings,
    TreebankSettings,
    check_settings_of_base,
)
from nmtcore.config.typed import build, choose, plain
from nmtcore.errors import UserError


class MissingAnnotation(UserError):
    """A data set lacks what a system needs: an annotation, a treebank or translations made elsewhere.

    `missing` says which ("no treebank to ...").
    """

    def __init__(self, sentence: str, *, missing: str) -> None:
        super().__init__(sentence)
        self.missing = missing


def features_for(
    parts: Iterable[ComponentSettings | TransformSettings], data: DatasetSettings, *, where: str
) -> dict[str, dict[str, str]]:
    """Return the annotator for each feature that components and transforms read, {side: {feature: annotator}}."""
    annotators: dict[str, dict[str, str]] = {}
    for settings in parts:
        for side, features in settings.needs.items():
            for feature in features:
                named = feature.rpartition("/")[0]
                if named and named not in data.annotators:
                    raise MissingAnnotation(
                        f"{where}: reads {feature} of the {side}, but the annotators of {data.name} are only "
                        f"{', '.join(data.annotators)}: add {named} to `annotators` of the data set.",
                        missing=f"no annotator {named}",
                    )
                annotator = named or _find_annotator(data, side, feature_named(feature).annotation, where=where)
                annotators.setdefault(side, {})[feature] = annotator
    return annotators


def linearised_parses_annotator(
    transforms: Mapping[str, TransformSettings],
    segmentation: SegmentationSettings,
    data: DatasetSettings,
    *,
    where: str,
) -> str | None:
    """Return the annotator whose linearised parses the first transform reads; None if it reads none.

    The annotation that a segmentation is learned from must exist even if no transform reads it.
    """
    if segmentation.also and not data.segmentation_from:
        _find_annotator(data, "source", segmentation.also, where=where)
    annotator = None
    for position, (name, settings) in enumerate(transforms.items()):
        annotation, at = settings.linearised_parses_of, f"{where}: the transform {name}"
        if not annotation:
            continue
        if position > 0:
            raise UserError(f"{at} must be the first: the parses that it reads belong to the pairs as they are stored.")
        if segmentation.also != annotation:
            raise UserError(
                f"{at} needs subwords that are also learned from {annotation}: `segmentation: {{also: {annotation}}}`."
            )
        annotator = _find_annotator(data, "source", annotation, where=where)
    return annotator


def check_transforms(
    transforms: Mapping[str, TransformSettings], components: Mapping[str, ComponentSettings], *, where: str
) -> None:
    """Raise `UserError` if a component, or a later transform, needs syntax of a side whose positions one changes."""
    for position, (name, transform) in enumerate(transforms.items(), start=1):
        later = dict(list(transforms.items())[position:])
        for side, reason in transform.without_syntax.items():
            readers = [other for other, settings in {**components, **later}.items() if settings.needs.get(side)]
            parsers = [other for other, settings in components.items() if side == "source" and settings.parses]
            for other in (*readers, *parsers)[:1]:
                raise UserError(
                    f"{where}: the transform {name} cannot be combined with {other}, which reads trees or tags or "
                    f"predicts a head for every {side} word: {reason}."
                )


def check_copies(transforms: Mapping[str, TransformSettings], data: DatasetSettings, *, where: str) -> None:
    """Raise `MissingAnnotation` if a transform adds syntax to sources, but the data set has copied targets as sources.

    Such sources are in the target language: their trees and tags, by annotators of the source language, are wrong.
    """
    copies = data.selection and data.selection.copies
    for name, settings in transforms.items() if copies else ():
        if features := settings.needs.get("source"):
            raise MissingAnnotation(
                f"{where}: the transform {name} reads {FEATURES[features[0]].annotation} of the source, but the data "
                f"set has copies of targets as sources (`selection: copies`): a source parse of copied '{data.target}' "
                f"text is no parse of '{data.source}'. Use a data set without copies.",
                missing=f"copies of targets as sources, whose parses are no parses of '{data.source}'",
            )


def with_treebanks(
    run: RunSettings, treebank: TreebankSettings | None, data: DatasetSettings, *, where: str
) -> RunSettings:
    """Add the treebanks that a run is trained on and those that its parses are compared with."""
    annotator = data.gold_annotator
    if run.tree_comparison in ("supervised", "induced") and annotator:
        run = replace(run, gold=data.source_treebanks(GOLD), gold_annotator=annotator)
    if treebank is None:
        return run
    if not run.parses_to_trees:
        raise UserError(f"{where}: treebank: no component of the system learns to parse from trees.")
    splits = data.source_treebanks(TREEBANK)
    if not splits or not annotator:
        raise MissingAnnotation(
            f"{where}: needs a treebank on the source side, but the data set names none: add a split "
            f"`{TREEBANK}NAME` and an annotator `{{tool: existing}}` to config/datasets/{data.name}.yaml.",
            missing="no treebank to train on",
        )
    return replace(run, treebank=treebank, treebanks=splits)


def _find_annotator(data: DatasetSettings, side: str, annotation: str, *, where: str) -> str:
    """Return the annotator for an annotation. Raises `MissingAnnotation` if the data set names none."""
    annotator = data.syntax.get(side, {}).get(annotation)
    if annotator is None:
        raise MissingAnnotation(
            f"{where}: needs {annotation} on the {side} side, but the data set names no annotator for it. With one "
            f"that gives {annotation} for '{data.language(side)}', add `syntax: {{{side}: {{{annotation}: NAME}}}}` to "
            f"config/datasets/{data.name}.yaml; without one, use another data set.",
            missing=f"no annotator for {annotation} on the {side} side",
        )
    return annotator


def with_translations(
    run: RunSettings, external: ExternalSettings, data: DatasetSettings, *, where: str
) -> RunSettings:
    """Turn a run into that of an external system, with a file for each split that has translations.

    Raises `MissingAnnotation` if the data set, its main test or the seed has none, and `UserError` if a split is
    unknown, a file is missing, or the splits have different numbers of files.
    """
    files = external.translations.get(data.name, {})
    for split in files:
        choose(split, data.tests, noun="test split", where=f"{where}: external: translations.{data.name}")
    if not files.get(data.main_test):
        raise MissingAnnotation(
            f"{where}: has no translations of {data.main_test}, the main test: add "
            f"`translations: {{{data.name}: {{{data.main_test}: FILE}}}}` to its `external`.",
            missing=f"no external translations of {data.main_test}",
        )
    count = len(files[data.main_test])
    for split, paths in files.items():
        if len(paths) != count:
            raise UserError(
                f"{where}: has {_count_files(count)} for {data.main_test}, but {_count_files(len(paths))} for {split}: "
                "name one file per seed for each split."
            )
    if not 1 <= run.seed <= count:
        raise MissingAnnotation(
            f"{where}: has {_count_files(count)} for {data.main_test}, so there is no seed {run.seed}: add files, or "
            f"choose {'seed 1' if count == 1 else f'seeds from 1 to {count}'}.",
            missing=f"no external translations for seed {run.seed}",
        )
    seed_files = {split: files[split][run.seed - 1] for split in data.tests if split in files}
    check_files(seed_files, where=where)
    evaluation = replace(run.evaluation, greedy_dev=False)
    return replace(run, tests=tuple(seed_files), external=seed_files, evaluation=evaluation)


def as_imported(run: RunSettings, imported: ImportedSettings, data: DatasetSettings, *, where: str) -> RunSettings:
    """Turn a run into that of an imported system.

    Raises `MissingAnnotation` if the data set has other languages than the model, or if the seed is not 1.
    """
    languages, of_data = (f"{each.source} to {each.target}" for each in (imported, data))
    if languages != of_data:
        raise MissingAnnotation(
            f"{where}: the model {imported.model} is for {languages}, but the data set for {of_data}: choose another.",
            missing=f"no imported model for {of_data}",
        )
    if run.seed != 1:
        raise MissingAnnotation(
            f"{where}: an imported model is always the same, so there is no seed {run.seed}: choose seed 1.",
            missing=f"no imported model for seed {run.seed}",
        )
    return replace(run, imported=imported.model)


def _count_files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def assemble(
    data: DatasetSettings,
    size: ScaleSettings,
    parts: SystemSettings,
    merged: Merged,
    *,
    names: Mapping[str, Any],
    where: str,
) -> RunSettings:
    """Assemble one run from merged values.

    `names` are those of data set, system and scale, and the seed.
    """

    def by_name(registry: Registry, section: str, entries: Mapping[str, Any]) -> dict[str, Any]:
        return {name: registry.build_named(name, entry, where=f"{where}: {section}") for name, entry in entries.items()}

    check_settings_of_base(parts.model, parts.base, where=f"{where}: model")
    below = parts.below_scale.get("model", {})
    check_settings_of_base(below, parts.base, where=f"{where}: below_scale: model")
    model = section_of(merged, "model", BASES[parts.base], where=where)
    components = by_name(COMPONENTS, "components", parts.components)
    check_composition(components, parts.base, model, where=where)
    check_trees(parts.trees, components, where=where)
    transforms = by_name(TRANSFORMS, "transforms", parts.transforms)
    check_transforms(transforms, components, where=where)
    features = features_for((*components.values(), *transforms.values()), data, where=where)
    check_copies(transforms, data, where=where)
    segmentation = section_of(merged, "segmentation", SegmentationSettings, where=where)
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
        training=section_of(merged, "training", TrainingSettings, where=where),
        decoding=section_of(merged, "decoding", DecodingSettings, where=where),
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
    if parts.imported is not None:
        return as_imported(run, parts.imported, data, where=where)
    if run.tree_comparison == "induced":
        run = replace(run, trees_by=data.syntax.get("source", {}).get("dependencies"))
    return with_treebanks(run, parts.treebank, data, where=where)


def section_of(merged: Merged, section: str, cls: type, *, where: str) -> Any:
    """Build the settings of a section of merged values."""
    return build(cls, merged.values.get(section, {}), where=where, place=[section], given=merged.given)


def check_start(run: RunSettings, start: RunSettings, segmented: Sequence[str], *, where: str) -> None:
    """Raise `UserError` unless a run has the same model, components, transforms and vocabularies as its start.

    Components that are neutral at first may be new.
    `segmented` are the data sets whose segmentations the run and its start use.
    """
    where = f"{where}: {run.start_from}"
    if start.external is not None:
        raise UserError(f"{where} is external, so it has no model.")
    if run.base != start.base:
        raise UserError(f"{where} has the base '{start.base}', not '{run.base}', so its weights do not fit.")
    # To a published model, which has none, all components are added.
    new = {name for name, one in run.components.items() if start.imported is not None or one.neutral_at_first}
    kept = {name: one for name, one in run.components.items() if name not in new - start.components.keys()}
    if lines := differences(*(_what_weights_fit(each) for each in (start, replace(run, components=kept)))):
        lines += [
            f"{name} is not neutral at first, so it cannot be new" for name in sorted(kept.keys() - start.components)
        ]
        raise UserError(f"{where} has other weights or vocabularies, which do not fit ({'; '.join(lines)}).")
    if len(set(segmented)) > 1 and run.segmentation.model is None:
        raise UserError(
            f"{where} has the segmentation of {segmented[1]}, so its vocabularies do not fit: set `segmentation_from: "
            f"{segmented[1]}` in the data set {run.dataset}."
        )
    if start.reads_labels and run.dataset != start.dataset:
        raise UserError(
            f"{where} reads labels, of which each data set has its own, so its weights do not fit: start from a run on "
            f"{run.dataset}, or choose a system without labels."
        )


def _what_weights_fit(run: RunSettings) -> dict[str, Any]:
    """Return the settings that determine the shapes of a run's weights, and its vocabularies; the order counts."""
    return {
        "model": {key: value for key, value in plain(run.model).items() if not key.endswith("dropout")},
        "components": {
            name: COMPONENTS.name_of(settings) + (", neutral at first" if settings.neutral_at_first else "")
            for name, settings in run.components.items()
        },
        "transforms": {name: TRANSFORMS.entry_of(settings) for name, settings in run.transforms.items()},
        "segmentation": run.segmentation.name,
    }
