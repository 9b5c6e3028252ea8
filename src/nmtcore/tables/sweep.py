"""Sweeps: the dev scores of trials, the choice by them, what it alone scores on tests, and the expected best."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from nmtcore.evaluation.summary import DEV
from nmtcore.files import read_json
from nmtcore.layout import file_name
from nmtcore.tables.blocks import Block, Column, item_blocks, make_table, note, text_columns, with_origin
from nmtcore.tables.cells import Cell, PlannedTable
from nmtcore.tables.measures import measure_label
from nmtcore.tables.query import Frame, Results, Row, plain_row
from nmtcore.tables.sheets import difference_cell, empty_items, seed_items

_NOTES = """
Means over seeds, ± half the 95 % interval over seeds and sentences. The choice has the highest mean on dev; that it is
the highest of many is not in its interval there, so compare it with others on tests. Other trials are not translated on
tests. Expected best: the mean of the highest dev score of so many trials, drawn with replacement from those above
(Dodge et al. 2019).
"""


def expected_best(scores: Sequence[float], trials: int) -> float:
    """Return the expected highest of n `trials` that are drawn with replacement from N `scores` (Dodge et al. 2019).

    The i-th lowest score is the highest of them with the probability (i / N)^n - ((i - 1) / N)^n.
    """
    shares = [(place / len(scores)) ** trials for place in range(len(scores) + 1)]
    return sum(score * (high - low) for score, low, high in zip(sorted(scores), shares, shares[1:], strict=False))


def sweep_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield the dev scores of all trials, the tests of the choice, and the expected best of each number of trials."""
    cells = [table.cell(row.name, table.columns[0].name) for row in table.rows]
    trials = [_scored(results, cell) | {"test": DEV} for cell in cells]
    yield from trials
    for folder in {cell.source["files"]["choice"] for cell in cells if cell.source}:
        choice = read_json(Path(folder, file_name("chosen")))["choice"]
        for cell in (table.cell(choice, column.name) for column in table.columns):
            counts = {seed: f"{folder}/seed{seed}/counts" for seed in cell.source["files"]["counts"]}
            source = {"files": {"counts": counts}, "split": cell.test, "column": cell.measure}
            yield _scored(results, replace(cell, source=source))
    means = [fmean(row["values"]) for row in trials if row["values"]]
    for number in range(1, len(means) + 1):
        names = {"row": "", "system": None, "runs": None, "test": DEV, "item": str(number), "reason": ""}
        yield plain_row(cells[0]) | names | {"values": [expected_best(means, number)]}


def _scored(results: Results, cell: Cell) -> Row:
    """Make the row of a cell, with the interval of its mean over seeds."""
    row = results.row(cell)
    interval = results.contrast([(1, cell, None)]) if row["values"] else {}
    return row | {key: interval.get(key) for key in ("delta", "low", "high")}


def sweep_blocks(frame: Frame) -> list[Block]:
    """Show each trial on dev, the choice on tests, and the expected best dev score by number of trials."""
    label, trials, expected = measure_label(frame.table.columns[0].measure), [], []
    tests = [row for row in frame.rows if row["test"] != DEV]
    for row in (row for row in frame.rows if row["test"] == DEV):
        if row["item"] is None:
            of_choice = (test if test["runs"] == row["runs"] else None for test in tests)
            trials.append([row["row"], difference_cell(row, row["reason"]), *map(difference_cell, of_choice)])
        else:
            expected.append([row["item"], *with_origin(row["values"], row["dataset"])])
    names = [f"dev {label}", *(f"{label} of the choice on {row['test']}" for row in tests)]
    columns = [*text_columns("trial"), *(Column(name=name, content="difference", digits=2) for name in names)]
    second = [*text_columns("trials"), Column(name=f"expected best dev {label}", content="number", digits=2)]
    shown = [make_table(columns, trials), *[make_table(second, expected)] * bool(expected), note(_NOTES)]
    return [*item_blocks(empty_items(frame)), *shown, *item_blocks(seed_items(frame.table))]
