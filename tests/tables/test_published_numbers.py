"""Every published number stands in the paper's text, and in a cell of ours, even if none of ours does."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tables.planned import page_blocks, tables

from nmtcore.config.project import Project
from nmtcore.config.typed import build
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.papers import read_paper
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


TEXTS = {"pham2018": "000", "bugliarello2020": "001", "tran2018": "002", "aycock2021": "004"}
"""How the names of the papers' texts begin."""
OTHERWISE = {"dataset_sizes", "released_training", "figure_6_4", "facts", "train/pairs"}
"""Tables and columns that are no table of the paper's text: numbers in millions, percentages, released commands."""
SAID = {
    "Dependency supertags lower the score a little": ("DG Supertags", "Multi-task learning", "0.2 BLEU"),
    "Tag attention improves translation whatever the source syntax": ("Source syntax", "Overview", "0.4 BLEU"),
    "With other hyperparameters, the Transformer is better than as published": (
        "Training details.", "Main Results", "+3.5 BLEU",
    ),
    "With other hyperparameters, the parse as a second task is better than as published": (
        "Main Results", "Large-scale experiments.", "+3.4 BLEU",
    ),
    "Pascal is most useful for long sentences": ("Performance by sentence length.", "Table 5", "+2 BLEU, +3.5 BLEU"),
    "Parsing takes little more time than translating alone": ("6.3 Training Speed", "Figure 6.3", "13%"),
    "Parsing chains takes little more time than translating alone": ("6.3 Training Speed", "Figure 6.3", "10%"),
}  # fmt: skip
"""Published differences of sentences: where the paper has them (from, up to), and how it writes them."""
COMPUTED = "The quality of induced trees is not correlated with that of translations"


@pytest.fixture(scope="module")
def papers(root, shared):
    """The four papers and their texts."""
    texts = {name: next((shared / "papers").glob(f"{begin}_*.txt")).read_text("utf-8") for name, begin in TEXTS.items()}
    return {name: (read_paper(Project([root / "config"], {}), name), text) for name, text in texts.items()}


def test_every_number_of_a_table_is_in_the_text(papers):
    checked = Counter()
    for name, (paper, text) in papers.items():
        for table in paper.tables.values():
            digits = {column.column: column.digits for column in table.columns}
            for cell in table.cells:
                if cell.published is None or {table.name, cell.column} & OTHERWISE:
                    continue
                written = {f"{cell.published:.{digits[cell.column]}f}", f"{cell.published:g}"}
                pattern = rf"(?<![\d.])({'|'.join(map(re.escape, written))})(?!\d)"
                assert re.search(pattern, text.replace(",", "")), (name, table.name, cell.row, cell.column)
                checked[name] += 1
    print(f"numbers in the texts: {dict(checked)}")
    assert checked.total() > 450


def test_tables_are_where_the_text_has_them(papers):
    for name, (paper, text) in papers.items():
        places = {table.place for table in paper.tables.values() if table.name not in OTHERWISE}
        for place in re.split(", | and ", ", ".join(places - {"Not in the thesis", "Not in the paper"})):
            heading = re.sub("^(Sections?|Chapters?) ", "", place)
            heading = heading.rstrip("ab") if heading.startswith("Table") else heading
            assert heading in text, f"{name}: {place}"


def test_differences_of_sentences_are_in_their_section(papers):
    stated = set()
    for paper, text in papers.values():
        for table in paper.settings.tables.values():
            for claim in table.claims:
                if claim.difference is None or claim.says == COMPUTED:
                    continue
                begin, end, written = SAID[claim.says]
                section = text.rpartition(begin)[2].partition(end)[0]
                assert all(number in section for number in written.split(", ")), claim.says
                number = table.facts[claim.difference] if isinstance(claim.difference, str) else claim.difference
                values = [float(re.sub("[^0-9.]", "", one)) / (100 if "%" in one else 1) for one in written.split(",")]
                assert abs(number) in values, claim.says
                stated.add(claim.says)
    assert stated == SAID.keys()


def test_the_correlation_of_trees_and_translations_is_that_of_the_published_numbers(papers):
    tables = papers["tran2018"][0].tables
    (claim,) = tables["trees_and_translation"].claims
    groups = {}
    for trees, translations in claim.pairs:
        numbers = [
            tables[table].cell(cell.row, cell.column).published
            for table, cell in (("table_3", trees), ("table_2", translations))
        ]
        groups.setdefault(trees.column, []).append(numbers)
    assert [len(group) for group in groups.values()] == [5] * 4
    centred = np.concatenate([np.array(group) - np.mean(group, axis=0) for group in groups.values()])
    assert round(np.corrcoef(centred.T)[0, 1], 2) == claim.difference
