"""Planned tables for tests of the kinds of tables."""

from typing import Any

from nmtcore.config.planned_tables import PlannedCell, PlannedColumn, PlannedRow, PlannedRuns, PlannedTable
from nmtcore.config.typed import build, plain
from nmtcore.reporting.table import Table


def planned(
    table_kind: str,
    cells: list[dict[str, Any]],
    *,
    seeds: dict[str, list[int]] | None = None,
    rows: dict[str, dict[str, Any]] | None = None,
    of_columns: dict[str, Any] | None = None,
    **more: Any,
) -> PlannedTable:
    """Plan a table of the data set `d` from its cells; `seeds` are those of each system, `rows` flags of rows.

    `of_columns` are values of all columns.
    """
    names = list(dict.fromkeys(cell["row"] for cell in cells))
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    runs = {f"d/{system}": PlannedRuns(dataset="d", system=system, seeds=own) for system, own in (seeds or {}).items()}
    table = PlannedTable(
        paper="p2020",
        name="table_1",
        table_kind=table_kind,
        title="A paper",
        place="Table 1",
        description="",
        scale="quick",
        rows=tuple(PlannedRow(name=name, **(rows or {}).get(name, {})) for name in names),
        columns=tuple(PlannedColumn(name=column, metric=column, **(of_columns or {})) for column in columns),
        cells=tuple(PlannedCell(**{"dataset": "d"} | cell) for cell in cells),
        runs=runs,
        **more,
    )
    return build(PlannedTable, plain(table), where="the plan")  # as the job gets it


def shown(table: Table) -> list[list[str]]:
    """Return the rows of a table as text; an empty cell with a reason has the reason in brackets."""
    return [
        [
            f"({cell.reason})" if cell.reason else column.shown(cell) + cell.mark
            for column, cell in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]
