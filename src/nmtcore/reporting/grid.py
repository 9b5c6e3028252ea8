"""Tables of numbers: ours next to the published ones, and differences from the baselines or those of claims."""

from collections.abc import Iterator, Sequence
from functools import partial
from statistics import fmean
from textwrap import fill
from typing import Any, NamedTuple

from nmtcore.evaluation.compare import Difference, expected_agreement, holm
from nmtcore.evaluation.counts import length_ratio
from nmtcore.reporting.empty_translations import empty_translations
from nmtcore.reporting.results import WITH_LENGTHS, Results, measure_label
from nmtcore.reporting.seed_items import seed_items
from nmtcore.tables.blocks import (
    Block,
    Column,
    Heading,
    SeedMean,
    Table,
    TableCell,
    estimate_cell,
    estimate_column,
    grouped_table,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.tables.cells import Cell, PlannedTable, trained_name
from nmtcore.tables.measures import ATTACHMENT, DIFFERS, MEASURES, SETTINGS, is_of_translations
from nmtcore.tables.sizes import NOTES as SIZE_NOTES
from nmtcore.tables.trees import UNTRAINED

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


class _Place(NamedTuple):
    """Where a table shows a comparison."""

    column: str
    row: str
    baseline: str
    published: float | None


class Comparison(NamedTuple):
    """A system compared with a baseline, once for all its places."""

    cell: Cell
    baseline: Cell
    places: list[_Place]

    def names(self, field: str) -> str:
        """Join the names of a field of the places."""
        return ", ".join(dict.fromkeys(getattr(place, field) for place in self.places))


class ComparedCells(NamedTuple):
    """A comparison, its result, and its p-value, corrected over the comparisons by the same measure."""

    comparison: Comparison
    result: Difference
    holm: float | None

    @property
    def is_clear(self) -> bool:
        """Whether the corrected p is below 0.05; with one seed, p says nothing about training."""
        return self.result.with_training_noise and self.holm is not None and self.holm < 0.05


def grid_blocks(table: PlannedTable, results: Results) -> list[Block]:
    """Show our values next to the published ones, and compare them."""
    compared = compared_cells(table, results)
    blocks: list[Block] = [
        *item_blocks(empty_translations(table)),
        _overview(table, results, compared),
    ]
    if compared:
        baselines = sorted({own.comparison.names("baseline") for own in compared})
        of_one = f" from {baselines[0]}" if len(baselines) == 1 else ""
        blocks += [Heading(f"Differences{of_one}"), _details(compared, results, of_one=bool(of_one))]
    blocks += [note(fill(" ".join(text.split()), 120)) for text in _notes(table, results, compared)]
    return [*blocks, *item_blocks(seed_items(table))]


def compared_cells(table: PlannedTable, results: Results) -> list[ComparedCells]:
    """Compare the cells of all columns with the baselines or, without baselines, those of claims."""
    comparisons = _comparisons(table, results)
    differences = {key: results.compare(own.cell, own.baseline) for key, own in comparisons.items()}
    corrected: dict[Any, float | None] = {}
    for measure in dict.fromkeys(own.cell.measure for own in comparisons.values()):
        corrected |= holm({key: differences[key].p for key, own in comparisons.items() if own.cell.measure == measure})
    return [ComparedCells(own, differences[key], corrected[key]) for key, own in comparisons.items()]


def _comparisons(table: PlannedTable, results: Results) -> dict[Any, Comparison]:
    comparisons: dict[Any, Comparison] = {}
    pairs = _pairs_with_baselines(table, results) if table.baselines else _claimed_pairs(table, results)
    for cell, baseline, place in sorted(pairs, key=lambda pair: pair[0].measure == "chrf"):
        key = (cell.measure, cell.runs, baseline.runs or baseline.system, cell.test)
        own = comparisons.setdefault(key, Comparison(cell, baseline, []))
        own.places.append(place)
    return comparisons


_Pair = tuple[Cell, Cell, _Place]


def _pairs_with_baselines(table: PlannedTable, results: Results) -> Iterator[_Pair]:
    """Yield the cells of a column and those that they are compared with; of added columns, those of chrF alone."""
    for column in table.columns:
        if column.added and column.measure != "chrf":
            continue
        for position, baseline in enumerate(table.baselines):
            against = table.cell(baseline, column.name)
            for row in table.rows:
                cell = table.cell(row.name, column.name)
                if (
                    table.is_compared(row, position)
                    and not row.name.endswith(UNTRAINED)
                    and cell.runs not in (None, against.runs)
                    and results.is_scored(cell)
                    and results.is_scored(against)
                ):
                    published = _minus(cell.published, against.published)
                    yield cell, against, _Place(column.name, row.name, baseline, published)


def _claimed_pairs(table: PlannedTable, results: Results) -> Iterator[_Pair]:
    """Yield the cells that claims compare."""
    for claim in table.claims:
        if not claim.reason and isinstance(_result(claim.system, claim.baseline, results), Difference):
            system = claim.system
            names = [trained_name(own, system.tested) for own in (system, claim.baseline)]
            column = "/".join(filter(None, (system.tested, system.split, system.metric)))
            yield system, claim.baseline, _Place(column, *names, claim.difference)


def _result(cell: Cell, baseline: Cell, results: Results) -> Any:
    return results.compare_claimed(cell, baseline) if cell.item is None else ""


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else round(first - second, 10)


def _overview(table: PlannedTable, results: Results, compared: Sequence[ComparedCells]) -> Table:
    """Tabulate our values and the published ones."""
    marks, empty = _marks(table, compared), _empty(table, results)
    columns = text_columns(_first(table))
    for column in table.columns:
        measure = MEASURES.get(column.measure)
        group, ours = _headings(table, column)
        if _is_published(table, column):
            raw_name = f"{column.name}, published"
            columns.append(
                Column(name="published", raw_name=raw_name, group=group, content="number", digits=column.digits)
            )
        content = measure.content if measure else "mean"
        digits = max(column.digits, measure.digits if measure else 2)
        # What the paper lacks, such as chrF, stands beside its difference if it has one.
        is_compared = bool(measure and measure.counts) and column.measure not in ATTACHMENT
        detail = bool(compared) and column.added and is_compared
        heading = {"name": ours, "raw_name": column.name, "group": group}
        columns.append(Column(**heading, content=content, digits=digits, detail=detail))
        if column.name in empty:
            raw_name = f"{column.name}, empty"
            columns.append(Column(name="empty", raw_name=raw_name, group=group, content="number", digits=1))
        if is_of_translations(column.measure):
            columns.append(Column(name="signature", raw_name=f"{column.name}, signature", detail=True))
    rows = []
    for row in table.rows:
        cells: list[Any] = [row.name + (" (added)" if row.added else "")]
        for column in table.columns:
            cell = table.cell(row.name, column.name)
            if _is_published(table, column):
                mark = f" {cell.marks}" if cell.marks and cell.published is not None else ""
                cells.append(TableCell(cell.published, mark))
            cells.append(_shown(cell, results, marks.get((row.name, column.name), "")))
            if column.name in empty:
                cells.append(TableCell(empty[column.name].get(row.name), origin=cell.runs or ""))
            if is_of_translations(column.measure):
                cells.append(results.counts(cell)[0].signature if results.is_scored(cell) else None)
        rows.append(cells)
    return make_table(columns, rows)


def _empty(table: PlannedTable, results: Results) -> dict[str, dict[str, float]]:
    """Count the empty translations of each row, by columns of BLEU that have some: means over seeds."""
    counts: dict[str, dict[str, float]] = {}
    for cell in table.cells:
        if cell.measure == "bleu" and results.is_scored(cell):
            counts.setdefault(cell.column, {})[cell.row] = results.empty(cell)
    return {column: own for column, own in counts.items() if any(own.values())}


def _headings(table: PlannedTable, column: Cell) -> tuple[str, str]:
    """Name what a column measures in words, and our values by the data set that they are of if it is another one."""
    place = " ".join(filter(None, (column.dataset, column.split)))
    measure = " ".join(filter(None, (column.system, column.item))) or measure_label(column.measure)
    if not any(map(partial(_is_published, table), table.columns)):
        return (place, measure) if place else ("", column.name)
    cells = [table.cell(row.name, column.name) for row in table.rows]
    others = {cell.ours for cell in cells if cell.runs and cell.ours not in (None, column.dataset)}
    return (f"{measure}, {place}" if place else column.name), ", ".join(["ours", *sorted(filter(None, others))])


def _first(table: PlannedTable) -> str:
    """Name what the rows are."""
    names = {"item": "item", "dataset": "data set"}
    row: Cell | None = table.rows[0] if table.rows else None
    return next((name for axis, name in names.items() if row and getattr(row, axis) is not None), "system")


def _is_published(table: PlannedTable, column: Cell) -> bool:
    """Return whether the paper has a number in a column, which tables of the user's own do not."""
    return any(table.cell(row.name, column.name).published is not None for row in table.rows)


def _shown(cell: Cell, results: Results, mark: str) -> TableCell:
    """Make our cell."""
    values, measure = results.values(cell), cell.measure
    if not values:
        return TableCell(None, reason=results.reason(cell))
    if measure in SETTINGS:
        return _setting(values[0], cell.published)
    origin = cell.runs or cell.ours or ""
    known = MEASURES.get(measure)
    if known is None or known.content == "mean":
        return TableCell(SeedMean.over(values), f" {mark}" if mark else "", origin=origin)
    return TableCell(fmean(values) if len(values) > 1 else values[0], origin=origin)


def _setting(value: float, published: float | None) -> TableCell:
    digits = len(f"{value:.10f}".rstrip("0").partition(".")[2])
    differs = published is not None and abs(value - published) > 1e-9
    return TableCell(value, DIFFERS if differs else "", digits=digits if differs or published is None else None)


def _marks(table: PlannedTable, compared: Sequence[ComparedCells]) -> dict[tuple[str, str], str]:
    """Return the marks of cells, by row and column: those of clear differences."""
    marks: dict[tuple[str, str], str] = {}
    for own in compared:
        for place in own.comparison.places if table.baselines and own.is_clear else ():
            baseline = table.baselines.index(place.baseline)
            if baseline < len(GAINS):
                mark = (GAINS if own.result.delta > 0 else LOSSES)[baseline][own.holm < 0.01]
                marks[place.row, place.column] = marks.get((place.row, place.column), "") + mark
    return marks


def _details(compared: Sequence[ComparedCells], results: Results, *, of_one: bool) -> Table:
    """Tabulate the differences; those from one baseline do not name it."""
    with_length = any(own.comparison.cell.measure in WITH_LENGTHS for own in compared)
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
    for comparison, result, corrected in compared:
        runs, baseline = comparison.cell.runs, comparison.baseline.runs or comparison.baseline.ours
        measure, counts = comparison.cell.measure, results.counts(comparison.cell)
        length = fmean(map(length_ratio, counts)) if measure in WITH_LENGTHS else None
        judges = expected_agreement(measure, result.delta)
        names = (comparison.names("column"), measure_label(measure), comparison.names("baseline"))
        groups.setdefault(names, []).append(
            [
                *(names[0], names[1], comparison.names("row")),
                *with_origin([names[2]], baseline),
                _published(comparison.places),
                *with_origin([SeedMean.over(results.values(comparison.cell)), *[length] * with_length], runs),
                *with_origin([estimate_cell(result), result.p, corrected], runs),
                *with_origin([len(counts), result.detectable, judges], runs),
            ]
        )
    return grouped_table(columns, list(groups.values()), caption=_conclusion(compared))


def _conclusion(compared: Sequence[ComparedCells]) -> str:
    """Count the clear differences among those with several seeds; empty if there are none of these."""
    several = sum(own.result.with_training_noise for own in compared)
    if not several:
        return ""
    above, below = (sum(own.is_clear and (own.result.delta > 0) == gain for own in compared) for gain in (True, False))
    clear = f"{above} {'is' if above == 1 else 'are'} clearly above 0 and {below} clearly below (p < 0.05, Holm)"
    counted = f"{several} differences" if several > 1 else "1 difference"
    one_seed = f" Not counted: {len(compared) - several} with one seed." * (several < len(compared))
    return f"Of {counted}, {clear}.{one_seed}"


def _published(places: Sequence[_Place]) -> TableCell:
    """Make the cell of the published difference, or of the reason why there is none: different ones in one place."""
    published = {place.column: place.published for place in places if place.published is not None}
    if len(set(published.values())) > 1:
        return TableCell(None, reason=", ".join(f"{value:+.2f} in {column}" for column, value in published.items()))
    return TableCell(next(iter(published.values()), None))


def _notes(table: PlannedTable, results: Results, compared: Sequence[ComparedCells]) -> Iterator[str]:
    """Yield what explains the numbers that a table has; docs/tables.md has more."""
    measures = list(dict.fromkeys(column.measure for column in table.columns))
    shared = {
        _MEANS: any(cell.runs and cell.source for cell in table.cells),
        _EMPTY: _empty(table, results),
        _DIFFERENCES: compared,
        _PUBLISHED_MARKS: any(cell.marks for cell in table.cells),
        _OUR_MARKS: any(_marks(table, compared).values()),
    }
    if texts := [text for text, needed in shared.items() if needed]:
        yield " ".join(texts)
    known = (MEASURES[measure].notes for measure in measures if measure in MEASURES)
    sizes = (text for part, text in SIZE_NOTES.items() if any(part in measure for measure in measures))
    yield from dict.fromkeys(text for text in (*known, *sizes) if text)
    if SETTINGS.intersection(measures):
        cells = [cell for cell in table.cells if cell.published is not None and cell.source]
        different = [cell for cell in cells if _setting(cell.source["value"], cell.published).mark]
        yield f"{len(different) or 'None'} of the {len(cells)} published settings differ here."
