"""Gates: tags with the highest norm of their sentence, and references coloured by norms (tran2018, 5 and Figure 6)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.features.examples import NO_WORD
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.gates_page import gate_share
from nmtcore.reporting.seed_items import measured_cells, missing_runs
from nmtcore.reporting.sentence_figures import run_names
from nmtcore.reporting.svg import FIGURE_WIDTH, TEXT_SIZE, Drawing, svg_text, text_width, write_drawings
from nmtcore.tables.blocks import (
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
from nmtcore.tables.cells import Cell, PlannedTable
from nmtcore.tables.labels import printed

COUNTED = "highest"
"""The metric of published counts."""

SHOWN_SENTENCES = 6
"""Sentences of the figure, as many as in the paper."""

LONGEST = 25
"""Most subwords of a sentence of the figure."""

LINE_HEIGHT, PADDING = 18, 2
STRONGEST = 0.4
"""Opacity of the ground of the highest norm, on which text stays legible."""

_NOTES = """
Gate norm: L2 norm of the gate with which a subword of the reference is predicted. Highest: sentences whose highest norm
is at a subword of a word with this tag (means over seeds, ± their standard deviation if there are several), and their
percentage of the tagged sentences, next to the tag's percentage of all words, and of all subwords. Tags that the
paper does not list are added. `</s>` has no tag: its row has the mean norm, and the percentage of sentences in which it
has the lowest.
"""


def count_gates(gates: Path) -> dict[str, Any]:
    """Count the tags of a file of gate norms (`inference.scoring`).

    Returns `sentences`; `tagged`, those that have words and tags; `tags`, for each tag the tagged sentences whose
    `highest` norm is at a subword of a word with this tag (of several, the first), its `words` and `pieces`, and their
    mean `norm`; and for all sentences the mean `norm` of subwords, the mean `end_norm` of `</s>`, and `end_lowest`, the
    sentences in which `</s>` has the lowest norm.
    """
    import pandas as pd

    subwords, ends, lowest = [], [], 0
    for number, row in enumerate(read_rows(gates, columns=["words", "upos", "norms"])):
        tags = row["upos"] or [None] * len(row["words"])
        # Tags that the system generates among the words do not count.
        own = zip(row["words"], tags, row["norms"], strict=False)
        subwords += [(number, word, tag, norm) for word, tag, norm in own if word != NO_WORD]
        ends.append(row["norms"][-1])
        lowest += row["norms"][-1] <= min(row["norms"])
    frame = pd.DataFrame(subwords, columns=["sentence", "word", "tag", "norm"])
    tagged = frame.dropna(subset="tag")
    counts = pd.DataFrame({
        "highest": tagged.loc[tagged.groupby("sentence").norm.idxmax()].groupby("tag").size(),
        "words": tagged.drop_duplicates(["sentence", "word"]).groupby("tag").size(),
        "pieces": tagged.groupby("tag").size(),
        "norm": tagged.groupby("tag").norm.mean(),
    }).fillna(0)  # fmt: skip
    return {
        "sentences": len(ends),
        "tagged": tagged.sentence.nunique(),
        "tags": counts.astype({"highest": int, "words": int, "pieces": int}).to_dict("index"),
        "norm": float(frame.norm.mean()) if subwords else None,
        "end_norm": fmean(ends) if ends else None,
        "end_lowest": lowest,
    }


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


def gates_entry(gates: Path, *, layout: Layout) -> dict[str, Any]:
    """Read what the figure shows of a run: its names, and the `pieces` and `norms`, without `</s>`, of `sentences`.

    These are the first references with at most `LONGEST` subwords.
    """
    shown = []
    for row in read_rows(gates, columns=["id", "pieces", "norms"]):
        pieces = row["pieces"][:-1]
        if 0 < len(pieces) <= LONGEST and len(shown) < SHOWN_SENTENCES:
            shown.append({"id": row["id"], "pieces": pieces, "norms": [round(norm, 4) for norm in row["norms"][:-1]]})
    return {**run_names(gates, "gates", layout), "sentences": shown}


def draw_gates(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the references in the result of `gates_data`."""
    write_drawings(figure, list(map(gates_drawing, data["coloured"])), title=title, sentences=data["missing"])


def gates_drawing(entry: Mapping[str, Any]) -> Drawing:
    """Draw a result of `gates_entry`: the larger a norm, the stronger; the largest of a sentence is bold."""
    norms = [norm for sentence in entry["sentences"] for norm in sentence["norms"]]
    low, high = min(norms, default=0.0), max(norms, default=0.0)
    elements = [svg_text(0, 12, f"{printed(entry['system'])}, norms {low:.2f} to {high:.2f}")]
    y = 20.0
    for sentence in entry["sentences"]:
        x = 0.0
        for piece, norm in zip(sentence["pieces"], sentence["norms"], strict=True):
            bold = norm == max(sentence["norms"])
            width = text_width(piece, TEXT_SIZE * (1.08 if bold else 1)) + 2 * PADDING
            if x and x + width > FIGURE_WIDTH:
                x, y = 0.0, y + LINE_HEIGHT
            opacity = STRONGEST * gate_share(norm, low, high) / 100
            elements += [
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{LINE_HEIGHT - 3}" rx="3" '
                f'fill="currentColor" fill-opacity="{opacity:.2f}"/>',
                svg_text(x + width / 2, y + 11, piece, anchor="middle", bold=bold),
            ]
            x += width + 2
        y += LINE_HEIGHT + 6
    return Drawing(elements, FIGURE_WIDTH, y + 4)


def gates_blocks(table: PlannedTable, data: Mapping[str, Any]) -> list[Block]:
    """Show the counts next to the published ones, which may be alone."""
    alone = [cell for cell in table.cells if cell.item and (not cell.source or cell.metric != COUNTED)]
    blocks = [block for summary in data["counts"] for block in _counts(table, summary)]
    if alone:
        rows = [[cell.item, cell.published, TableCell(None, reason=_reason(cell)), *[None] * 5] for cell in alone]
        blocks.append(_table(rows))
    return [*blocks, *([note(_NOTES)] if data["counts"] else []), *item_blocks(data["missing"])]


def _reason(cell: Cell) -> str:
    return cell.reason or f"{cell.metric} is not counted, only {COUNTED}"


def _counts(table: PlannedTable, summary: Mapping[str, Any]) -> Iterator[Block]:
    """Show the counts of some runs."""
    cells = {
        cell.item: cell
        for cell in table.cells
        if cell.item and cell.metric == COUNTED and (cell.runs, cell.test) == (summary["runs"], summary["split"])
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
    name: str, cell: Cell | None, summary: Mapping[str, Any], totals: Mapping[str, int], *, added: bool
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
