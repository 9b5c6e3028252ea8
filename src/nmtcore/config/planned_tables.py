"""A table of a paper as planned: which runs, data sets and splits its cells are computed from, or why there are none.

Planning makes it (`nmtcore.planning.paper_tables`), and the job that writes the table reads it.
"""

from dataclasses import field
from functools import cached_property
from typing import NamedTuple

from nmtcore.config.cells import GridCell, GridLine, Number
from nmtcore.config.claims import Claim, TrainedSystem
from nmtcore.config.paper_tables import TableKind
from nmtcore.config.ranges import Seed, settings_class


@settings_class
class PlannedRuns:
    """A system on a data set, with the seeds that a table reads."""

    dataset: str
    """Our data set, which may be a stand-in."""
    system: str
    seeds: tuple[Seed, ...] = ()
    unfinished: tuple[Seed, ...] = ()
    """Seeds that are left out because their runs are not finished."""
    missing: tuple[Seed, ...] = ()
    """Seeds that an external system has no translations for."""
    reason: str = ""
    """Why there are no seeds."""
    provenance: str = ""
    """Where translations of an external system come from."""


class PlannedControl(NamedTuple):
    """A control of a claim, which takes the place of its system."""

    trained: TrainedSystem
    cell: GridCell | None = None
    """Its score; None: `reason` says why there is none."""
    baseline: GridCell | None = None
    """The score of the claim's baseline, or of the same control in its place, where that is the system itself as
    trained on other data."""
    reason: str = ""


@settings_class
class PlannedClaim:
    """A claim about the table, and the scores that decide it."""

    claim: Claim
    cell: GridCell | None = None
    """The score of the system; None: `reason` says why there is none."""
    baseline: GridCell | None = None
    """The score of the baseline, which may be no system of ours."""
    controls: tuple[PlannedControl, ...] = ()
    reason: str = ""
    """Why it cannot be decided."""
    undecided: str = ""
    """Why our difference does not decide it."""


@settings_class
class PlannedTable:
    """A table of a paper as planned."""

    paper: str
    name: str
    table_kind: TableKind
    title: str
    """Authors, year and title of the paper."""
    place: str
    description: str
    scale: str
    stand_ins: dict[str, str] = field(default_factory=dict)
    """The data sets in place of the paper's: {cs2en: demo_en2de}; none at paper scale."""
    baselines: tuple[str, ...] = ()
    """The rows that others are compared with."""
    compared_with: dict[str, str] = field(default_factory=dict)
    """The baseline of each system; empty: each is compared with all baselines."""
    facts: dict[str, Number] = field(default_factory=dict)
    sentence: str = ""
    """Of a table of examples: the source sentence that it shows if the test has it."""
    rows: tuple[GridLine, ...] = ()
    columns: tuple[GridLine, ...] = ()
    cells: tuple[GridCell, ...] = ()
    """A cell for each row and column, row by row."""
    runs: dict[str, PlannedRuns] = field(default_factory=dict)
    """The runs by DATASET/SYSTEM."""
    claims: tuple[PlannedClaim, ...] = ()
    code: dict[str, str] = field(default_factory=dict)
    """The checksums of metrics of the user's own, so that the table is made again if one changes."""

    def cell(self, row: str, column: str) -> GridCell:
        """Return a cell. Raises `KeyError` if there is none."""
        return self._by_place[row, column]

    def is_compared(self, row: GridLine, position: int) -> bool:
        """Return whether a row is compared with a baseline, given by its position."""
        if self.compared_with:
            return self.compared_with.get(row.system or "") == self.baselines[position]
        return row.name not in self.baselines[: position + 1]

    @cached_property
    def _by_place(self) -> dict[tuple[str, str], GridCell]:
        return {(cell.row, cell.column): cell for cell in self.cells}
