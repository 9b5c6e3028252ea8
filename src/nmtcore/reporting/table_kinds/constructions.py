"""Tables of syntactic constructions: how many sentences have them, and what a system gains on them; with a figure."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.evaluation.compare import SAMPLES
from nmtcore.evaluation.subsets import FEW
from nmtcore.layout import Layout
from nmtcore.reporting.charts import draw_nothing, wrapped_title, write_svg
from nmtcore.reporting.construction_scores import ConstructionScores
from nmtcore.reporting.constructions_figure import count_bars, count_panel, difference_panel, gain_points
from nmtcore.reporting.difference_columns import difference_columns
from nmtcore.reporting.empty_translations import empty_runs
from nmtcore.reporting.measurements import measure_label
from nmtcore.reporting.seed_items import seed_items
from nmtcore.reporting.subset_scores import difference_cells, few_mark, mean_cell
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Items,
    Table,
    TableCell,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.reporting.table_content import TableContent

_NOTES = f"""
A sentence has a construction if its reference has a CCG supertag of it, and may have several. Share: percentage of the
test's sentences. Few: fewer than {FEW} sentences, too few to conclude anything.
"""

_NOTES_ON_GAINS = f"""
Scores are means over seeds, ± their standard deviation if there are several; a gain is the difference from the baseline
on the same sentences. Its 95 % interval joins the variance over seeds with that over {SAMPLES:,} paired bootstrap
samples of the subset's sentences. Rows without a published number are added.
"""


def constructions_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Count the sentences with each construction, or score the runs of a table on them."""
    scores = ConstructionScores(table, layout)
    counts, gains = list(scores.counts()), list(scores.gains())
    blocks: list[Block] = item_blocks(empty_runs(table, layout))
    blocks += [_count_table(table, counts)] if counts else []
    comparisons: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for entry in gains:
        comparisons.setdefault((entry["test"], entry["system"], entry["baseline"], entry["column"]), []).append(entry)
    for (test, system, baseline, _), entries in comparisons.items():
        blocks += [Heading(f"{test}: {system} and {baseline}"), _gain_table(table, entries)]
    blocks += [note(_NOTES + (_NOTES_ON_GAINS.lstrip("\n") if gains else ""))]
    items = dict.fromkeys([*_items([*counts, *gains]), *(seed_items(table) if gains else ())])
    blocks += [Items(tuple(items))] if items else []
    return TableContent(blocks=blocks, data={"counts": counts, "gains": gains}, compare=scores.compare)


def _count_table(table: PlannedTable, counts: Sequence[Mapping[str, Any]]) -> Table:
    columns = [*text_columns("subset")]
    names = list(dict.fromkeys(entry["column"] for entry in counts))
    for name in names:
        columns += number_columns(f"{name}, published")
        columns += number_columns(f"share of {name}, published, %", digits=1)
        columns += number_columns(name)
        columns += number_columns(f"share of {name}, %", digits=1)
    rows = []
    for row in dict.fromkeys(entry["row"] for entry in counts):
        cells: list[Any] = [row]
        for entry in counts:
            if entry["row"] == row:
                ours = TableCell(entry["sentences"], few_mark(entry["sentences"]), reason=entry["reason"] or "")
                measured = with_origin([ours, entry["share"]], table.cell(row, entry["column"]).dataset)
                cells += [entry["published"], entry["published_share"], *measured]
        rows.append(cells)
    return make_table(columns, rows)


def _gain_table(table: PlannedTable, entries: Sequence[Mapping[str, Any]]) -> Table:
    first = entries[0]
    label = measure_label(first["measure"])
    digits = next(column.digits for column in table.columns if column.name == first["column"])
    columns = [
        *text_columns("subset"),
        *number_columns("sentences"),
        *number_columns("share, %", digits=1),
        Column(name=f"{label} of {first['baseline']}", content="mean", digits=1),
        Column(name=f"{label} of {first['system']}", content="mean", digits=1),
        Column(name=f"{first['column']}, published", content="number", digits=digits, signed=True),
        *difference_columns(first["column"]),
    ]
    rows = []
    for entry in entries:
        known = entry["share"] is not None
        sentences = TableCell(entry["sentences"], few_mark(entry["sentences"])) if known else None
        gain, interval = difference_cells(entry, reason=entry["reason"] or "the baseline is not run")
        rows.append(
            [
                entry["row"],
                *with_origin([sentences, entry["share"]], entry["dataset"]),
                *with_origin([mean_cell(entry["baseline_scores"])], entry["baseline_runs"]),
                *with_origin([mean_cell(entry["scores"])], entry["runs"]),
                *(entry["published"], *with_origin([gain, interval], entry["runs"])),
            ]
        )
    return make_table(columns, rows)


def _items(entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield sentences about missing analyses and signatures."""
    for entry in entries:
        if entry["unanalysed"]:
            share = f"{entry['unanalysed']:,} of {entry['test_sentences']:,} sentences"
            yield f"{entry['test']}: {share} have no supertags of the reference."
        if entry.get("signature"):
            yield f"{measure_label(entry['measure'])} of {entry['test']}: {entry['signature']}."


def draw_constructions(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the numbers of sentences with each construction as bars, and gains as points with intervals."""
    import altair as alt

    points = list(gain_points(data["gains"]))
    systems = list(dict.fromkeys(point["system"] for point in points))
    panels = [
        difference_panel([point for point in points if point["panel"] == panel], systems)
        for panel in dict.fromkeys(point["panel"] for point in points)
    ]
    if bars := list(count_bars(data["counts"])):
        panels.insert(0, count_panel(bars))
    if not panels:
        draw_nothing(figure, title=title, reason="No test of this figure has supertags, or no system has scores.")
        return
    write_svg(alt.vconcat(*panels, title=wrapped_title(title)), figure)
