"""Find what a run needs in its data set: annotators for its components and transforms, and treebanks."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from nmtcore.config.components import ComponentSettings
from nmtcore.config.datasets import GOLD, TREEBANK, DatasetSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.training import TreebankSettings
from nmtcore.config.transforms import TransformSettings
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
                annotator = _find_annotator(data, side, FEATURES[feature].annotation, where=where)
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


def parser_to_compare_with(run: RunSettings, data: DatasetSettings) -> str | None:
    """Return the annotator whose trees induced trees are compared with; None if the data set names none for them."""
    return data.syntax.get("source", {}).get("dependencies") if run.tree_comparison == "induced" else None


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
