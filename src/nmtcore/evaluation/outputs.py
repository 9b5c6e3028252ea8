"""The translations of one test by several systems and seeds, with their common references."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nmtcore.errors import UserError
from nmtcore.evaluation.scores import output_files
from nmtcore.files import read_lines


@dataclass(frozen=True, kw_only=True)
class SplitOutputs:
    """Translations of a split and its references, one string per sentence."""

    references: list[str]
    translations: dict[str, dict[int, list[str]]]
    """By system and seed."""


def read_outputs(folders: Mapping[str, Mapping[int, Path]], split: str) -> SplitOutputs:
    """Read the translations of a split; `folders` has the folder `hypotheses` of each run, by system and seed.

    Raises `UserError` if a run has not one translation per reference, or other references than the first run.
    """
    first: tuple[Path, list[str]] | None = None
    outputs: dict[str, dict[int, list[str]]] = {}
    for system, seeds in folders.items():
        for seed, folder in seeds.items():
            files = output_files(folder, split)
            translations, references = read_lines(files.translations), read_lines(files.references)
            if len(translations) != len(references) or not references:
                raise UserError(
                    f"{files.translations} has {len(translations):,} lines for {len(references):,} references: delete "
                    f"{folder} and run the workflow again."
                )
            first = first or (files.references, references)
            if references != first[1]:
                raise UserError(
                    f"{first[0]} and {files.references} differ, so that their runs cannot be compared: delete the "
                    "folder of the older one and run the workflow again."
                )
            outputs.setdefault(system, {})[seed] = translations
    if first is None:
        raise ValueError("there are no runs to read")
    return SplitOutputs(references=first[1], translations=outputs)
