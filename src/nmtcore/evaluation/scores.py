"""The scores of a run, computed from the files that translating and parsing left, without torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from nmtcore.config.stages import ScoringSettings
from nmtcore.evaluation.attachment import attachment, is_punctuation
from nmtcore.evaluation.bleu import score_translations
from nmtcore.evaluation.lines import run_lines
from nmtcore.files import read_lines, write_json
from nmtcore.inference.parse_files import TREE_METHODS
from nmtcore.layout import file_name
from nmtcore.parquet import read_rows


@dataclass(frozen=True, kw_only=True)
class OutputFiles:
    """What translating and parsing a split leaves, each with one row per sentence in the split's order."""

    translations: Path
    references: Path
    """In the form of the translations: the same text or tokens, with its capitals."""
    parses: Path
    """`PARSE_SCHEMA`, where the system parses."""


def output_files(folder: Path, split: str) -> OutputFiles:
    """Give the files of a split in the folder `hypotheses`; in `gold` there are parses alone."""
    return OutputFiles(
        translations=folder / file_name("translations", split=split),
        references=folder / file_name("references", split=split),
        parses=folder / file_name("parses", split=split),
    )


def score_tests(
    settings: ScoringSettings,
    *,
    hypotheses: Path,
    corpora: Mapping[str, Path],
    trees: Mapping[str, Path],
    scores: Path,
) -> list[str]:
    """Score the translations and, where the system parses, the parses of every test split; return scores as lines.

    Writes bleu, and uas where the system parses, by split into `scores` (JSON). `corpora` and `trees` (empty for
    `diagonalparse`) are what parses are compared with, by split.
    """
    files = {split: output_files(hypotheses, split) for split in settings.splits}
    found: dict[str, Any] = {"bleu": {}}
    for split, its in files.items():
        lines = [read_lines(path) for path in (its.translations, its.references)]
        found["bleu"][split] = score_translations(*lines, settings.evaluation)
    if settings.parsed:
        roots = settings.evaluation.roots
        found["uas"] = {
            split: score_parses(files[split].parses, corpora[split], trees.get(split), roots=roots)
            for split in settings.parsed
        }
    return _write(settings, found, scores)


def score_gold(
    settings: ScoringSettings,
    *,
    parses: Path,
    corpora: Mapping[str, Path],
    trees: Mapping[str, Path],
    scores: Path,
) -> list[str]:
    """Compare the parses of every gold treebank of a run with the treebank's `trees`; return the scores as lines.

    Writes gold.uas by split into `scores` (JSON).
    """
    roots = settings.evaluation.roots
    found = {
        split: score_parses(output_files(parses, split).parses, corpora[split], trees[split], roots=roots)
        for split in settings.parsed
    }
    return _write(settings, {"gold.uas": found}, scores)


def _write(settings: ScoringSettings, found: Mapping[str, Any], scores: Path) -> list[str]:
    """Write scores with the run's name, and give them as lines."""
    named = {key: getattr(settings, key) for key in ("dataset", "system", "scale", "seed")}
    write_json(scores, {**named, **found})
    return run_lines(found, scores.parent)


def score_parses(
    parses: Path, corpus: Path, trees: Path | None, *, roots: Literal["one", "many"] = "one"
) -> dict[str, Any]:
    """Score predicted heads against a parser's or a treebank's trees of the source side: argmax and spanning trees.

    `spanning_tree` is the one with as many `roots` as the data set's trees have. Without `trees` the right head of a
    word is the previous one, and of the first word itself (`diagonalparse`).
    """
    predicted = list(read_rows(parses))
    words = [row["source_words"] for row in read_rows(corpus, columns=["source_words"], stop=len(predicted))]
    methods = {"argmax": "argmax"}
    if trees is None:
        gold = [[max(1, word) for word in range(len(sentence))] for sentence in words]
        marks = [is_punctuation(sentence) for sentence in words]
    else:
        rows = list(read_rows(trees, columns=["head", "upos"], stop=len(predicted)))
        gold = [row["head"] for row in rows]
        marks = [is_punctuation(sentence, row["upos"]) for sentence, row in zip(words, rows, strict=True)]
        methods |= {"spanning_tree": TREE_METHODS[roots], "one_root": "one_root", "many_roots": "many_roots"}
    return {name: attachment([row[method] for row in predicted], gold, marks) for name, method in methods.items()}
