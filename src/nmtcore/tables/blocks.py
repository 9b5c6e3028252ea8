"""Tables of results and the pages that they are on; the writers of all formats take these objects.

Text of our own may have `code` in backticks. Text of the corpus is shown as it is, whatever it contains.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from nmtcore.evaluation.compare import Difference
from nmtcore.evaluation.summary import Estimate, Interval, SeedMean
from nmtcore.training.log import duration

Content = Literal["text", "corpus", "code", "number", "mean", "interval", "difference", "p_value", "duration"]
"""What the cells of a column hold: our own text, text of a corpus, text as code (tags); numbers with digits, means over
seeds, intervals, differences with their intervals, p-values; or seconds, shown as a duration."""

TEXTS = ("text", "corpus", "code")
"""The contents that are text."""

_RAW_NAMES = {
    "mean": ("", ", standard deviation"), "interval": (", low", ", high"), "difference": ("", ", low", ", high"),
    "duration": (", seconds",),
}  # fmt: skip
"""What follows the name of a column in those of its raw values."""

Value = str | int | float | SeedMean | Interval | Estimate | None
"""The value of a cell; None: it is empty."""


class TableCell(NamedTuple):
    """A value with what is shown in addition to it."""

    value: Value
    mark: str = ""
    """What follows the value, for example a mark of significance."""
    reason: str = ""
    """Why the cell is empty; listed below the table."""
    digits: int | None = None
    """Decimals, if they differ from the column's."""
    origin: str = ""
    """What the value was computed from: runs, as DATASET/SYSTEM, or a data set. The report links to its section."""


_EMPTY = TableCell(None)


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column of a table."""

    name: str
    raw_name: str = ""
    """Its name among raw values, if it is another."""
    content: Content = "text"
    digits: int = 0
    """Decimals of numbers, means and intervals."""
    signed: bool = False
    """Whether positive numbers have a sign."""
    align: Literal["left", "right"] | None = None
    """None: text left, all others right."""
    group: str = ""
    """The heading above the names of neighbouring columns with the same one."""
    detail: bool = False
    """Whether only the raw values have it."""

    @property
    def alignment(self) -> Literal["left", "right"]:
        """The alignment of the cells."""
        return self.align or ("left" if self.content in TEXTS else "right")

    @property
    def raw_names(self) -> tuple[str, ...]:
        """The names of the columns of raw values."""
        name = self.raw_name or ", ".join(filter(None, (self.group, self.name)))
        return tuple(f"{name}{ending}" for ending in _RAW_NAMES.get(self.content, ("",)))

    def raw(self, cell: TableCell) -> tuple[str | int | float | None, ...]:
        """Return the raw values of a cell, one per raw name; an empty cell has None."""
        values = cell.value if isinstance(cell.value, tuple) else (cell.value,)
        return (*values, *[None] * (len(self.raw_names) - len(values)))

    def shown(self, cell: TableCell) -> str:
        """Return a cell as text, before it is escaped: numbers with commas and digits; empty if there is no value."""
        value, sign = cell.value, "+" if self.signed else ""
        digits = self.digits if cell.digits is None else cell.digits
        if value is None or isinstance(value, str):
            return value or ""
        if isinstance(value, tuple):
            return value.text(digits, sign)
        if self.content == "duration":
            return duration(value)
        if self.content == "p_value":
            return "< 0.001" if value < 0.001 else f"{value:.3f}"
        return f"{value:{sign},.{digits}f}"


Row = tuple[TableCell, ...]
"""The cells of a row."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table: columns, and rows in groups, between which some formats draw a line."""

    columns: tuple[Column, ...]
    groups: tuple[tuple[Row, ...], ...]
    keys: Mapping[str, str | int] = field(default_factory=dict)
    """What all rows have in common but only the heading says; columns of the raw values, by name."""
    command: str = ""
    """What makes the runs that are missing."""
    caption: str = ""
    """What to conclude from the table, for a paper."""
    notes: tuple[str, ...] = ()
    """What its marks and numbers mean, a sentence each."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"a row has {len(row)} cells, the table has {len(self.columns)} columns")

    @property
    def rows(self) -> Iterator[Row]:
        """The rows of all groups."""
        return (row for group in self.groups for row in group)

    @property
    def by_column(self) -> list[tuple[Column, tuple[TableCell, ...]]]:
        """The columns, each with its cells."""
        cells = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        return list(zip(self.columns, cells, strict=True))

    @property
    def _numbers(self) -> list[int]:
        """The positions of the columns of numbers."""
        return [position for position, column in enumerate(self.columns) if column.content not in TEXTS]

    @property
    def not_run(self) -> list[Row]:
        """The rows that have reasons instead of our numbers."""
        ours = {
            position for row in self.rows for position in self._numbers if row[position].reason or row[position].origin
        }
        missing = (row for row in self.rows if any(cell.reason and cell.value is None for cell in row))
        return [row for row in missing if all(row[position].value is None for position in ours)]

    def for_readers(self) -> "Table":
        """Leave out what only the raw values have: details, empty columns, and rows with reasons but no number.

        A row that was not run stays if the paper has a number in it.
        """
        left_out = [row for row in self.not_run if all(row[position].value is None for position in self._numbers)]
        rows = [row for row in self.rows if row not in left_out]
        kept = [
            position
            for position, column in enumerate(self.columns)
            if not column.detail and (not rows or any(row[position] != _EMPTY for row in rows))
        ]
        return self.part(kept, lambda row: row not in left_out)

    def part(self, columns: Sequence[int], is_kept: Callable[[Row], bool]) -> "Table":
        """Leave out the other columns, the rows that are not kept, and the groups without rows."""
        groups = (
            tuple(tuple(row[position] for position in columns) for row in group if is_kept(row))
            for group in self.groups
        )
        shown = tuple(self.columns[position] for position in columns)
        return replace(self, columns=shown, groups=tuple(filter(None, groups)))


def make_table(columns: Sequence[Column], rows: Sequence[Sequence[Any]], **more: Any) -> Table:
    """Make a table with one group of rows, whose cells are `TableCell`s or plain values; `more` are other fields."""
    return grouped_table(columns, [rows] if rows else [], **more)


def grouped_table(columns: Sequence[Column], groups: Sequence[Sequence[Sequence[Any]]], **more: Any) -> Table:
    """Make a table with several groups of rows, whose cells are `TableCell`s or plain values."""
    cells = tuple(tuple(tuple(map(_as_cell, row)) for row in rows) for rows in groups)
    return Table(columns=tuple(columns), groups=cells, **{**more, "keys": dict(more.get("keys") or {})})


@dataclass(frozen=True)
class Heading:
    """A heading between the tables of a page."""

    text: str
    place: str = ""
    """Where a paper has the tables below it, for example `Table 1`: it stands before the text, but in LaTeX in the
    label."""

    @property
    def whole(self) -> str:
        """The place and the text."""
        return ": ".join(filter(None, (self.place, self.text)))


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; its line breaks are kept where the format has lines."""

    text: str
    corpus: str = ""
    """Text of a corpus that follows."""


@dataclass(frozen=True)
class Items:
    """A list of short texts."""

    texts: tuple[str, ...]


Block = Heading | Paragraph | Items | Table
"""A part of a page."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What one file of results shows: tables, with headings and notes."""

    title: str
    """The title, for LaTeX."""
    blocks: tuple[Block, ...]

    @property
    def tables(self) -> list[Table]:
        """The tables of the page."""
        return [block for block in self.blocks if isinstance(block, Table)]


def with_origin(values: Sequence[Any], origin: str | None) -> list[TableCell]:
    """Make cells of values or cells that were computed from the same runs or data set, DATASET/SYSTEM or DATASET."""
    return [_as_cell(value)._replace(origin=origin or "") for value in values]


def text_columns(*names: str) -> list[Column]:
    """Make columns of our own text."""
    return [Column(name=name) for name in names]


def number_columns(*names: str, content: Content = "number", digits: int = 0) -> list[Column]:
    """Make columns of numbers."""
    return [Column(name=name, content=content, digits=digits) for name in names]


def estimate_column(name: str = "difference", *, digits: int = 2) -> Column:
    """Make a column for a difference ± half its interval."""
    return Column(name=name, content="difference", digits=digits, signed=True)


def estimate_cell(compared: Difference | None) -> TableCell:
    """Make a cell of `estimate_column`, which is empty if there is no difference."""
    return TableCell(compared and Estimate.of(compared))


def note(text: str) -> Paragraph:
    """Make a paragraph of a text of several lines."""
    return Paragraph(text.strip("\n"))


def item_blocks(texts: Iterable[str]) -> list[Block]:
    """Make a list of short texts, each once; an empty list of blocks if there are none."""
    items = tuple(dict.fromkeys(texts))
    return [Items(items)] if items else []


def percentage(part: float | None, whole: float | None) -> float | None:
    """Return `part / whole` in percent; None if it is undefined."""
    return None if part is None or not whole else 100 * part / whole


def _as_cell(value: Any) -> TableCell:
    return value if isinstance(value, TableCell) else TableCell(value)
