"""The project's configuration: read, check and assemble config.yaml, data sets, systems, recipes and scales.

The Snakefile, the scripts and the command line all use `Project`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from nmtcore.config.assembly import assemble, check_start, cut_segmentation
from nmtcore.config.catalogue import Catalogue
from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.paper_tables import paper_table_files
from nmtcore.config.project_settings import read_project_settings
from nmtcore.config.recipes import ScaleSettings
from nmtcore.config.runs import RunSettings
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.stand_ins import stand_in_files
from nmtcore.config.typed import choose, merge
from nmtcore.config.yaml_files import config_file, read_yaml
from nmtcore.errors import UserError
from nmtcore.layout import NAME, PAPER


class Project(Catalogue):
    """The catalogue of a configuration and the settings in config.yaml; assembles runs."""

    def __init__(self, folders: Sequence[Path], settings: Mapping[str, Any], *, where: str = "config.yaml") -> None:
        super().__init__(folders)
        self.settings = read_project_settings(settings, where=where)
        self.scale_files.check(self.settings.scale, where=where)
        check = partial(self.dataset_files.check, where=f"{where}: datasets")
        datasets = _matching(self.settings.datasets, self.dataset_files, check)
        # An unknown name may belong to a system in a file that cannot be read: only a target that needs it fails.
        unread = [name for name in self.settings.systems if self.systems.faults and re.fullmatch(NAME, name)]
        valid = dict.fromkeys([*self.system_entries, *unread])
        check = partial(choose, valid=valid, noun="system", where=f"{where}: systems")
        systems = _matching(self.settings.systems, valid, check)
        if self.settings.baseline is not None:
            choose(self.settings.baseline, valid, noun="system", where=f"{where}: baseline")
        choices = stand_in_files(self)
        if self.settings.stand_ins is not None and choices:
            choices.check(self.settings.stand_ins, where=f"{where}: stand_ins")
        self.chosen_by_pattern = frozenset(systems) - frozenset(self.settings.systems)
        """Configured systems that only match a pattern."""
        self.settings = replace(self.settings, datasets=datasets, systems=systems)
        scales = tuple(name for name in self.scale_names if name != PAPER)
        self.layout = replace(self.settings.layout, scales=scales, papers=tuple(sorted(paper_table_files(self))))
        """The paths of all files."""
        self._runs: dict[tuple, RunSettings] = {}

    @classmethod
    def load(cls, folder: Path, **overrides: Any) -> "Project":
        """Read `folder`/config.yaml; `overrides` replace its keys."""
        path = config_file(folder)
        return cls([folder], merge(read_yaml(path), overrides), where=str(path))

    def run(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        """Assemble one run. Later layers win: recipe, data set, scale, system, except for `DECIDED_BY_SCALE`."""
        key = (dataset, system, scale, seed)
        if key not in self._runs:
            self._runs[key] = self._checked_run(*key)
        return self._runs[key]

    def _checked_run(self, dataset: str, system: str, scale: str, seed: int) -> RunSettings:
        path, _ = self.system_entries[self.systems.check(system, where="the target")]
        where = f"{path}: {system} on {dataset} at scale {scale}"
        data, size, parts = self.dataset(dataset), self.scale(scale), self.system(system, dataset)
        recipe = self.recipe(data.recipe, where=f"{self.dataset_files[dataset]}: recipe")
        names = {"dataset": dataset, "system": system, "scale": scale, "seed": seed}
        run = assemble(
            data=data,
            recipe=recipe,
            size=size,
            parts=parts,
            names=names,
            where=where,
            recipe_path=self.recipe_files[data.recipe],
        )
        run = self.settings.machine.applied_to(run)
        if run.start_from is not None:
            self._check_no_circle(system, where=where)
            check_start(run, self.run(dataset, run.start_from, scale, seed), where=where)
        return run

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

    def _check_no_circle(self, system: str, *, where: str) -> None:
        """Raise `UserError` if a system starts from itself, directly or through other systems."""
        names, name = [system], self.system(system).start_from
        while name is not None:
            if name in names:
                raise UserError(
                    f"{where}: {' starts from '.join([*names, name])}: this is circular, remove one `start_from`."
                )
            names, name = [*names, name], self.system(name, where=f"{where}: start_from").start_from

    def segmentation(self, dataset: DatasetSettings, scale: ScaleSettings) -> SegmentationSettings:
        """Return the data set's segmentation, at most as large as the scale allows."""
        return cut_segmentation(dataset, scale)


def _matching(patterns: Iterable[str], valid: Iterable[str], check: Callable[[str], str]) -> tuple[str, ...]:
    """Return the `valid` names that match any of the patterns (`rehearsal_*`), each once.

    `check` is called for a pattern that matches no name and raises `UserError` if it is not a name either.
    """
    matches: list[str] = []
    for pattern in patterns:
        matches += [name for name in valid if fnmatchcase(name, pattern)] or [check(pattern)]
    return tuple(dict.fromkeys(matches))
