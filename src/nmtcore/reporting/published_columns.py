"""Tables whose columns are those of the paper, each with the published and with our value, and their data."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nmtcore.config.planned_tables import PlannedColumn, PlannedTable
from nmtcore.reporting.table import (
    Block,
    Column,
    Content,
    Paragraph,
    SeedMean,
    Table,
    TableCell,
    make_table,
    number_columns,
    text_columns,
)

WIDEST = 20
"""The most columns of a table that is not divided."""

Cells = Mapping[tuple[str, str], TableCell]
"""Our cells by the names of row and column."""


def published_and_ours(
    table: PlannedTable, ours: Cells, *, first: str, content: Content = "number", digits: int = 0, linked: bool = True
) -> Table:
    """Make a table with two columns for each of the paper's: `NAME, published` and `NAME`.

    Hidden rows are left out.

    Args:
        table: the plan.
        ours: our cells.
        first: the heading of the column that names the rows.
        content: what our cells hold.
        digits: the least number of decimals of our values; those of the paper if it has more.
        linked: whether our values were computed from the runs or the data set of their cells.
    """
    columns: list[Column] = text_columns(first)
    for column in table.columns:
        columns += number_columns(f"{column.name}, published", digits=column.digits)
        columns += number_columns(column.name, content=content, digits=max(digits, column.digits))
    rows = [
        [row.name + (" (added)" if row.added else ""), *_pairs_of_cells(table, row.name, ours, linked)]
        for row in table.rows
        if not row.hidden
    ]
    return make_table(columns, rows)


def divided_by_dataset(
    columns: Sequence[PlannedColumn], make: Callable[[Sequence[PlannedColumn]], Table]
) -> list[Block]:
    """Make one table of the paper's columns or, if it is wider than `WIDEST`, one for each data set.

    The name of the data set then stands above the table instead of in the names of its columns; raw values keep both.
    """
    whole = make(columns)
    datasets = dict.fromkeys(column.dataset for column in columns)
    if len(whole.columns) <= WIDEST or len(datasets) < 2:
        return [whole]
    blocks: list[Block] = []
    for dataset in datasets:
        part = make([column for column in columns if column.dataset == dataset])
        shorter = tuple(_without_dataset(column, f"{dataset}/") for column in part.columns)
        blocks += [Paragraph(f"Data set {dataset or 'unknown'}:"), replace(part, columns=shorter)]
    return blocks


def _without_dataset(column: Column, prefix: str) -> Column:
    return replace(column, name=column.name.replace(prefix, ""), raw_name=column.raw_name or column.name)


def cell_data(table: PlannedTable, ours: Cells) -> list[dict[str, Any]]:
    """List the published and our value of each cell as plain values; a mean over seeds has its standard deviation."""
    return [
        {
            **{key: getattr(cell, key) for key in ("row", "column", "published", "dataset", "split", "metric", "item")},
            "ours": value._asdict() if isinstance(value := ours[cell.row, cell.column].value, SeedMean) else value,
            "reason": ours[cell.row, cell.column].reason or None,
        }
        for cell in table.cells
    ]


def _pairs_of_cells(table: PlannedTable, row: str, ours: Cells, linked: bool) -> Iterator[TableCell]:
    for column in table.columns:
        cell = table.cell(row, column.name)
        yield TableCell(cell.published)
        origin = (cell.runs or cell.dataset) if linked else None
        yield ours[row, column.name]._replace(origin=origin or "")
