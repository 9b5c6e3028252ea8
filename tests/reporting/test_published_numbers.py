"""Every published number of the tables of sizes, settings, subwords and times is in a cell, even if none of ours is."""

from collections import Counter
from dataclasses import replace
from importlib import import_module

import pytest

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.config.project import Project
from nmtcore.config.typed import build
from nmtcore.layout import Layout
from nmtcore.planning.paper_tables import all_papers, paper_table_plan, paper_tables_of
from nmtcore.reporting.table import Table

KINDS = ("sizes", "settings", "subwords", "time")


@pytest.fixture(scope="module")
def plans(root):
    """The plans of these tables of all papers."""
    project = Project([root / "config"], {"scale": "smoke", "seeds": [1]})
    names = [name for paper in all_papers(project) for name in paper_tables_of(project, paper)]
    tables = [build(PlannedTable, paper_table_plan(project, paper_table=name), where=name) for name in names]
    return [table for table in tables if table.table_kind in KINDS]


def without_our_numbers(table):
    """Replace what our numbers are computed from by a reason; settings need no files."""
    empty = {"reason": "not computed", "ours": None}
    if table.table_kind == "sizes":
        return {"sources": {row.name: {column.name: empty for column in table.columns} for row in table.rows}}
    return {"logs": {}, "facts": dict.fromkeys(table.facts, empty), "settings": table.more.get("settings")}


def test_all_published_numbers_are_shown(plans):
    assert {table.table_kind for table in plans} == set(KINDS)
    for table in plans:
        published = [cell.published for cell in table.cells if cell.published is not None]
        numbers = Counter([*published, *table.facts.values()])
        assert numbers
        content_of = getattr(
            import_module(f"nmtcore.reporting.table_kinds.{table.table_kind}"), f"{table.table_kind}_content"
        )
        blocks = content_of(replace(table, more=without_our_numbers(table)), Layout()).blocks
        cells = [cell for block in blocks if isinstance(block, Table) for row in block.rows for cell in row]
        shown = Counter(cell.value for cell in cells if isinstance(cell.value, int | float))
        assert numbers <= shown, f"{table.paper}, {table.name}: {numbers - shown}"
