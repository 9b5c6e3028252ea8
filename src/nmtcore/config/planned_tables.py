"""A table of a paper as planned: which runs, data sets and splits its cells are computed from, or why there are none.

Planning makes it (`nmtcore.planning.paper_tables`), and the job that writes the table reads it.
"""

from dataclasses import field
from typing import Any, NamedTuple

from nmtcore.config.paper_tables import GAIN, TableKind
from nmtcore.config.published import Number
from nmtcore.config.ranges import Amount, Seed, settings_class


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


@settings_class
class PlannedCell:
    """What a cell measures here; names that do not apply are None."""

    row: str
    column: str
    published: Number | None = None
    marks: str = ""
    """The paper's marks of significance, keys of `MARKS`."""
    system: str | None = None
    """The system, or the name of a row that is no system of ours (`gold`, `left`, "UDPipe 1.2")."""
    runs: str | None = None
    """Its runs, a key of `PlannedTable.runs`; None: it needs none, or `reason` says why there are none."""
    baseline_runs: str | None = None
    """The runs of the table's first baseline for the same test, where the cell's system is another."""
    dataset: str | None = None
    """Our data set whose split is measured."""
    split: str | None = None
    """Our split."""
    metric: str | None = None
    """The paper's metric."""
    item: str | None = None
    """A subset of the test, a tag, a production..."""
    reason: str = ""
    """Why nothing can be measured here."""


@settings_class
class PlannedRow:
    """A row of the table."""

    name: str
    elsewhere: bool = False
    """Whether the paper quotes it from others."""
    added: bool = False
    """Whether the paper's table lacks it."""
    members: tuple[str, ...] = ()
    """The rows whose mean it is."""
    hidden: bool = False
    """Whether it is only there for the mean of several rows."""


@settings_class
class PlannedColumn:
    """A column of the table."""

    name: str
    dataset: str | None = None
    """The paper's data set."""
    split: str | None = None
    """The paper's split."""
    metric: str | None = None
    """The paper's metric."""
    digits: Amount = 0
    """Decimals of the published numbers."""


class ComparedRuns(NamedTuple):
    """Runs that are compared, as keys of `PlannedTable.runs`."""

    system: str
    baseline: str | None
    """None for one that is no system of ours."""
    minus: tuple[str, str] | None = None
    """The system and the baseline whose difference is subtracted."""


@settings_class
class PlannedMinus:
    """The runs whose difference is subtracted from that of a claim."""

    system: str
    """The runs of the system, a key of `PlannedTable.runs`."""
    baseline: str
    """The runs of the baseline."""
    dataset: str
    """Our data set whose split is measured."""
    split: str
    """Our split."""
    item: str | None = None
    """The subset of the split; None: all of it."""


@settings_class
class PlannedClaim:
    """A claim about the table, and the runs that decide it."""

    claim: dict[str, Any]
    """`nmtcore.config.claims.claim_to_json`."""
    system: str | None = None
    """The runs of the system, a key of `PlannedTable.runs`."""
    baseline: str | None = None
    """The runs of the baseline; None for one that is no system of ours."""
    controls: dict[str, str] = field(default_factory=dict)
    """The runs of each control, by the position of the control in the claim."""
    control_baselines: dict[str, str] = field(default_factory=dict)
    """The runs of the same control in place of the baseline, where that is the system as trained on other data."""
    control_minus: dict[str, str] = field(default_factory=dict)
    """The runs of the same control in place of the system of `minus`, where that is the same system."""
    control_reasons: dict[str, str] = field(default_factory=dict)
    """Why a control has no runs of its own, by its position in the claim."""
    dataset: str | None = None
    """Our data set whose split is measured."""
    split: str | None = None
    """Our split."""
    minus: PlannedMinus | None = None
    """The runs whose difference is subtracted, if the claim is about which of two gains is larger."""
    reason: str = ""
    """Why it cannot be decided."""
    undecided: str = ""
    """Why our difference does not decide it."""

    @property
    def items(self) -> tuple[str, ...]:
        """The subset of the split on which the runs are compared, and the one whose gain is subtracted, if any."""
        items = (self.claim["item"], self.minus and self.minus.item)
        return tuple(item for item in items if item is not None)

    def compared(self) -> ComparedRuns | None:
        """Return the runs that decide it; None if there is a reason why there are none."""
        if self.reason or self.system is None:
            return None
        return ComparedRuns(self.system, self.baseline, self.minus and (self.minus.system, self.minus.baseline))

    def compared_control(self, position: str) -> ComparedRuns:
        """Return the runs that are compared with a control in place of the system, by its position in the claim."""
        minus = self.minus and (self.control_minus.get(position, self.minus.system), self.minus.baseline)
        return ComparedRuns(self.controls[position], self.control_baselines.get(position, self.baseline), minus)


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
    measures: dict[str, str] = field(default_factory=dict)
    """The measures that the paper's metrics stand for, if not themselves."""
    baselines: tuple[str, ...] = ()
    facts: dict[str, Number] = field(default_factory=dict)
    rows: tuple[PlannedRow, ...] = ()
    columns: tuple[PlannedColumn, ...] = ()
    cells: tuple[PlannedCell, ...] = ()
    """A cell for each row and column, row by row."""
    runs: dict[str, PlannedRuns] = field(default_factory=dict)
    """The runs by DATASET/SYSTEM."""
    evaluation: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The settings of scores of each of our data sets."""
    claims: tuple[PlannedClaim, ...] = ()
    more: dict[str, Any] = field(default_factory=dict)
    """What else the kind needs to know from the configuration (`facts` of `nmtcore.planning.table_kinds.KIND`)."""

    def measure(self, metric: str | None) -> str:
        """Return the measure that a metric of the paper, or the gain in it, stands for; empty without a metric."""
        name = (metric or "").removesuffix(GAIN)
        return self.measures.get(name, name)

    def cell(self, row: str, column: str) -> PlannedCell:
        """Return a cell. Raises `KeyError` if there is none."""
        for cell in self.cells:
            if (cell.row, cell.column) == (row, column):
                return cell
        raise KeyError((row, column))
