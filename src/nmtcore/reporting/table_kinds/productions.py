"""Tables of productions: percentages of dependents by tag, in gold and predicted trees, next to the published ones."""

from functools import cache
from typing import Any

from nmtcore.config.planned_tables import PlannedCell, PlannedTable
from nmtcore.evaluation.productions import (
    parse_productions,
    production_shares,
    shares_by_seed,
    treebank_productions,
)
from nmtcore.layout import Layout
from nmtcore.reporting.published_columns import cell_data, published_and_ours
from nmtcore.reporting.seed_items import run_items
from nmtcore.reporting.table import Items, SeedMean, TableCell, note
from nmtcore.reporting.table_content import TableContent
from nmtcore.reporting.table_treebanks import TableTreebanks

WITHOUT_RUNS = ("gold", "left")
"""The names of trees that need no run: those of the treebank, and chains to the next word."""

_NOTES = """
VERB_NOUN: the percentage of the dependents of verbs that are nouns. Means over seeds, ± their standard deviation if
there are several. Punctuation is not counted as a dependent, nor is the root, which has no head. gold: the treebank's
trees; left: the head is the next word, punctuation included. Systems: the trees with one root that they predict. All
columns of a treebank are computed from the same sentences.
"""


class _Shares:
    """The shares of productions behind a table's cells."""

    def __init__(self, table: PlannedTable, layout: Layout) -> None:
        self._treebanks = TableTreebanks(table, layout)
        self._of_treebank, self._of_runs = cache(self._read_treebank), cache(self._read_runs)

    def reason(self, cell: PlannedCell) -> str:
        """Say why a cell is empty; empty if it is not."""
        if cell.runs is None and cell.system not in WITHOUT_RUNS and not cell.reason:
            return f"{cell.system} has no trees"
        if reason := self._treebanks.reason(cell):
            return reason
        head, _, dependent = (cell.item or "").partition("_")
        if not dependent:
            return f"{cell.item} is no production HEAD_DEPENDENT"
        return "" if self.shares(cell) else f"these trees have no dependents of {head}"

    def shares(self, cell: PlannedCell) -> list[float]:
        """Return the share of a cell's production for each seed."""
        head, _, dependent = (cell.item or "").partition("_")
        if cell.runs is None:
            shares = [self._of_treebank(cell.dataset, cell.split)[cell.system]]
        else:
            shares = self._of_runs(cell.runs, cell.dataset, cell.split)
        return shares_by_seed(shares, head=head, dependent=dependent)

    def _read_treebank(self, dataset: str, split: str) -> dict[str, Any]:
        _, trees = self._treebanks.files(dataset, split)
        counts = treebank_productions(trees, stop=self._treebanks.sentences(dataset, split))
        return {name: production_shares(productions) for name, productions in counts.items()}

    def _read_runs(self, runs: str, dataset: str, split: str) -> list[dict[str, dict[str, float]]]:
        _, trees = self._treebanks.files(dataset, split)
        files = self._treebanks.parses(runs, split).values()
        return [production_shares(parse_productions(own.parses, trees)) for own in files]


def productions_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Count the productions of all trees of a table."""
    shares = _Shares(table, layout)
    ours = {(cell.row, cell.column): _shown(cell, shares) for cell in table.cells}
    shown = published_and_ours(table, ours, first="production", content="mean", digits=1)
    remarks = tuple(run_items(table))
    blocks = [shown, note(_NOTES), *([Items(remarks)] if remarks else [])]
    return TableContent(blocks=blocks, data=cell_data(table, ours))


def _shown(cell: PlannedCell, shares: _Shares) -> TableCell:
    if reason := shares.reason(cell):
        return TableCell(None, reason=reason)
    return TableCell(SeedMean.over(shares.shares(cell)))
