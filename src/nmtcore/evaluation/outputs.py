"""The translations of one test by several systems and seeds, with their references, and those made elsewhere."""

import glob
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nmtcore.config.runs import RunSettings
from nmtcore.corpus.text_lines import read_aligned_lines, read_text_lines
from nmtcore.errors import UserError, explain_os_errors
from nmtcore.evaluation.scores import output_files, read_translations
from nmtcore.files import read_json, write_lines
from nmtcore.parquet import read_rows


class SplitOutputs(NamedTuple):
    """Translations of a split and its references, one string per sentence."""

    references: list[str]
    translations: dict[str, dict[int, list[str]]]
    """By system and seed; files from elsewhere count as seeds from 1."""


def read_outputs(folders: Mapping[str, Mapping[int, Path]], split: str) -> SplitOutputs:
    """Read the translations of a split; `folders` has the folder `hypotheses` of each run, by system and seed.

    Raises `UserError` if a run has not one translation per reference, or other references than the first run.
    """
    first: tuple[Path, list[str]] | None = None
    outputs: dict[str, dict[int, list[str]]] = {}
    for system, seeds in folders.items():
        for seed, folder in seeds.items():
            files = output_files(folder, split)
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
    run: RunSettings, *, corpora: Mapping[str, Path], reports: Mapping[str, Path], hypotheses: Path
) -> list[str]:
    """Write the translations and references of every test of an external run into a folder; describe each as a line.

    The translation of a pair is the line of the run's file with the pair's number in the split, so pairs that reading
    dropped or that the scale leaves out are skipped. `corpora` (PAIR_SCHEMA) and `reports` (on reading) are files by
    split. Raises `UserError` if a file has not one line per pair, or is not UTF-8.
    """
    messages = []
    with explain_os_errors(hypotheses):
        hypotheses.mkdir(parents=True, exist_ok=True)
    for split, path in run.external.items():
        pairs = read_json(reports[split])["pairs"]
        lines = read_aligned_lines(path, count=pairs, split=f"the split {split} of {run.dataset}")
        rows = read_rows(corpora[split], columns=["id"], stop=run.sentences.of(split))
        translations = [lines[row["id"]] for row in rows]
        files = output_files(hypotheses, split)
        write_lines(files.translations, translations)
        write_lines(files.references, read_references(run, corpora[split], len(translations)))
        empty = sum(not line.strip() for line in translations)
        messages.append(f"{path}: {len(translations):,} of {pairs:,} lines used for {split}, {empty:,} of them empty")
    return messages


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
            own = _read_text(path)
            if len(own) != len(lines):
                raise UserError(
                    f"{path} has {len(own):,} lines, but the references {references} have {len(lines):,}: "
                    "provide one line for each."
                )
            translations.setdefault(name, {})[seed] = own
    return SplitOutputs(references=lines, translations=translations)


def _files_by_system(systems: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each system by its name, those of seeds in the order of their numbers."""
    files: dict[str, list[Path]] = {}
    for text in systems:
        name, sign, pattern = text.partition("=")
        if not sign or Path(text).exists():
            name = pattern = text
        if not name or not pattern:
            raise UserError(f"'{text}' is not of the form NAME=PATTERN, for example mine=outputs/seed*.txt.")
        if name in files:
            raise UserError(f"The system {name} is given twice: give each system once, its seeds as one pattern.")
        path = Path(pattern).expanduser()
        if path.is_dir():
            raise UserError(f"{pattern} is a folder: name a file in it, or several as a pattern, '{path}/*.txt'.")
        matches = [path] if path.exists() else map(Path, glob.glob(str(path), recursive=True))
        files[name] = sorted((match for match in matches if not match.is_dir()), key=_numbers_last)
        if not files[name]:
            raise UserError(f"No file matches {pattern}: check the name.")
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
