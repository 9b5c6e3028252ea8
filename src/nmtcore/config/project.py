"""The project's configuration: config.yaml, and the settings of runs, assembled in layers.

The Snakefile, the scripts and the command line all use `Project`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from nmtcore.config.annotators import ANNOTATORS
from nmtcore.config.bases import BASES, BaseSettings, check_settings_of_base
from nmtcore.config.catalogue import Catalogue
from nmtcore.config.components import COMPONENTS, check_composition, check_trees
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.files import named_files
from nmtcore.config.layers import Layer, Merged, merge
from nmtcore.config.needs import (
    MissingAnnotation,
    check_copies,
    check_transforms,
    features_for,
    linearised_parses_annotator,
    with_translations,
    with_treebanks,
)
from nmtcore.config.project_settings import read_project_settings
from nmtcore.config.recipes import ScaleSettings, recipe_layers
from nmtcore.config.registry import Registry
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.systems import SystemSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.config.transforms import TRANSFORMS
from nmtcore.config.typed import build, choose, plain
from nmtcore.config.yaml_files import config_file, read_yaml
from nmtcore.errors import UserError
from nmtcore.layout import NAME, PAPER

MACHINE = "machine, in config.yaml"
"""The layer of what config.yaml says about this machine."""


class Project(Catalogue):
    """The catalogue of a configuration and the settings in config.yaml; assembles runs."""

    def __init__(self, folders: Sequence[Path], settings: Mapping[str, Any], *, where: str = "config.yaml") -> None:
        super().__init__(folders)
        self.settings = read_project_settings(settings, where=where)
        self.scale_files.check(self.settings.scale, where=where)
        check = partial(self.dataset_files.check, where=f"{where}: datasets")
        datasets = _matching(self.settings.datasets, self.dataset_files, check)
        # An unknown name may belong to a system in a file that cannot be read: only a target that needs it fails.
        unread = [name for name in self.settings.systems if self.systems.unread and re.fullmatch(NAME, name)]
        valid = dict.fromkeys([*self.system_entries, *unread])
        check = partial(choose, valid=valid, noun="system", where=f"{where}: systems")
        systems = _matching(self.settings.systems, valid, check)
        if self.settings.stand_ins is not None and self.stand_in_files:
            self.stand_in_files.check(self.settings.stand_ins, where=f"{where}: stand_ins")
        self.chosen_by_pattern = frozenset(systems) - frozenset(self.settings.systems)
        """Configured systems that only match a pattern."""
        self.settings = replace(self.settings, datasets=datasets, systems=systems)
        scales = tuple(name for name in self.scale_names if name != PAPER)
        papers = tuple(sorted(named_files(self.folders, "tables", noun="paper")))
        self.layout = replace(self.settings.layout, scales=scales, papers=papers)
        """The paths of all files."""
        self._runs: dict[tuple, RunSettings] = {}

    @classmethod
    def load(cls, folder: Path, **overrides: Any) -> "Project":
        """Read `folder`/config.yaml; `overrides` replace its keys."""
        path = config_file(folder)
        return cls([folder], merge(read_yaml(path), overrides), where=str(path))

    def run(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        """Assemble one run."""
        key = (dataset, system, scale, seed)
        if key not in self._runs:
            self._runs[key] = self._checked_run(*key)
        return self._runs[key]

    def _checked_run(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        path, _ = self.system_entries[self.systems.check(system, where="the target")]
        where = f"{path}: {system} on {dataset} at scale {scale}"
        data, size, parts = self.dataset(dataset), self.scale(scale), self.system(system, dataset)
        if data.is_treebank:
            sentence = f"{dataset} is a treebank alone, so nothing is trained on it: ask for results/tables/parsers.md."
            raise MissingAnnotation(sentence, missing="no training pairs")
        merged = self.merged(dataset, system, scale)
        names = {"dataset": dataset, "system": system, "scale": scale, "seed": seed}
        run = assemble(data, size, parts, merged, names=names, where=where)
        if run.start is not None:
            self._check_start(run, where=f"{where}: start_from")
        return run

    def merged(self, dataset: str, system: str, scale: str) -> Merged:
        """Merge what files set for a run, each value with its file.

        The weakest come first: the data set, which sets what no other one does; the recipe; what the system leaves to
        the scale (`below_scale`); the scale; the system; and this machine.
        """
        data, parts, scale_file = self.dataset(dataset), self.system(system, dataset), str(self.scale_files[scale])
        recipes = self.recipe_layers(data.recipe, where=f"{self.dataset_files.where(dataset)}: recipe")
        of_scale, above = self.scale_files.read(scale), self.system_layers(system, dataset)
        tuning = {"training": of_scale.get("fine_tuning", {})} if parts.start_from is not None else {}
        merged = Merged(
            [
                *self.dataset_layers(dataset),
                *recipe_layers(recipes, parts.base),
                *(Layer(layer.where, layer.values.get("below_scale", {})) for layer in above),
                *recipe_layers([Layer(scale_file, of_scale)], parts.base),
                Layer(scale_file, {**tuning, "sentences": of_scale.get("sentences", {})}),
                *above,
                Layer(MACHINE, self.settings.machine.of_runs),
            ]
        )
        where, limit = self.systems.where(system), self.scale(scale).segmentation_size
        if limit is not None and section_of(merged, "segmentation", SegmentationSettings, where=where).size > limit:
            merged.add(Layer(scale_file, {"segmentation": {"size": limit}}))
        return merged

    def _check_start(self, run: RunSettings, *, where: str) -> None:
        """Raise `UserError` if a run starts from itself, or from one that is not there or whose weights do not fit."""
        chain = [(run.dataset, run.system)]
        while (name := self.system(chain[-1][1], where=where).start_from) is not None:
            dataset, _, system = name.rpartition("/")
            chain.append((dataset or chain[-1][0], system))
            if chain[-1] in chain[:-1]:
                shown = " starts from ".join(system for _, system in chain)
                raise UserError(f"{where}: {shown}: this is circular, remove one `start_from`.")
        owners = [self.dataset(name, where=where).segmentation_from or name for name in (run.dataset, chain[1][0])]
        check_start(run, self.run(*run.start, run.scale, run.seed), owners, where=where)

    def seeds(self, dataset: str, system: str, wanted: tuple[int, ...] | None = None) -> tuple[int, ...]:
        """Return the seeds of a system: for an external system, those with translations of the data set.

        `wanted` are the seeds to choose from, by default those of config.yaml. If none of them has any translations,
        all are returned, and `run` says what is missing.
        """
        seeds = self.settings.seeds if wanted is None else wanted
        if system not in self.systems.external:
            return seeds
        count = self.system(system).external.seed_count(dataset)
        return tuple(seed for seed in seeds if 1 <= seed <= count) or seeds

    def segmentation(self, dataset: DatasetSettings, scale: ScaleSettings) -> SegmentationSettings:
        """Return the data set's segmentation, at most as large as the scale allows."""
        settings = dataset.segmentation
        return replace(settings, size=min(settings.size, scale.segmentation_size or settings.size))


def _matching(patterns: Iterable[str], valid: Iterable[str], check: Callable[[str], str]) -> tuple[str, ...]:
    """Return the `valid` names that match any of the patterns (`rehearsal_*`), each once.

    `check` is called for a pattern that matches no name and raises `UserError` if it is not a name either.
    """
    matches: list[str] = []
    for pattern in patterns:
        matches += [name for name in valid if fnmatchcase(name, pattern)] or [check(pattern)]
    return tuple(dict.fromkeys(matches))


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
    if run.tree_comparison == "induced":
        run = replace(run, trees_by=data.syntax.get("source", {}).get("dependencies"))
    return with_treebanks(run, parts.treebank, data, where=where)


def section_of(merged: Merged, section: str, cls: type, *, where: str) -> Any:
    """Build the settings of a section of merged values."""
    return build(cls, merged.values.get(section, {}), where=where, place=[section], given=merged.given)


def check_start(run: RunSettings, start: RunSettings, segmented: Sequence[str], *, where: str) -> None:
    """Raise `UserError` unless a run has the same model, components, transforms and vocabularies as its start.

    `segmented` are the data sets whose segmentations the run and its start use.
    """
    where = f"{where}: {run.start_from}"
    if start.external is not None:
        raise UserError(f"{where} is external, so it has no model.")
    if run.base != start.base:
        raise UserError(f"{where} has the base '{start.base}', not '{run.base}', so its weights do not fit.")
    values, others = (plain(_without_dropout(each.model)) for each in (run, start))
    if differing := [f"{key} {others[key]} instead of {values[key]}" for key in values if values[key] != others[key]]:
        raise UserError(f"{where} has another model ({', '.join(differing)}), so its weights do not fit.")
    if _components(run) != _components(start):
        raise UserError(f"{where} has other components, so its weights do not fit.")
    if run.transforms != start.transforms:
        raise UserError(f"{where} has other transforms, so its vocabularies do not fit.")
    if run.segmentation != start.segmentation:
        raise UserError(
            f"{where} has another segmentation ({start.segmentation.name}), so its vocabularies do not fit."
        )
    if len(set(segmented)) > 1:
        raise UserError(
            f"{where} has the segmentation of {segmented[1]}, so its vocabularies do not fit: set `segmentation_from: "
            f"{segmented[1]}` in the data set {run.dataset}."
        )
    if run.reads_labels and run.dataset != start.dataset:
        raise UserError(
            f"{where} reads labels, of which each data set has its own, so its weights do not fit: start from a run on "
            f"{run.dataset}, or choose a system without labels."
        )


def _components(run: RunSettings) -> list[tuple[str, str]]:
    """Return the name and the registered class name of each component, in order."""
    return [(name, COMPONENTS.name_of(settings)) for name, settings in run.components.items()]


def _without_dropout(model: BaseSettings) -> BaseSettings:
    """Return the settings that determine the shapes of a model's weights."""
    return replace(model, **{field.name: 0.0 for field in fields(model) if field.name.endswith("dropout")})
