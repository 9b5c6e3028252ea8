"""Rows, columns and cells of tables: what a paper prints, and what is measured here."""

from dataclasses import field
from typing import Annotated, Any, Literal, get_args

from nmtcore.config.ranges import Amount, Range, settings_class

Axis = Literal["system", "dataset", "split", "metric", "item"]
"""What a row, a column or a whole table can name; an item is a tag, a production, a subset of a test..."""

AXES: tuple[str, ...] = get_args(Axis)
"""All axes."""

Number = Annotated[float, Range(least=-1000, most=1e9)]
"""A score, a difference, a count..."""


@settings_class
class GridLine:
    """A row or a column of a table; what it does not name is None."""

    name: str
    """For example `depparse_l1@filtered`, or `cs2en/test/bleu`."""
    system: str | None = None
    dataset: str | None = None
    split: str | None = None
    metric: str | None = None
    item: str | None = None
    filtered: bool = False
    """Whether the system was trained on NAME_filtered."""
    elsewhere: bool = False
    """Whether the paper quotes it from others."""
    added: bool = False
    """Whether the paper's table lacks it."""
    measure: str = ""
    """Of a column: what the metric, or the gain in it, stands for here (`nmtcore.measures`)."""
    digits: Amount = 0
    """Of a column: decimals of the published numbers."""


@settings_class
class GridCell:
    """A number of a paper, and what it measures: there or, of a planned table, here. What does not apply is None."""

    row: str
    column: str
    published: Number | None = None
    """None: the paper has none."""
    marks: str = ""
    """The paper's marks of significance, keys of `MARKS`."""
    system: str | None = None
    """The system, or the name of a row that is no system of ours (`gold`, `left`, "UDPipe 1.2")."""
    dataset: str | None = None
    """The data set that the system is trained on; its tests are those of the column's data set."""
    split: str | None = None
    metric: str | None = None
    """The paper's metric."""
    item: str | None = None
    """A subset of the test, a tag, a production..."""
    measure: str = ""
    """What the metric, or the gain in it, stands for here (`nmtcore.measures`)."""
    runs: str | None = None
    """Its runs, a key of `PlannedTable.runs`; None: it needs none, or `reason` says why there are none."""
    baseline_runs: str | None = None
    """The runs of the table's first baseline for the same test, where the cell's system is another."""
    reason: str = ""
    """Why nothing can be measured here."""
    source: dict[str, Any] = field(default_factory=dict)
    """What it is measured from: `files`, and what its measure needs to know (`nmtcore.measures`)."""
