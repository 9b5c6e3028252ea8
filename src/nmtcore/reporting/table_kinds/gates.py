"""Tables and figures of gates: tags with the highest norm of their sentence, and references coloured by norms."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.config.planned_tables import PlannedCell, PlannedTable
from nmtcore.evaluation.gates import count_gates
from nmtcore.files import write_text
from nmtcore.layout import Layout
from nmtcore.reporting.gates_figure import gates_drawing, gates_entry
from nmtcore.reporting.gates_table import gates_summary
from nmtcore.reporting.missing_runs import missing_items, missing_runs
from nmtcore.reporting.svg import titled_svg
from nmtcore.reporting.table import (
    Block,
    Paragraph,
    SeedMean,
    Table,
    TableCell,
    make_table,
    note,
    number_columns,
    percentage,
    text_columns,
    with_origin,
)
from nmtcore.reporting.table_content import TableContent

COUNTED = "highest"
"""The metric of published counts."""

_NOTES = """
Gate norm: L2 norm of the gate with which a subword of the reference is predicted. Highest: sentences whose highest norm
is at a subword of a word with this tag (means over seeds, ± their standard deviation if there are several), and their
percentage of the tagged sentences, next to the tag's percentage of all words, and of all subwords. Tags that the
paper does not list are added. `</s>` has no tag: its row has the mean norm, and the percentage of sentences in which it
has the lowest.
"""


def gates_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Count the tags with the highest norms, and colour references by the norms of the first seed."""
    tests = {(test["runs"], test["split"]): test for test in table.more["gates"]}

    def lacks(cell: PlannedCell) -> str:
        known = [test for test in tests if test[0] == cell.runs and cell.split in (None, test[1])]
        return "" if known else f"its system has no gate, or {cell.split} is no test"

    summaries, coloured = [], []
    for (runs, split), test in tests.items():
        paths = [Path(path) for path in test["files"]]
        own = table.runs[runs]
        counts = [{"seed": seed, **count_gates(path)} for seed, path in zip(own.seeds, paths, strict=True)]
        names = (own.dataset, own.system, table.scale, split)
        by_seed = {tag: [count["tags"][tag]["highest"] for count in counts] for tag in counts[0]["tags"]}
        summaries.append({**gates_summary(*names, counts), "runs": runs, "highest_by_seed": by_seed})
        coloured.append(gates_entry(paths[0], layout=layout))
    missing = missing_runs(table, lacks)
    blocks: list[Block] = [block for summary in summaries for block in _counts(table, summary)]
    blocks += [*_published_alone(table, tests), *([note(_NOTES)] if summaries else []), *missing_items(missing)]
    return TableContent(blocks=blocks, data={"counts": summaries, "coloured": coloured, "missing": missing})


def draw_gates(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the references in the data of `gates_content`."""
    write_text(figure, titled_svg(title, [gates_drawing(entry) for entry in data["coloured"]], data["missing"]))


def _counts(table: PlannedTable, summary: Mapping[str, Any]) -> Iterator[Block]:
    """Show the counts of some runs next to the published ones."""
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
    rows.append(["`</s>`", None, None, None, None, None, *measured])
    yield _table(rows)


def _row(
    name: str, cell: PlannedCell | None, summary: Mapping[str, Any], totals: Mapping[str, int], *, added: bool
) -> list[Any]:
    label = f"{name} (added)" if added else name
    published = None if cell is None else cell.published
    if name not in summary["tags"]:
        reason = f"no word of the test has the tag {name}" if summary["tags"] else "the words of the test have no tags"
        return [label, published, TableCell(None, reason=reason), *[None] * 5]
    tag = summary["tags"][name]
    measured = [
        SeedMean.over(summary["highest_by_seed"][name]),
        percentage(tag["highest"], summary["tagged"]),
        percentage(tag["words"], totals["words"]),
        percentage(tag["pieces"], totals["pieces"]),
        tag["norm"],
    ]
    return [label, published, *with_origin(measured, summary["runs"]), None]


def _published_alone(table: PlannedTable, tests: Mapping[tuple[str, str], Any]) -> Iterator[Block]:
    """Show the published counts of runs that are missing."""
    rows = [
        [cell.item, cell.published, TableCell(None, reason=_reason(cell)), *[None] * 5]
        for cell in table.cells
        if cell.item and (cell.metric != COUNTED or (cell.runs or "", cell.split or "") not in tests)
    ]
    if rows:
        yield _table(rows)


def _reason(cell: PlannedCell) -> str:
    if cell.metric != COUNTED:
        return cell.reason or f"{cell.metric} is not counted, only {COUNTED}"
    return cell.reason or f"{cell.system} has no gate, or {cell.split} is no test"


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
