"""Planned tables for tests of the kinds of tables."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reporting.runs import EVALUATION

from nmtcore.config.planned_tables import (
    PlannedCell,
    PlannedClaim,
    PlannedColumn,
    PlannedRow,
    PlannedRuns,
    PlannedTable,
)
from nmtcore.config.typed import build, plain
from nmtcore.reporting.table import TEXTS, Block, Items, Table


def planned(
    table_kind: str,
    cells: list[dict[str, Any]],
    *,
    seeds: dict[str, list[int]] | None = None,
    rows: dict[str, dict[str, Any]] | None = None,
    of_runs: dict[str, Any] | None = None,
    of_columns: dict[str, Any] | None = None,
    **more: Any,
) -> PlannedTable:
    """Plan a table of the data set `d` from its cells; `seeds` are those of each system, `rows` flags of rows.

    `of_columns` are values of all columns, `of_runs` of all runs.
    """
    names = list(dict.fromkeys(cell["row"] for cell in cells))
    columns = list(dict.fromkeys(cell["column"] for cell in cells))
    runs = {
        f"d/{system}": PlannedRuns(dataset="d", system=system, seeds=own, **(of_runs or {}))
        for system, own in (seeds or {}).items()
    }
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


OF_NO_RUN = re.compile(
    "published|.*, published(, %)?"  # the paper's numbers
    "|claims|upheld.*|contradicted|not decided|not run|comparisons"  # counts of claims
    "|layer|head"  # names of rows
)
"""Names of columns of numbers that were not computed from runs or data."""


def unlinked(blocks: Iterable[Block]) -> list[str]:
    """List the columns with a number that the report cannot link, or that is of `OF_NO_RUN` but linked."""
    return sorted(
        {
            column.name
            for table in blocks
            if isinstance(table, Table)
            for row in table.rows
            for column, cell in zip(table.columns, row, strict=True)
            if column.content not in TEXTS and cell.value is not None
            if bool(cell.origin) == bool(OF_NO_RUN.fullmatch(column.name))
        }
    )


RUNS = {"unfinished": (4,), "missing": (5, 6), "provenance": "An engine"}
"""Runs that lack seeds and were made elsewhere."""


def about_runs(*systems: str) -> Items:
    """Return the items about such runs."""
    return Items(
        tuple(
            sentence
            for system in systems
            for sentence in (
                f"{system} on d: without seed 4, whose run is not finished.",
                f"{system} on d: without seeds 5, 6, which have no translations.",
                f"{system} was not trained here; its translations: An engine.",
            )
        )
    )


def plan_translations(
    table_kind: str, cells: list[dict[str, Any]], seeds: dict[str, list[int]], **more: Any
) -> PlannedTable:
    """Plan a table of scores of the test, whose data set is called `theirs` in the paper."""
    table = planned(table_kind, cells, seeds=seeds, evaluation={"d": EVALUATION}, **more)
    metrics = {cell["column"]: cell["metric"] for cell in cells}
    columns = tuple(
        replace(column, dataset="theirs", split="test", metric=metrics[column.name], digits=2)
        for column in table.columns
    )
    return replace(table, columns=columns)


def plan_cell(row: str, column: str = "ours", *, system: str | None = None, **changes: Any) -> dict[str, Any]:
    """Plan a cell of a system's row: BLEU of its test."""
    system = system or row
    values = {"system": system, "runs": f"d/{system}", "split": "test", "metric": "bleu"}
    return {"row": row, "column": column, **values, **changes}


def plan_claim(item: str | None, *, difference: float | None = None, **changes: Any) -> PlannedClaim:
    """Plan a claim that `better` gains over `base` on the sentences `item`."""
    claim = {
        "paper": "paper", "place": "Table 1", "says": "",
        "system": ["better", "theirs"], "baseline": ["base", "theirs"],
        "baseline_from_elsewhere": False, "dataset": "theirs", "split": "test", "metric": "bleu", "item": item,
        "direction": "gain", "difference": difference, "level": None, "controls": [],
    }  # fmt: skip
    values = {"system": "d/better", "baseline": "d/base", "dataset": "d", "split": "test"}
    return PlannedClaim(claim=claim | changes.pop("claim", {}), **values | changes)
