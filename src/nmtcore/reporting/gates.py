"""Gates: tags with the highest norm of their sentence, and references coloured by norms."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.config.cells import GridCell
from nmtcore.config.planned_tables import PlannedTable
from nmtcore.evaluation.gates import count_gates
from nmtcore.files import write_text
from nmtcore.layout import Layout
from nmtcore.reporting.gates_figure import gates_drawing, gates_entry
from nmtcore.reporting.seed_items import measured_cells, missing_runs
from nmtcore.reporting.svg import titled_svg
from nmtcore.reporting.table import (
    Block,
    Paragraph,
    SeedMean,
    Table,
    TableCell,
    item_blocks,
    make_table,
    note,
    number_columns,
    percentage,
    text_columns,
    with_origin,
)

COUNTED = "highest"
"""The metric of published counts."""

_NOTES = """
Gate norm: L2 norm of the gate with which a subword of the reference is predicted. Highest: sentences whose highest norm
is at a subword of a word with this tag (means over seeds, ± their standard deviation if there are several), and their
percentage of the tagged sentences, next to the tag's percentage of all words, and of all subwords. Tags that the
paper does not list are added. `</s>` has no tag: its row has the mean norm, and the percentage of sentences in which it
has the lowest.
"""


def gates_data(table: PlannedTable, layout: Layout) -> dict[str, Any]:
    """Count the tags with the highest norms, and read the norms of the first seed for the figure."""
    summaries, coloured = [], []
    for cell in measured_cells(table):
        paths = [Path(path) for path in cell.source["files"]["gates"].values()]
        runs = table.runs[cell.runs]
        names = {"dataset": runs.dataset, "system": runs.system, "split": cell.source["split"], "runs": cell.runs}
        summaries.append({**names, **_summary([count_gates(path) for path in paths])})
        coloured.append(gates_entry(paths[0], layout=layout))
    return {"counts": summaries, "coloured": coloured, "missing": missing_runs(table)}


def _summary(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Average the counts of each seed; what does not depend on the model is the same for all of them."""
    first = counts[0]
    tags = {
        tag: {
            "by_seed": [own["tags"][tag]["highest"] for own in counts],
            **{key: fmean(own["tags"][tag][key] for own in counts) for key in ("highest", "words", "pieces", "norm")},
        }
        for tag in first["tags"]
    }
    return {
        **{key: first[key] for key in ("sentences", "tagged")},
        "tags": dict(sorted(tags.items(), key=lambda item: -item[1]["highest"])),
        "end_norm": None if first["end_norm"] is None else fmean(own["end_norm"] for own in counts),
        "end_lowest": fmean(own["end_lowest"] for own in counts),
    }


def draw_gates(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the references in the result of `gates_data`."""
    write_text(figure, titled_svg(title, [gates_drawing(entry) for entry in data["coloured"]], data["missing"]))


def gates_blocks(table: PlannedTable, data: Mapping[str, Any]) -> list[Block]:
    """Show the counts next to the published ones, which may be alone."""
    alone = [cell for cell in table.cells if cell.item and (not cell.source or cell.metric != COUNTED)]
    blocks = [block for summary in data["counts"] for block in _counts(table, summary)]
    if alone:
        rows = [[cell.item, cell.published, TableCell(None, reason=_reason(cell)), *[None] * 5] for cell in alone]
        blocks.append(_table(rows))
    return [*blocks, *([note(_NOTES)] if data["counts"] else []), *item_blocks(data["missing"])]


def _reason(cell: GridCell) -> str:
    return cell.reason or f"{cell.metric} is not counted, only {COUNTED}"


def _counts(table: PlannedTable, summary: Mapping[str, Any]) -> Iterator[Block]:
    """Show the counts of some runs."""
    cells = {
        cell.item: cell
        for cell in table.cells
        if cell.item and cell.metric == COUNTED and (cell.runs, cell.split) == (summary["runs"], summary["split"])
    }
    names = [*cells, *(tag for tag in summary["tags"] if tag not in cells)]
    yield Paragraph(f"{summary['system']}, {summary['dataset']}, {summary['split']}:")
    if not summary["tags"]:
        yield Paragraph("The data set names no tags for the target side, so that there is nothing to count.")
    totals = {key: sum(tag[key] for tag in summary["tags"].values()) for key in ("words", "pieces")}
    rows = [_row(name, cells.get(name), summary, totals, added=bool(cells) and name not in cells) for name in names]
    lowest = percentage(summary["end_lowest"], summary["sentences"])
    measured = with_origin([summary["end_norm"], lowest], summary["runs"])
    yield _table([*rows, ["`</s>`", None, None, None, None, None, *measured]])


def _row(
    name: str, cell: GridCell | None, summary: Mapping[str, Any], totals: Mapping[str, int], *, added: bool
) -> list[Any]:
    label = f"{name} (added)" if added else name
    published = None if cell is None else cell.published
    if name not in summary["tags"]:
        reason = f"no word of the test has the tag {name}" if summary["tags"] else "the words of the test have no tags"
        return [label, published, TableCell(None, reason=reason), *[None] * 5]
    tag = summary["tags"][name]
    measured = [
        SeedMean.over(tag["by_seed"]),
        percentage(tag["highest"], summary["tagged"]),
        percentage(tag["words"], totals["words"]),
        percentage(tag["pieces"], totals["pieces"]),
        tag["norm"],
    ]
    return [label, published, *with_origin(measured, summary["runs"]), None]


def _table(rows: Sequence[Sequence[Any]]) -> Table:
    columns = [
        *text_columns("tag"),
        *number_columns("highest, published"),
        *number_columns("highest", content="mean", digits=1),
        *number_columns("highest, %", "words, %", "subwords, %", digits=2),
        *number_columns("mean norm", digits=3),
        *number_columns("lowest, %", digits=2),
    ]
    return make_table(columns, rows)
