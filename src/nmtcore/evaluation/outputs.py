"""The translations of one test by several systems and seeds, with their references, and those made elsewhere."""

import glob
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.text_lines import read_aligned_lines, read_text_lines
from nmtcore.errors import UserError
from nmtcore.evaluation.scores import make_output_files, output_files, read_translations
from nmtcore.files import read_json, write_lines
from nmtcore.parquet import read_rows


class SplitOutputs(NamedTuple):
    """Translations of a split and its references, one string per sentence."""

    references: list[str]
    translations: dict[str, dict[int, list[str]]]
    """By system and seed; files from elsewhere count as seeds from 1."""


def read_outputs(folders: Mapping[str, Mapping[int, Path]]) -> SplitOutputs:
    """Read the translations of a split; `folders` has the folder `hypotheses/{split}` of each run, by system and seed.

    Raises `UserError` if a run has not one translation per reference, or other references than the first run.
    """
    first: tuple[Path, list[str]] | None = None
    outputs: dict[str, dict[int, list[str]]] = {}
    for system, seeds in folders.items():
        for seed, folder in seeds.items():
            files = output_files(folder)
            translations, references = read_translations(files.translations, files.references)
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


def read_references(run: RunSettings, corpus: Path, count: int | None) -> list[str]:
    """Read the references of the first `count` pairs of a split (None: all), as text or tokens joined by spaces."""
    if run.evaluation.text == "detokenised":
        return [row["target"] for row in read_rows(corpus, columns=["target"], stop=count)]
    return [" ".join(row["target_words"]) for row in read_rows(corpus, columns=["target_words"], stop=count)]


def import_translations(
    run: RunSettings, *, split: str, translations: Path, corpus: Path, report: Path, hypotheses: Path
) -> list[str]:
    """Write the translations of a test that were made elsewhere, and its references, into a folder; return a line.

    The translation of a pair is the line of the file `translations` with the pair's number in the split, so pairs that
    reading dropped or that the scale leaves out are skipped. `corpus` (PAIR_SCHEMA) and `report` (on reading) are files
    of the split. Raises `UserError` if the file has not one line per pair, or is not UTF-8.
    """
    pairs = read_json(report)["pairs"]
    lines = read_aligned_lines(translations, count=pairs, split=f"the split {split} of {run.dataset}")
    rows = read_rows(corpus, columns=["id"], stop=run.sentences.of(split))
    used = [lines[row["id"]] for row in rows]
    files = make_output_files(hypotheses)
    write_lines(files.translations, used)
    write_lines(files.references, read_references(run, corpus, len(used)))
    empty = sum(not line.strip() for line in used)
    return [f"{translations}: {len(used):,} of {pairs:,} lines used for {split}, {empty:,} of them empty"]


def read_files(references: Path, systems: Sequence[str]) -> SplitOutputs:
    """Read references and translations from any text files, one line per sentence.

    A system is a file, or a pattern such as `mine/seed*.txt` with one file per seed; `NAME=` before it gives it a name.
    Raises `UserError` if a file is missing, a folder, empty, not UTF-8 or of another length than the references, if a
    system occurs twice, or if the references are blank.
    """
    lines = _read_text(references)
    if not any(line.strip() for line in lines):
        raise UserError(f"{references} has only blank lines, so nothing can be scored: provide the references.")
    translations: dict[str, dict[int, list[str]]] = {}
    for name, paths in _files_by_system(systems).items():
        for seed, path in enumerate(paths, start=1):
            translated = _read_text(path)
            if len(translated) != len(lines):
                raise UserError(
                    f"{path} has {len(translated):,} lines, but the references {references} have {len(lines):,}: "
                    "provide one line for each."
                )
            translations.setdefault(name, {})[seed] = translated
    return SplitOutputs(references=lines, translations=translations)


def _files_by_system(systems: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each system by its name, those of seeds in the order of their numbers."""
    files: dict[str, list[Path]] = {}
    for text in systems:
        name, sign, pattern = text.partition("=")
        if not (sign and name and pattern) or Path(text).exists():
            name = pattern = text
        if name in files:
            raise UserError(f"The system {name} is given twice: give each system once, its seeds as one pattern.")
        path = Path(pattern).expanduser()
        matches = [path] if path.exists() else map(Path, glob.glob(str(path), recursive=True))
        files[name] = sorted((match for match in matches if not match.is_dir()), key=_numbers_last)
        if not files[name]:
            raise UserError(f"No file matches {pattern}: name a file, or several as a pattern, 'mine/seed*.txt'.")
    return files


def _numbers_last(path: Path) -> list[tuple[str, int]]:
    """Return a key that sorts seed10 after seed2."""
    pieces = re.split(r"([0-9]+)", str(path))
    return [(text, int(number or -1)) for text, number in zip(pieces[::2], [*pieces[1::2], ""], strict=True)]


def _read_text(path: Path) -> list[str]:
    lines = read_text_lines(path)
    if not lines:
        raise UserError(f"{path} is empty: provide one line per sentence.")
    return lines
