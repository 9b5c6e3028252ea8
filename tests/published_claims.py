"""All claims of a paper."""

from nmtcore.tables.cells import Cell, Claim
from nmtcore.tables.papers import Paper


def paper_claims(paper: Paper) -> list[Claim]:
    """List the claims of all tables."""
    return [claim for table in paper.tables.values() for claim in table.claims]


def trained(*cells: Cell) -> list[tuple[str | None, str | None]]:
    """Name the systems of cells, with the data sets that they are trained on."""
    return [(cell.system, cell.dataset) for cell in cells]
