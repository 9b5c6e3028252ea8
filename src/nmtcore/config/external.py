"""External systems: translations made elsewhere, one file per split and seed, and where they come from."""

import datetime
from dataclasses import field, replace
from typing import Annotated

from pydantic import BeforeValidator

from nmtcore.config.datasets import DatasetSettings
from nmtcore.config.files import check_files
from nmtcore.config.needs import MissingAnnotation
from nmtcore.config.partial import Listed
from nmtcore.config.ranges import settings_class
from nmtcore.config.runs import RunSettings
from nmtcore.config.typed import choose
from nmtcore.errors import UserError


class MissingTranslations(MissingAnnotation):
    """An external system has no translations for a data set, for its main test, or for a seed."""


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

    Raises `MissingTranslations` if the data set, its main test or the seed has none, and `UserError` if a split is
    unknown, a file is missing, or the splits have different numbers of files.
    """
    files = external.translations.get(data.name, {})
    for split in files:
        choose(split, data.tests, noun="test split", where=f"{where}: external: translations.{data.name}")
    if not files.get(data.main_test):
        raise MissingTranslations(
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
        raise MissingTranslations(
            f"{where}: has {_count_files(count)} for {data.main_test}, so there is no seed {run.seed}: add files, or "
            f"choose {'seed 1' if count == 1 else f'seeds from 1 to {count}'}.",
            missing=f"no external translations for seed {run.seed}",
        )
    own = {split: files[split][run.seed - 1] for split in data.tests if split in files}
    check_files(own, where=where)
    evaluation = replace(run.evaluation, greedy_dev=False)
    return replace(run, tests=tuple(own), external=own, evaluation=evaluation)


def _count_files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"
