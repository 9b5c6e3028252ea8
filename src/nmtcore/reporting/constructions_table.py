"""Tables of parts of a test by syntactic constructions and phrases: their sentences, and what systems gain on them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nmtcore.config.cells import GridCell
from nmtcore.config.planned_tables import PlannedTable
from nmtcore.reporting.empty_translations import empty_translations
from nmtcore.reporting.parts import (
    ALL,
    ITEMS,
    PARTS_NOTE,
    difference_cell,
    mean_cell,
    part_scores,
    parts_of,
    sentences_cell,
    size_cells,
)
from nmtcore.reporting.results import Results, measure_label
from nmtcore.reporting.seed_items import seed_items
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Table,
    estimate_column,
    item_blocks,
    make_table,
    note,
    number_columns,
    percentage,
    text_columns,
    with_origin,
)

COUNT = "sentences"
"""The metric of columns that count the sentences with a construction."""

_CONSTRUCTIONS = """
A sentence has a construction if its reference has a CCG supertag of it, and may have several. Share: percentage of the
test's sentences.
"""


def construction_entries(table: PlannedTable, results: Results) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """List an entry per cell that counts sentences, and one per construction of each comparison."""
    return list(_counts(table)), list(_gains(table, results))


def _counts(table: PlannedTable) -> Iterator[dict[str, Any]]:
    totals = {cell.column: cell.published for cell in table.cells if _part_of(cell) == ALL}
    for cell in table.cells:
        if cell.metric != COUNT:
            continue
        divided = parts_of(table, cell)
        part = divided.parts.get(_part_of(cell))
        count = None if part is None else len(part.rows_B)
        yield {
            "row": cell.row,
            "column": cell.column,
            "test": f"{cell.dataset}, {cell.split}",
            "published": cell.published,
            "published_share": percentage(cell.published, totals.get(cell.column)),
            "sentences": count,
            "share": percentage(count, divided.sentences),
            "unanalysed": divided.unanalysed,
            "test_sentences": divided.sentences,
            "reason": None if part else cell.reason or f"{cell.item} is no construction",
        }


def _gains(table: PlannedTable, results: Results) -> Iterator[dict[str, Any]]:
    """Yield the entries of each comparison, those of the table's rows first."""
    comparisons: dict[tuple[Any, ...], list[GridCell]] = {}
    for cell in table.cells:
        if cell.metric != COUNT and cell.system not in (None, *table.baselines[:1]):
            comparisons.setdefault((cell.column, cell.system, cell.runs, cell.baseline_runs), []).append(cell)
    for first, *others in comparisons.values():
        divided = parts_of(table, first)
        parts = {
            name: part for name, part in divided.parts.items() if name == ALL or len(part.rows_B) < divided.sentences
        }
        rows = [(cell, parts.pop(_part_of(cell), None)) for cell in (first, *others)]
        for cell, part in (*rows, *((None, part) for part in parts.values())):
            values = part_scores(results, cell or first, part, of=divided.sentences)
            if part is None and first.source:
                values |= {"reason": f"{cell.item} is no construction"}
            yield {
                **values,
                "row": cell.row if cell else part.name,
                "column": first.column,
                "test": f"{first.dataset}, {first.split}",
                "dataset": first.dataset,
                "baseline": table.baselines[0] if table.baselines else "no baseline",
                "published": cell.published if cell else None,
                "unanalysed": divided.unanalysed,
                "test_sentences": divided.sentences,
            }


def _part_of(cell: GridCell) -> str:
    return ALL if cell.item is None else ITEMS.get(cell.item, cell.item)


def construction_blocks(
    table: PlannedTable, counts: Sequence[Mapping[str, Any]], gains: Sequence[Mapping[str, Any]]
) -> list[Block]:
    """Show the numbers of sentences with each construction, and what systems gain on them."""
    blocks = item_blocks(empty_translations(table))
    blocks += [_count_table(table, counts)] if counts else []
    comparisons: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for entry in gains:
        comparisons.setdefault((entry["test"], entry["system"], entry["baseline"], entry["column"]), []).append(entry)
    for (test, system, baseline, _), entries in comparisons.items():
        blocks += [Heading(f"{test}: {system} and {baseline}"), _gain_table(table, entries)]
    blocks += [note(_CONSTRUCTIONS), *[note(f"{PARTS_NOTE}Rows without a published number are added.")] * bool(gains)]
    return [*blocks, *item_blocks([*_items([*counts, *gains]), *(seed_items(table) if gains else ())])]


def _count_table(table: PlannedTable, counts: Sequence[Mapping[str, Any]]) -> Table:
    columns = [*text_columns("subset")]
    for name in dict.fromkeys(entry["column"] for entry in counts):
        columns += number_columns(f"{name}, published")
        columns += number_columns(f"share of {name}, published, %", digits=1)
        columns += number_columns(name)
        columns += number_columns(f"share of {name}, %", digits=1)
    rows = []
    for row in dict.fromkeys(entry["row"] for entry in counts):
        cells: list[Any] = [row]
        for entry in counts:
            if entry["row"] == row:
                ours = sentences_cell(entry["sentences"], reason=entry["reason"] or "")
                measured = with_origin([ours, entry["share"]], table.cell(row, entry["column"]).dataset)
                cells += [entry["published"], entry["published_share"], *measured]
        rows.append(cells)
    return make_table(columns, rows)


def _gain_table(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Table:
    first = entries[0]
    label = measure_label(first["measure"])
    digits = next(column.digits for column in table.columns if column.name == first["column"])
    published = any(entry["published"] is not None for entry in entries)
    columns = [
        *text_columns("subset"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        *number_columns(f"{label} of {first['baseline']}", f"{label} of {first['system']}", content="mean", digits=1),
        *([Column(name=f"{first['column']}, published", content="number", digits=digits, signed=True)] * published),
        estimate_column(first["column"] if published else "difference"),
        Column(name="signature", detail=True),
    ]
    rows = []
    for entry in entries:
        difference = difference_cell(entry, reason=entry["reason"] or "the baseline is not run")
        rows.append(
            [
                *(entry["row"], *size_cells(entry)),
                *with_origin([mean_cell(entry["baseline_scores"])], entry["baseline_runs"]),
                *with_origin([mean_cell(entry["scores"])], entry["runs"]),
                *[entry["published"]] * published,
                *with_origin([difference], entry["runs"]),
                entry["signature"],
            ]
        )
    return make_table(columns, rows)


def _items(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about missing analyses."""
    for entry in entries:
        if entry["unanalysed"]:
            share = f"{entry['unanalysed']:,} of {entry['test_sentences']:,} sentences"
            yield f"{entry['test']}: {share} have no supertags of the reference."
