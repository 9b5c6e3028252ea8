"""Pages of numbers, made from frames: ours next to the published ones, and differences."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from textwrap import fill
from typing import Any

from nmtcore.evaluation.compare import ONE_SEED, expected_agreement
from nmtcore.tables.blocks import (
    Block,
    Column,
    Estimate,
    Heading,
    SeedMean,
    Table,
    TableCell,
    estimate_column,
    grouped_table,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.tables.cells import Cell, PlannedTable
from nmtcore.tables.measures import (
    ATTACHMENT,
    DIFFERS,
    MEASURES,
    SETTINGS,
    as_gain,
    is_of_translations,
    measure_label,
    measure_named,
)
from nmtcore.tables.query import WITH_LENGTHS, Frame, Row, comparisons_of
from nmtcore.tables.sizes import NOTES as SIZE_NOTES

GAINS, LOSSES = ("dD", "vV"), ("xX", "yY")
"""Our marks of gains and of losses against the first and the second baseline: Holm's p < 0.05 and p < 0.01."""

_PUBLISHED_MARKS = "Published d, D: p < 0.05, p < 0.01 against the first baseline; v, V: against the second."
_OUR_MARKS = "Ours d, D (v, V) are gains, x, X (y, Y) losses, by Holm's p; with one seed there are none."
_MEANS = "Means over seeds, ± their standard deviation."
_EMPTY = "Empty: translations without a word, the mean over seeds."
_DIFFERENCES = (
    "Length: of translations / of references. Difference ± half its 95 % interval, over seeds and sentences. "
    "Holm: p corrected for all comparisons by the measure."
)

Comparison = Sequence[Row]
"""The rows of one comparison, a row for each of its places in the table."""


def number_blocks(frame: Frame) -> list[Block]:
    """Show our values next to the published ones, and compare them."""
    table = frame.table
    compared = comparisons_of(frame)
    cells = {(row["row"], row["column"]): row for row in frame.rows if row["baseline"] is None}
    marks = _marks(table, compared)
    empty = _empty(cells.values())
    blocks: list[Block] = [*item_blocks(empty_items(frame)), _overview(table, cells, marks, empty, bool(compared))]
    if compared:
        baselines = {names_of(comparison, "baseline") for comparison in compared}
        of_one = f" from {min(baselines)}" if len(baselines) == 1 else ""
        blocks += [Heading(f"Differences{of_one}"), _details(compared, of_one=bool(of_one))]
    used = {
        _MEANS: any(cell.runs and cell.source for cell in table.cells),
        _EMPTY: empty,
        _DIFFERENCES: compared,
        _PUBLISHED_MARKS: any(cell.marks for cell in table.cells),
        _OUR_MARKS: marks,
    }
    texts = [" ".join(text for text, needed in used.items() if needed), *_measure_notes(table, cells.values())]
    blocks += [note(fill(" ".join(text.split()), 120)) for text in texts if text]
    return [*blocks, *item_blocks(seed_items(table))]


def names_of(comparison: Comparison, key: str) -> str:
    """Join the names that a comparison has in its places."""
    return ", ".join(dict.fromkeys(row[key] for row in comparison))


def is_clear(row: Row) -> bool:
    """Return whether the corrected p of a difference is below 0.05; with one seed, p says nothing about training."""
    return row["training_noise"] and row["holm"] is not None and row["holm"] < 0.05


def _marks(table: PlannedTable, compared: Sequence[Comparison]) -> dict[tuple[str, str], str]:
    """Return the marks of cells, by row and column: those of clear differences."""
    marks: dict[tuple[str, str], str] = {}
    for row in (row for comparison in compared for row in comparison if table.baselines and is_clear(row)):
        baseline = table.baselines.index(row["baseline"])
        if baseline < len(GAINS):
            place = (row["row"], row["column"])
            gain, _, _ = as_gain(row["measure"], row["delta"], row["low"], row["high"])
            mark = (GAINS if gain > 0 else LOSSES)[baseline][row["holm"] < 0.01]
            marks[place] = marks.get(place, "") + mark
    return marks


def _empty(rows: Sequence[Row]) -> set[str]:
    """Name the columns of BLEU behind which there are empty translations."""
    return {row["column"] for row in rows if row["measure"] == "bleu" and any(row["empty"] or ())}


def _overview(
    table: PlannedTable,
    cells: Mapping[tuple[str, str], Row],
    marks: Mapping[tuple[str, str], str],
    empty: set[str],
    compared: bool,
) -> Table:
    """Tabulate our values and the published ones."""
    published = {cell.column for cell in table.cells if cell.published is not None}
    columns = text_columns(_first(table))
    for column in table.columns:
        measure = measure_named(column.measure)
        group, ours = _headings(table, column, bool(published))
        if column.name in published:
            raw_name = f"{column.name}, published"
            columns.append(
                Column(name="published", raw_name=raw_name, group=group, content="number", digits=column.digits)
            )
        content = measure.content if measure else "mean"
        digits = max(column.digits, measure.digits if measure else 2)
        # What the paper lacks, such as chrF, stands beside its difference if it has one.
        is_compared = bool(measure and measure.counts) and column.measure not in ATTACHMENT
        heading = {"name": ours, "raw_name": column.name, "group": group}
        columns.append(
            Column(**heading, content=content, digits=digits, detail=compared and column.added and is_compared)
        )
        if column.name in empty:
            raw_name = f"{column.name}, empty"
            columns.append(Column(name="empty", raw_name=raw_name, group=group, content="number", digits=1))
        if is_of_translations(column.measure):
            columns.append(Column(name="signature", raw_name=f"{column.name}, signature", detail=True))
    rows = []
    for row in table.rows:
        shown: list[Any] = [row.name + (" (added)" if row.added else "")]
        for column in table.columns:
            place = (row.name, column.name)
            cell = cells[place]
            if column.name in published:
                mark = f" {cell['marks']}" if cell["marks"] and cell["published"] is not None else ""
                shown.append(TableCell(cell["published"], mark))
            shown.append(_value(cell, marks.get(place, "")))
            if column.name in empty:
                shown += with_origin([fmean(cell["empty"]) if cell["empty"] else None], cell["runs"])
            if is_of_translations(column.measure):
                shown.append(cell["signature"])
        rows.append(shown)
    return make_table(columns, rows)


def _headings(table: PlannedTable, column: Cell, published: bool) -> tuple[str, str]:
    """Name what a column measures in words, and our values by the data set that they are of if it is another one."""
    place = " ".join(filter(None, (column.dataset, column.split, column.item)))
    named = column.system
    measure = ", ".join(filter(None, (named, measure_label(column.measure) if column.added or not named else "")))
    if not published:
        return (place, measure) if place else ("", column.name)
    cells = [table.cell(row.name, column.name) for row in table.rows]
    others = {cell.ours for cell in cells if cell.runs and cell.ours not in (None, column.dataset)}
    return (f"{measure}, {place}" if place else column.name), ", ".join(["ours", *sorted(filter(None, others))])


def _first(table: PlannedTable) -> str:
    """Name what the rows are."""
    names = {"item": "item", "dataset": "data set"}
    row: Cell | None = table.rows[0] if table.rows else None
    return next((name for axis, name in names.items() if row and getattr(row, axis) is not None), "system")


def _value(cell: Row, mark: str) -> TableCell:
    """Make our cell."""
    values, measure = cell["values"], MEASURES.get(cell["measure"])
    if not values:
        return TableCell(None, reason=cell["reason"])
    if cell["measure"] in SETTINGS:
        return _setting(values[0], cell["published"])
    if measure is None or measure.content == "mean":
        return mean_cell(cell)._replace(mark=f" {mark}" if mark else "")
    return TableCell(fmean(values) if len(values) > 1 else values[0], origin=cell["runs"] or cell["dataset"] or "")


def _setting(value: float, published: float | None) -> TableCell:
    digits = len(f"{value:.10f}".rstrip("0").partition(".")[2])
    differs = published is not None and abs(value - published) > 1e-9
    return TableCell(value, DIFFERS if differs else "", digits=digits if differs or published is None else None)


def mean_cell(row: Row) -> TableCell:
    """Make the cell of a score, or of the reason why there is none."""
    if not row["values"]:
        return TableCell(None, reason=row["reason"])
    return TableCell(SeedMean.over(row["values"]), origin=row["runs"] or row["dataset"] or "")


def difference_cell(row: Row | None, reason: str = "") -> TableCell:
    """Make the cell of a difference, or of the reason why there is none."""
    if row is None or row["delta"] is None:
        return TableCell(None, reason=reason)
    return TableCell(Estimate(row["delta"], row["low"], row["high"]), origin=row["runs"] or "")


def _details(compared: Sequence[Comparison], *, of_one: bool) -> Table:
    """Tabulate the differences; those from one baseline do not name it."""
    with_length = any(comparison[0]["measure"] in WITH_LENGTHS for comparison in compared)
    columns = [
        *text_columns("column"),
        Column(name="measure", detail=True),
        Column(name="system"),
        Column(name="baseline", detail=of_one),
        Column(name="published", content="number", digits=2, signed=True),
        *number_columns("score", content="mean", digits=2),
        *number_columns(*["length"] * with_length, digits=2),
        estimate_column(),
        *number_columns("p", "Holm", content="p_value"),
        *(Column(name=name, content="number", digits=digits, detail=True)
          for name, digits in (("seeds", 0), ("detectable", 2), ("judges, %", 0))),
    ]  # fmt: skip
    groups: dict[tuple[str, str, str], list[list[Any]]] = {}
    for comparison in compared:
        row = comparison[0]
        names = (names_of(comparison, "column"), measure_label(row["measure"]), names_of(comparison, "baseline"))
        judges = expected_agreement(row["measure"], row["delta"])
        groups.setdefault(names, []).append(
            [
                *(names[0], names[1], names_of(comparison, "row")),
                *with_origin([names[2]], row["baseline_runs"] or row["dataset"]),
                published_cell({row["column"]: row["published"] for row in comparison}),
                *with_origin([mean_cell(row), *[row["length"]] * with_length], row["runs"]),
                *with_origin([difference_cell(row), row["p"], row["holm"]], row["runs"]),
                *with_origin([len(row["values"]), row["detectable"], judges], row["runs"]),
            ]
        )
    return grouped_table(
        columns, list(groups.values()), caption=_conclusion([comparison[0] for comparison in compared])
    )


def _conclusion(rows: Sequence[Row]) -> str:
    """Count the clear differences among those with several seeds; empty if there are none of these."""
    several = sum(row["training_noise"] for row in rows)
    if not several:
        return ""
    above, below = (sum(is_clear(row) and (row["delta"] > 0) == gain for row in rows) for gain in (True, False))
    clear = f"{above} {'is' if above == 1 else 'are'} clearly above 0 and {below} clearly below (p < 0.05, Holm)"
    counted = f"{several} differences" if several > 1 else "1 difference"
    one_seed = f" Not counted: {len(rows) - several} with one seed." * (several < len(rows))
    return f"Of {counted}, {clear}.{one_seed}"


def published_cell(by_column: Mapping[str, float | None]) -> TableCell:
    """Make the cell of a published difference, or of the reason why there is none: different ones in one place."""
    published = {column: value for column, value in by_column.items() if value is not None}
    if len(set(published.values())) > 1:
        return TableCell(None, reason=", ".join(f"{value:+.2f} in {column}" for column, value in published.items()))
    return TableCell(next(iter(published.values()), None))


def _measure_notes(table: PlannedTable, rows: Sequence[Row]) -> Iterator[str]:
    """Yield what explains the measures of a table; docs/tables.md has more."""
    measures = list(dict.fromkeys(column.measure for column in table.columns))
    known = (MEASURES[measure].notes for measure in measures if measure in MEASURES)
    sizes = (text for part, text in SIZE_NOTES.items() if any(part in measure for measure in measures))
    yield from dict.fromkeys(text for text in (*known, *sizes) if text)
    if SETTINGS.intersection(measures):
        settings = [row for row in rows if row["published"] is not None and row["values"]]
        different = sum(bool(_setting(row["values"][0], row["published"]).mark) for row in settings)
        yield f"{different or 'None'} of the {len(settings)} published settings differ here."


def empty_items(frame: Frame) -> Iterator[str]:
    """Yield a sentence for each seed of a table's runs whose translations of a test are mostly empty."""
    rows = (row for row in frame.rows if row["empty"] and row["baseline"] is None and row["item"] is None)
    for row in {(row["runs"], row["test"]): row for row in rows}.values():
        for seed, empty in zip(frame.table.runs[row["runs"]].seeds, row["empty"], strict=True):
            yield from mostly_empty(f"{row['runs']}, seed {seed}, {row['test']}", empty, row["sentences"])


def mostly_empty(name: str, empty: int, sentences: int) -> Iterator[str]:
    """Yield a sentence if more than half of some translations are empty; `name` says whose they are."""
    if 2 * empty > sentences:
        yield f"{name}: {empty:,} of {sentences:,} translations are empty."


def stand_in_text(scale: str, stand_ins: Sequence[tuple[str, str]], *, whose: str = "the paper's") -> str:
    """Say at which scale and on which data sets results are ours, given pairs of a paper's data set and ours."""
    named = ", ".join(f"{ours} for {dataset}" for dataset, ours in stand_ins)
    return f"Scale {scale}" + (f"; data sets that stand in for {whose}: {named}." if named else ".")


def one_seed_sentence(names: str) -> str:
    """Say of systems with one seed what their intervals and p-values lack."""
    return f"One seed ({names}): an interval from one seed {ONE_SEED}. Neither it nor its p shows that systems differ."


def seed_items(table: PlannedTable) -> Iterator[str]:
    """Yield sentences about runs: those with one seed, those that are not finished, and those from elsewhere."""
    single = [runs for runs in table.runs.values() if len(runs.seeds) == 1]
    if single:
        names = "all" if len(single) == len(table.runs) else ", ".join(f"{r.system} on {r.dataset}" for r in single)
        yield one_seed_sentence(names)
    yield from run_items(table)


def run_items(table: PlannedTable) -> Iterator[str]:
    """Yield a sentence about each system that was not trained here, or of which some seeds are missing."""
    for runs in table.runs.values():
        for seeds, lack in ((runs.unfinished, "not finished"), (runs.missing, "no translations")):
            if seeds and runs.seeds:
                names = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"
                yield f"{runs.system} on {runs.dataset}: without {names} ({lack})."
        if runs.provenance:
            yield f"{runs.system} was not trained here; its translations: {runs.provenance}."


def missing_runs(table: PlannedTable) -> list[str]:
    """List, as sentences, systems that a figure lacks and why, and unfinished seeds."""
    missing = (f"{cell.system} is missing: {cell.reason}." for cell in table.cells if cell.reason)
    return list(dict.fromkeys([*missing, *run_items(table)]))
