"""Parts of a test, by constructions and phrases or by length: their sentences, their scores, and cells of these."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nmtcore.config.cells import GridCell
from nmtcore.config.planned_tables import PlannedTable
from nmtcore.evaluation.compare import SAMPLES
from nmtcore.evaluation.subsets import FEW, length_bins, long_sentences, read_subsets, read_translated
from nmtcore.measures.scores import stored_counts
from nmtcore.parquet import row_count
from nmtcore.reporting.results import Compared, PartOfTest, Results
from nmtcore.reporting.table import SeedMean, TableCell, estimate_cell, percentage, with_origin

ALL = "all sentences"
"""The name of the part that is the whole test."""

ITEMS = {"control": "control_raising", "total": ALL}
"""What items of the papers' tables are called here, if not the same."""

LONG = "long sentences"
"""The name of the longest sentences of a test in claims."""

SHARE, DEFAULT_SHARE = "share_of_long_sentences", 0.01
"""The fact that says which share of a test its long sentences are, and this share where the paper does not say."""

PARTS_NOTE = f"""
Few: fewer than {FEW} sentences, too few to conclude anything. Scores are means over seeds, ± their standard deviation
if there are several. Difference: from the baseline on the same sentences, ± half its 95 % interval, which joins the
variance over seeds with that over {SAMPLES:,} paired bootstrap samples of the part's sentences.
"""


class Parts(NamedTuple):
    """The parts of a test, by name, and how many of its sentences could not be analysed."""

    sentences: int
    parts: dict[str, PartOfTest]
    unanalysed: int


def share_of_long_sentences(table: PlannedTable) -> float:
    """Return which share of a test its long sentences are."""
    return float(table.facts.get(SHARE, DEFAULT_SHARE))


def parts_of(table: PlannedTable, cell: GridCell) -> Parts:
    """Return the parts of a cell's test; none if the cell has no files."""
    if not cell.source:
        return Parts(0, {}, 0)
    files = cell.source["files"]
    translated = len(stored_counts(cell.source)[0]) if "counts" in files else None
    if "pairs" in files:
        return _by_length(files["pairs"], translated, share_of_long_sentences(table))
    return _by_construction(tuple(files["annotations"].items()), translated)


@cache
def _by_construction(annotations: tuple[tuple[str, str], ...], translated: int | None) -> Parts:
    """Read all sentences and those with each construction or phrase."""
    sentences = row_count(Path(annotations[0][1])) if translated is None else translated
    parts, unanalysed = {ALL: PartOfTest(ALL, np.arange(sentences))}, 0
    for name, path in annotations:
        side, _, column = name.partition(".")
        subsets = read_subsets(Path(path), column, sentences=sentences)
        unanalysed = max(unanalysed, subsets.unanalysed)
        for subset, rows_B in subsets.rows.items():
            label = subset if column == "ccg" else f"{subset} in the {side}"
            parts[label] = PartOfTest(label, rows_B)
    return Parts(sentences, parts, unanalysed)


@cache
def _by_length(pairs: str, translated: int, share: float) -> Parts:
    """Read the longest sentences, and those of each bin of lengths."""
    words = [len(own) for own in read_translated(Path(pairs), "source_words", sentences=translated)]
    longest = long_sentences(words, share=share)
    parts = {LONG: PartOfTest(f"at least {longest.fewest_words} words", longest.rows_B)}
    return Parts(translated, parts | {name: PartOfTest(name, rows_B) for name, rows_B in length_bins(words).items()}, 0)


def compare_parts(table: PlannedTable, results: Results, cell: GridCell, baseline: GridCell) -> Compared:
    """Compare the cells of a claim, on the part of the test that it names."""
    if cell.item is None or not cell.source or not baseline.source:
        return results.compare_claimed(cell, baseline)
    part = parts_of(table, cell).parts.get(ITEMS.get(cell.item, cell.item))
    if part is None:
        noun = "subset by length" if table.table_kind == "lengths" else "construction"
        return f"{cell.item} is no {noun}"
    return results.compare_claimed(cell, baseline, part)


def part_scores(results: Results, cell: GridCell, part: PartOfTest | None, *, of: int) -> dict[str, Any]:
    """Score a cell on a part of its test of `of` sentences, and compare it with the table's first baseline.

    A single sentence, which says nothing about others, has no interval and no difference.
    """
    count = 0 if part is None else len(part.rows_B)
    values: dict[str, Any] = {
        "sentences": count, "share": percentage(count, of), "system": cell.system, "runs": cell.runs, "scores": None,
        "interval": None, "difference": None, "measure": cell.measure, "baseline_scores": None, "signature": None,
        "baseline_runs": cell.baseline_runs, "reason": None,
    }  # fmt: skip
    if not results.is_scored(cell) or not count:
        return values | {"reason": cell.reason or ("no sentences" if cell.source else "it is not run")}
    values |= {"scores": results.values(cell, part), "signature": results.counts(cell)[0].signature}
    baseline = _baseline_of(cell)
    if baseline is not None and baseline.runs != cell.runs and results.is_scored(baseline):
        values["baseline_scores"] = results.values(baseline, part)
        values["difference"] = results.compare(cell, baseline, part) if count > 1 else None
    if count == 1:
        return values | {"reason": "a single sentence"}
    return values | {"interval": results.interval(cell, part)}


def _baseline_of(cell: GridCell) -> GridCell | None:
    """Return the cell of the table's first baseline for the same test."""
    if "baseline" not in cell.source.get("files", {}):
        return None
    files = cell.source["files"]
    source = {**cell.source, "files": {**files, **files["baseline"]}}
    return replace(cell, runs=cell.baseline_runs, source=source)


def sentences_cell(count: int | None, *, reason: str = "") -> TableCell:
    """Make the cell of a number of sentences, with a mark if they are too few to conclude anything from, or none."""
    mark = "" if count is None or count >= FEW else " (few)" if count else " (none)"
    return TableCell(count, mark, reason=reason)


def size_cells(entry: Mapping[str, Any]) -> list[TableCell]:
    """Make the cells of the size of a part, and of its share of the test; both are empty if the test is not known."""
    cells = [None, None] if entry["share"] is None else [sentences_cell(entry["sentences"]), entry["share"]]
    return with_origin(cells, entry["dataset"])


def mean_cell(scores: Sequence[float] | None, *, reason: str | None = "") -> TableCell:
    """Make the cell of a mean over seeds; `reason` says why there is none."""
    return TableCell(SeedMean.over(scores)) if scores else TableCell(None, reason=reason or "")


def difference_cell(entry: Mapping[str, Any], *, reason: str = "") -> TableCell:
    """Make the cell of a difference and its interval; `reason` says why there is none."""
    return TableCell(None, reason=reason) if entry["difference"] is None else estimate_cell(entry["difference"])
