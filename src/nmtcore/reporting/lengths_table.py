"""Tables of parts of a test by the length of the source sentence: gains on long sentences, and scores by length."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.reporting.empty_translations import empty_translations
from nmtcore.reporting.parts import (
    LONG,
    PARTS_NOTE,
    Parts,
    difference_cell,
    mean_cell,
    part_scores,
    parts_of,
    share_of_long_sentences,
    size_cells,
)
from nmtcore.reporting.results import PartOfTest, Results, measure_label
from nmtcore.reporting.seed_items import seed_items
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Interval,
    Table,
    estimate_column,
    grouped_table,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)

_LENGTHS = """
Lengths are words of the source sentence, before they are split into subwords. The paper does not say which lengths it
joins: the bins are ours. Long sentences: the longest {share:g} % of the test, and those that are as long as the
shortest of them.
"""


def length_entries(table: PlannedTable, results: Results) -> list[dict[str, Any]]:
    """List an entry per part and row of a test. Columns that measure the same, by one data set, are joined."""
    joined, entries = {}, []
    for column in table.columns:
        cells = [table.cell(row.name, column.name) for row in table.rows]
        measured = tuple((cell.runs, cell.dataset, cell.split, cell.reason) for cell in cells)
        joined.setdefault((column.measure, measured), []).append(column.name)
    for (measure, _), columns in joined.items():
        cells = [table.cell(row.name, columns[0]) for row in table.rows]
        cell = next((cell for cell in cells if cell.source), None)
        divided = Parts(0, {LONG: PartOfTest(LONG, np.arange(0))}, 0) if cell is None else parts_of(table, cell)
        names = {"columns": columns, "test": columns[0], "measure": measure, "dataset": None}
        if cell is not None:
            names |= {"test": f"{cell.dataset}, {cell.split}", "dataset": cell.dataset}
        for name, part in divided.parts.items():
            for own in cells:
                values = part_scores(results, own, part, of=divided.sentences)
                entries.append({**values, **names, "row": own.row, "subset": part.name, "long": name == LONG})
    return entries


def length_blocks(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Show the gains on long sentences, and all parts by length."""
    return [
        *item_blocks(empty_translations(table)),
        *(Heading("Long sentences"), _long_table(table, entries), Heading("By length"), _bins_table(entries)),
        note(_LENGTHS.format(share=100 * share_of_long_sentences(table))),
        note(PARTS_NOTE),
        *item_blocks(_length_items(table, entries)),
    ]


def _long_table(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Table:
    """Tabulate the gains on long sentences, ours next to the published ones: a row per column and system."""
    gains = {
        (planned.claim.dataset, planned.claim.split, planned.claim.system.system): planned.claim.difference
        for planned in table.claims
        if planned.claim.item == LONG
    }
    columns = [
        *text_columns("column", "system", "baseline", "words"),
        *number_columns("sentences"),
        *number_columns("gain, published", digits=1),
        estimate_column("gain"),
    ]
    baseline = table.baselines[0] if table.baselines else None
    rows: list[list[Any]] = []
    for column in table.columns:
        for entry in entries:
            cell = table.cell(entry["row"], column.name)
            if not entry["long"] or column.name not in entry["columns"] or entry["row"] == baseline:
                continue
            reason = entry["reason"] or (
                table.cell(baseline, column.name).reason if baseline else "there is no baseline"
            )
            rows.append(
                [
                    *(column.name, entry["row"]),
                    *with_origin([baseline], cell.baseline_runs),
                    entry["subset"] if entry["sentences"] else None,
                    size_cells(entry)[0],
                    gains.get((column.dataset, column.split, cell.system)),
                    *with_origin([difference_cell(entry, reason=reason)], cell.runs),
                ]
            )
    return make_table(columns, rows)


def _bins_table(entries: Sequence[Mapping[str, Any]]) -> Table:
    """Tabulate all parts: a row per test, part and system."""
    label = " or ".join(dict.fromkeys(measure_label(entry["measure"]) for entry in entries))
    columns = [
        *text_columns("test", "words", "system"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        Column(name=label, content="mean", digits=1),
        Column(name=f"95 % interval of {label}", content="interval", digits=1, detail=True),
        estimate_column(),
        Column(name="signature", detail=True),
    ]
    groups: dict[tuple[str, ...], list[list[Any]]] = {}
    for entry in entries:
        interval = entry["interval"] and Interval(*entry["interval"])
        scores = [mean_cell(entry["scores"], reason=entry["reason"]), interval, difference_cell(entry)]
        row = [entry["test"], entry["subset"], entry["row"], *size_cells(entry)]
        scored = with_origin(scores, entry["runs"])
        groups.setdefault(tuple(entry["columns"]), []).append([*row, *scored, entry["signature"]])
    return grouped_table(columns, list(groups.values()))


def _length_items(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about stand-ins for several data sets, and about seeds."""
    for entry in entries:
        if len(entry["columns"]) > 1:
            yield f"{entry['test']}: the same for the columns {', '.join(entry['columns'])}."
    yield from seed_items(table)
