"""Find what a run needs in its data set: annotators, treebanks, and translations made elsewhere."""

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Annotated

from pydantic import BeforeValidator

from nmtcore.config.components import ComponentSettings
from nmtcore.config.datasets import GOLD, TREEBANK, DatasetSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.files import check_files
from nmtcore.config.ranges import Listed, settings_class
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.training import TreebankSettings
from nmtcore.config.transforms import TransformSettings
from nmtcore.config.typed import choose
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


def _count_files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
