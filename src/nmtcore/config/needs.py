"""What a run needs of its data set: annotators for its components and transforms, and treebanks."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from nmtcore.config.components import ComponentSettings
from nmtcore.config.datasets import GOLD, TREEBANK, DatasetSettings, SegmentationSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.runs import RunSettings
from nmtcore.config.training import TreebankSettings
from nmtcore.config.transforms import TransformSettings
from nmtcore.errors import UserError


class MissingAnnotation(UserError):
    """A data set lacks an annotation or a treebank that a system needs: it names `what` ("no treebank to train on")."""

    def __init__(self, sentence: str, *, what: str) -> None:
        super().__init__(sentence)
        self.what = what


def features_for(
    components: Iterable[ComponentSettings], data: DatasetSettings, *, where: str
) -> dict[str, dict[str, str]]:
    """Find the annotator whose annotation each feature that the components need is made of."""
    found: dict[str, dict[str, str]] = {}
    for settings in components:
        for side, features in settings.needs.items():
            for feature in features:
                annotator = _annotator_of(data, side, FEATURES[feature].annotation, where=where)
                found.setdefault(side, {})[feature] = annotator
    return found


def linearised_parses_annotator(
    transforms: Mapping[str, TransformSettings],
    segmentation: SegmentationSettings,
    data: DatasetSettings,
    *,
    where: str,
) -> str | None:
    """Find the annotator whose linearised parses the first transform reads; None if it reads none.

    An annotation that the segmentation is learned from must be there even if no transform reads it.
    """
    if segmentation.also and not data.segmentation_from:
        _annotator_of(data, "source", segmentation.also, where=where)
    annotator = None
    for place, (name, settings) in enumerate(transforms.items()):
        kind, at = settings.linearised_parses_of, f"{where}: the transform {name}"
        if kind and place:
            raise UserError(f"{at} must be the first: the parses that it reads belong to the pairs as they are stored.")
        if kind and segmentation.also != kind:
            raise UserError(f"{at} needs subwords that are learned from {kind} too: `segmentation: {{also: {kind}}}`.")
        if kind:
            annotator = _annotator_of(data, "source", kind, where=where)
    return annotator


def check_transforms(
    transforms: Mapping[str, TransformSettings], components: Mapping[str, ComponentSettings], *, where: str
) -> None:
    """Raise a sentence when a component needs syntax of words, and a transform puts words among them that have none."""
    for name, transform in transforms.items():
        for component, settings in components.items() if transform.without_syntax else ():
            if settings.needs or settings.parses:
                raise UserError(
                    f"{where}: the transform {name} does not go with {component}, which reads trees or tags or gives "
                    f"every source word a head: {transform.without_syntax}."
                )


def with_treebanks(
    run: RunSettings, treebank: TreebankSettings | None, data: DatasetSettings, *, where: str
) -> RunSettings:
    """Add the treebanks that a run is trained on and compared with."""
    annotator = data.gold_annotator
    if run.parses_to_trees and annotator:
        run = replace(run, gold=data.source_treebanks(GOLD), gold_annotator=annotator)
    if treebank is None:
        return run
    if not run.parses_to_trees:
        raise UserError(f"{where}: treebank: none of its components learns to parse from trees.")
    splits = data.source_treebanks(TREEBANK)
    if not splits or not annotator:
        raise MissingAnnotation(
            f"{where}: needs a treebank on the source side, but the data set names none: add a split "
            f"`{TREEBANK}NAME` and an annotator `{{tool: existing}}` to config/datasets/{data.name}.yaml.",
            what="no treebank to train on",
        )
    return replace(run, treebank=treebank, treebanks=splits)


def _annotator_of(data: DatasetSettings, side: str, kind: str, *, where: str) -> str:
    """Find the annotator that gives a kind of annotation."""
    annotator = data.syntax.get(side, {}).get(kind)
    if annotator is None:
        raise MissingAnnotation(
            f"{where}: needs {kind} on the {side} side, but the data set names no annotator for it: "
            f"add `syntax: {{{side}: {{{kind}: NAME}}}}` to config/datasets/{data.name}.yaml.",
            what=f"no annotator for {kind} on the {side} side",
        )
    return annotator
