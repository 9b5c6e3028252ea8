"""Planned tables for tests of what is made of them."""

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nmtcore.config.typed import build, plain
from nmtcore.layout import Layout
from nmtcore.tables.blocks import TEXTS, Block, Items, Table
from nmtcore.tables.cells import Cell, Claim, PlannedRuns, PlannedTable
from nmtcore.tables.kinds import KINDS, loaded
from nmtcore.tables.make import make_frame
from nmtcore.tables.query import Frame, read_frame, write_frame


def planned(
    table_kind: str,
    cells: list[dict[str, Any]],
    *,
    seeds: dict[str, list[int]] | None = None,
    rows: dict[str, dict[str, Any]] | None = None,
    of_runs: dict[str, Any] | None = None,
    columns: dict[str, dict[str, Any]] | None = None,
    **more: Any,
) -> PlannedTable:
    """Plan a table of the data set `d` from its cells; `seeds` are those of each system.

    `rows` and `columns` have more values of some rows and columns, `of_runs` those of all runs.
    """
    names = list(dict.fromkeys(cell["row"] for cell in cells))
    shown = {cell["column"]: cell.get("metric") for cell in cells}
    runs = {
        f"d/{system}": PlannedRuns(dataset="d", system=system, seeds=tuple(own), **(of_runs or {}))
        for system, own in (seeds or {}).items()
    }
    table = PlannedTable(
        **{
            "paper": "p2020", "name": "table_1", "table_kind": table_kind, "title": "P 2020", "place": "Table 1",
            "description": "", "scale": "quick",
            "rows": tuple(Cell(row=name, **{"system": name, **(rows or {}).get(name, {})}) for name in names),
            "columns": tuple(
                Cell(
                    **{"column": name, "dataset": "real", "split": "test", **_measured({"metric": metric})}
                    | (columns or {}).get(name, {})
                )
                for name, metric in shown.items()
            ),
            "cells": tuple(Cell(**{"ours": "d", "test": "test", **_measured(cell)}) for cell in cells),
            "runs": runs,
            **more,
        }
    )  # fmt: skip
    return build(PlannedTable, plain(table), where="the plan")  # as the job gets it


def stored_frame(table: PlannedTable) -> Frame:
    """Make the frame of a table, as it is read again from its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.parquet"
        write_frame(make_frame(table), path)
        frame = read_frame(path)
    assert frame.table == table
    return frame


def blocks_of(frame: Frame) -> list[Block]:
    """Make the parts of a table's page, whose numbers all lead to their runs."""
    return list(loaded(KINDS[frame.table.table_kind].blocks)(frame))


def page_blocks(table: PlannedTable) -> list[Block]:
    """Make the parts of the page of a table."""
    return blocks_of(stored_frame(table))


def _measured(values: dict[str, Any]) -> dict[str, Any]:
    """Add the measure that a metric stands for: itself."""
    return {"measure": (values.get("metric") or "").removesuffix("_gain"), **values}


def scored(
    layout: Layout, system: str, seeds: Iterable[int], column: str = "bleu", *, dataset: str = "d", scale: str = "quick"
) -> dict[str, Any]:
    """Plan what a cell with scores of a system's test has: its runs, its metric and its source."""
    file_type = "metric_counts" if column == "comet" else "counts"
    names = {"scale": scale, "dataset": dataset, "system": system}
    names |= {"metric": column} if column == "comet" else {}
    files = {str(seed): layout.path(file_type, **names, seed=seed) for seed in seeds}
    source = {"files": {"counts": files}, "split": "test", "column": column}
    return {"system": system, "runs": f"{dataset}/{system}", "ours": dataset, "metric": column, "source": source}


def claim(
    system: str | dict[str, Any] = "new",
    baseline: str | dict[str, Any] = "base",
    *,
    item: str | None = None,
    metric: str = "bleu",
    controls: tuple[tuple[Cell, Cell], ...] = (),
    **changes: Any,
) -> Claim:
    """Make a claim that a system gains over a baseline on the test of the data set `real`.

    Each is a name, of what is not run, or the values of a planned cell.
    """
    cells = [_claimed(own, item=item, metric=metric) for own in (system, baseline)]
    values = {"paper": "p2020", "place": "Table 1", "difference": 1.5, "level": 0.05}
    return Claim(**{**values, "system": cells[0], "baseline": cells[1], "controls": controls, **changes})


def control(name: str, reason: str = "") -> tuple[Cell, Cell]:
    """Make a control of a claim, which is not run for a reason, and the cell that it is compared with."""
    return _claimed({"system": name, "reason": reason}), _claimed("base")


def _claimed(own: str | dict[str, Any], **more: Any) -> Cell:
    planned = {"system": own} if isinstance(own, str) else {"ours": "d", "test": "test", **_measured(own)}
    return Cell(**{"dataset": "real", "tested": "real", "split": "test", **more, **planned, "row": "", "column": ""})


def shown(table: Table) -> list[list[str]]:
    """Return the rows of a table as text; an empty cell with a reason has the reason in brackets."""
    return [
        [
            f"({cell.reason})" if cell.reason else column.shown(cell) + cell.mark
            for column, cell in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]


def tables(blocks: Iterable[Block]) -> list[Table]:
    """List the tables among some blocks."""
    return [block for block in blocks if isinstance(block, Table)]


def items(blocks: Iterable[Block]) -> list[str]:
    """List the texts of the items among some blocks."""
    return [text for block in blocks if isinstance(block, Items) for text in block.texts]


OF_NO_RUN = re.compile(
    "(.*, )?published(, %|, mean)?"  # the paper's numbers
    "|claims|upheld.*|contradicted|not decided|not run|comparisons|ours, (least|most)"  # counts of claims
    "|layer|head"  # names of rows
)
"""Names of columns of numbers that were not computed from runs or data."""


def unlinked(blocks: Iterable[Block]) -> list[str]:
    """List the columns with a number that the report cannot link, or that is of `OF_NO_RUN` but linked."""
    return sorted(
        {
            column.name
            for table in tables(blocks)
            for row in table.rows
            for column, cell in zip(table.columns, row, strict=True)
            if column.content not in TEXTS and cell.value is not None
            if bool(cell.origin) == bool(OF_NO_RUN.fullmatch(column.name))
        }
    )
