"""The files of tables: what papers publish (`config/published/PAPER.yaml`), and what we show (`config/tables`)."""

from dataclasses import field
from typing import Literal

from nmtcore.config.typed import Positive, Seed, settings_class
from nmtcore.tables.cells import MARGIN, Axis, Comparison, Direction, Number
from nmtcore.tables.kinds import KINDS

TableKind = Literal[tuple(KINDS)]
"""What a table shows (`nmtcore.tables.kinds`)."""

Numbers = Number | tuple[Number, ...] | None
"""A cell of a file: a number, one number per metric of its column, or nothing."""


@settings_class
class ClaimSettings:
    """A sentence of a paper that compares systems: a claim per system (or item), baseline and column."""

    says: str
    """What the paper says, in our words."""
    systems: tuple[str, ...] = ()
    """Rows that are compared; none: the table's `system`."""
    baselines: tuple[str, ...] = ()
    """Rows that they are compared with; none: the table's first baseline."""
    columns: tuple[str, ...] = ()
    """Columns in which they are compared; none: all."""
    baseline_columns: tuple[str, ...] = ()
    """Of a claim about two data sets, two items, or two numbers that are no scores: the baselines' columns, one for
    each of `columns`, of the same split; without `baselines`, each system is compared with itself."""
    items: tuple[str, ...] = ()
    """Subsets of the test on which they are compared; none: the whole test."""
    beyond_columns: tuple[str, ...] = ()
    """Of a claim that a gain is larger than another: the columns of the other gain, one for each of `columns`."""
    beyond_items: tuple[str, ...] = ()
    """Of such a claim: the subset of the other gain, one for each of `items`; "all but ITEM": the other sentences."""
    beyond_systems: tuple[str, ...] = ()
    """Of such a claim: the row of the other gain, one for each of `systems`; none: the same."""
    beyond_baselines: tuple[str, ...] = ()
    """Of such a claim: what that row is compared with, one for each of `baselines`; none: the same."""
    places: tuple[Number, ...] = ()
    """Of a claim that scores rise or fall: where each of the systems stands, such as its layer. The slope is judged."""
    correlated_with: tuple[str, ...] = ()
    """Of a claim that the scores of systems correlate: the columns of the other scores, one for each of `columns`."""
    direction: Direction = "gain"
    """gain: the system is better, or the number positive; loss: worse; no_gain: not better, or not by much; none:
    neither better nor worse, or not by much."""
    margin: Positive = MARGIN
    """Of no_gain and none: the points of the metric, or the correlation, below which a difference counts as none."""
    difference: Number | str | None = None
    """The published difference, or the fact that is the difference; null: that of the table's cells."""
    controls: tuple[str, ...] | None = None
    """Systems that gain without what is claimed to bring the gain; null: those of the paper's `controls` or, where that
    has none, what the system's entry is `compared_with`. They take the place of the system, also where that is the
    baseline."""

    def __post_init__(self) -> None:
        if self.direction not in ("no_gain", "none") and self.margin != MARGIN:
            raise ValueError(f"margin concerns the directions no_gain and none only, not {self.direction}")
        alone = ("beyond_columns", "beyond_items", "beyond_systems", "places", "correlated_with")
        more = [name for name in alone if getattr(self, name)]
        if len(more) > 1:
            raise ValueError(f"a claim has one of {' and '.join(more)}, not both")
        if self.beyond_baselines and not self.beyond_systems:
            raise ValueError("beyond_baselines needs beyond_systems, which are compared with them")
        for key, name in (("places", "systems"), ("beyond_columns", "columns"), ("correlated_with", "columns"),
                          ("beyond_items", "items"), ("beyond_systems", "systems"),
                          ("beyond_baselines", "baselines")):  # fmt: skip
            count, expected = len(getattr(self, key)), len(getattr(self, name))
            if count not in (0, expected):
                raise ValueError(f"{key} has {count} entries for {expected} {name}")

    @property
    def compares(self) -> Comparison:
        """What it is about."""
        if self.places:
            return "slope"
        return (
            "correlation"
            if self.correlated_with
            else "gains"
            if self.beyond_columns or self.beyond_items or self.beyond_systems
            else "difference"
        )


@settings_class
class PublishedTableSettings:
    """A table or figure of a paper, as in its file."""

    place: str = ""
    """Where it is in the paper; by default its name (`table_6_1` is Table 6.1)."""
    description: str = ""
    """What it shows, and what differs from its caption."""
    row: Axis = "system"
    """What its rows name; an item is a tag, a production, a subset of a test..."""
    column: str = "dataset/split/metric"
    """What its columns name, with slashes. A column with two metrics, `uas+las`, has pairs of numbers."""
    system: str | None = None
    """The system of all cells."""
    dataset: str | None = None
    """The data set of all cells."""
    split: str | None = None
    """The split of all cells."""
    metric: str | None = None
    """The metric of all cells."""
    systems: tuple[str, ...] = ()
    """Systems that it shows without numbers."""
    baselines: tuple[str, ...] = ()
    """Rows that others are compared with: marks d and D refer to the first, v and V to the second."""
    columns: tuple[str, ...] = ()
    """The columns."""
    rows: dict[str, tuple[Numbers, ...]] = field(default_factory=dict)
    """The rows, one value per column; null: the paper has none."""
    rows_from_elsewhere: dict[str, tuple[Numbers, ...]] = field(default_factory=dict)
    """Rows of systems that are quoted from others."""
    trained_on: dict[str, dict[str, str]] = field(default_factory=dict)
    """Rows whose system was trained on another data set than the column's: {row: {data set: other data set}}."""
    marks: dict[str, dict[str, str]] = field(default_factory=dict)
    """Marks of significance: {column: {row: "DV"}}."""
    facts: dict[str, Number] = field(default_factory=dict)
    """Numbers that belong to no cell."""
    claims: tuple[ClaimSettings, ...] = ()
    """What the paper says about it."""


@settings_class
class TableSettings(PublishedTableSettings):
    """A table or figure of results: what is added to the published one of the same name, or a whole one of one's own.

    One's own has `rows`, `columns`, and what else a published one may have.
    """

    kind: TableKind
    """What it shows."""
    added: tuple[str, ...] = ()
    """Rows that the paper's table lacks: controls, baselines trained like the systems that they belong to, external
    systems."""
    labels: dict[str, str] = field(default_factory=dict)
    """How Markdown, LaTeX and figures name a row, a data set or a DATASET/SPLIT. The CSV keeps the names."""
    rows: tuple[str, ...] | dict[str, tuple[Numbers, ...]] = ()
    """Of a table without a published one: its systems, or numbers to show beside ours, as in a published table."""
    facts: dict[str, Number] = field(default_factory=dict)
    """Numbers that the kind reads (`layer`, `first_sentences`...), in addition to the paper's."""
    sentence: str = ""
    """Of a table of examples: the source sentence that it shows if the test has it; spaces before punctuation, and case
    do not matter."""


@settings_class
class PaperSettings:
    """The tables and figures of a paper, as in its file."""

    title: str
    """Authors, year and title."""
    others: dict[str, str] = field(default_factory=dict)
    """Rows that are no systems of the project, and what they are."""
    controls: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Systems that gain without what a system is claimed to gain by: {system: controls}."""
    assumed: dict[str, str] = field(default_factory=dict)
    """What the paper leaves open about its tables, and why it is so here. Changes no run."""
    tables: dict[str, PublishedTableSettings]
    """The tables and figures by name."""


@settings_class
class PaperTablesSettings(PaperSettings):
    """The tables and figures of a paper, published or the user's own."""

    title: str = ""
    """Title, if no file in `published/` has it."""
    measures: dict[str, str] = field(default_factory=dict)
    """The measures that the paper's metrics stand for: {bleu: multi_bleu} or, if its model is there, {bleu: comet};
    metrics not named here are their own."""
    seeds: dict[str, tuple[Seed, ...]] = field(default_factory=dict)
    """Systems that are run with other seeds than those of config.yaml, at scales with `verdicts`."""
    tables: dict[str, TableSettings]
    """The tables and figures by name; most have the name of a published table."""

    def __post_init__(self) -> None:
        for system, seeds in self.seeds.items():
            if not seeds or len(set(seeds)) < len(seeds):
                raise ValueError(f"seeds.{system} must be a list of different numbers, at least one")
