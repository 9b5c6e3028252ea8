"""Every published number of the papers' tables is in a cell, even if none of ours is."""

from collections import Counter
from dataclasses import replace

import pytest
from tables.planned import page_blocks, tables

from nmtcore.config.project import Project
from nmtcore.config.typed import build
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.plan import all_tables, table_plan


@pytest.fixture(scope="module")
def plans(root):
    """The plans of the tables of all papers."""
    project = Project([root / "config"], {"scale": "smoke", "seeds": [1]})
    names = all_tables(project)
    return [build(PlannedTable, table_plan(project, table=name), where=name) for name in names]


def shown_tables(table):
    """Make the tables that show a table of a paper, without our numbers; settings need no files."""
    cells = tuple(
        cell if "value" in cell.source else replace(cell, runs=None, source={}, reason=cell.reason or "not computed")
        for cell in table.cells
    )
    return tables(page_blocks(replace(table, cells=cells, runs={}, claims=())))


def test_all_published_numbers_are_shown(plans):
    """The number of cells' numbers that are shown is printed by kind; kinds without any publish none in cells."""
    counts: Counter[str] = Counter()
    for table in plans:
        numbers = Counter(cell.published for cell in table.cells if cell.published is not None)
        cells = [cell for own in shown_tables(table) for row in own.rows for cell in row]
        shown = Counter(cell.value for cell in cells if isinstance(cell.value, int | float))
        assert numbers <= shown, f"{table.paper}, {table.name}: {numbers - shown}"
        counts[table.table_kind] += numbers.total()
    print(f"{counts.total()} published numbers are shown: {dict(counts)}")
    assert counts.total() == 554
