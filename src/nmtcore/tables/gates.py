"""Gates: tags with the highest norm of their sentence, and references coloured by norms (tran2018, 5 and Figure 6)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.drawing.gates import gate_share
from nmtcore.drawing.svg import FIGURE_WIDTH, TEXT_SIZE, Drawing, svg_text, text_width, write_drawings
from nmtcore.features.examples import NO_WORD
from nmtcore.parquet import read_rows
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
from nmtcore.tables.query import Frame, Results, Row, measured_cells, rows_by
from nmtcore.tables.render import printed
from nmtcore.tables.sheets import missing_runs

_NOTHING = dict.fromkeys([
    "tag", "highest", "lowest", "sentences", "words", "pieces", "norm", "id", "subwords", "norms",
])  # fmt: skip
"""What the rows of a system have: that of a tag, those of `END` and of the sentences that the figure shows have a part.

`highest` and `lowest` count the sentences with the highest and the lowest norm there, a number per seed; `sentences`
are those that could have been counted.
"""

END = "</s>"
"""What stands for the end of the sentence among tags."""

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
        pieces = zip(row["words"], tags, row["norms"], strict=False)
        subwords += [(number, word, tag, norm) for word, tag, norm in pieces if word != NO_WORD]
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


def gate_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Count the tags with the highest norms, and read the norms of the first seed for the figure.

    That shows the first references with at most `LONGEST` subwords.
    """
    for cell in measured_cells(table):
        dataset, _, system = cell.runs.partition("/")
        names = {"dataset": dataset, "system": system, "runs": cell.runs, "test": cell.source["split"]}
        paths = [Path(path) for path in cell.source["files"]["gates"].values()]
        rows = [*_tag_rows([count_gates(path) for path in paths]), *_shown_sentences(paths[0])]
        yield from (names | _NOTHING | row for row in rows)


def _tag_rows(counts: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Join the counts of each seed; what does not depend on the model is the same for all of them."""
    first, tags = counts[0], {}
    for tag, tag_counts in first["tags"].items():
        highest = [seed["tags"][tag]["highest"] for seed in counts]
        norm = fmean(seed["tags"][tag]["norm"] for seed in counts)
        sizes = {"words": tag_counts["words"], "pieces": tag_counts["pieces"], "sentences": first["tagged"]}
        tags[tag] = {"tag": tag, "highest": highest, "norm": norm, **sizes}
    yield from sorted(tags.values(), key=lambda row: -sum(row["highest"]))
    norm = None if first["end_norm"] is None else fmean(seed["end_norm"] for seed in counts)
    lowest = [seed["end_lowest"] for seed in counts]
    yield {"tag": END, "lowest": lowest, "norm": norm, "sentences": first["sentences"]}


def _shown_sentences(gates: Path) -> Iterator[Row]:
    """Yield the sentences of the figure: their subwords and norms, without `</s>`."""
    rows = read_rows(gates, columns=["id", "pieces", "norms"])
    shown = (row for row in rows if 0 < len(row["pieces"]) - 1 <= LONGEST)
    for row in islice(shown, SHOWN_SENTENCES):
        norms = [round(norm, 4) for norm in row["norms"][:-1]]
        yield {"id": row["id"], "subwords": row["pieces"][:-1], "norms": norms}


def draw_gates(frame: Frame, figure: Path, *, title: str) -> None:
    """Draw the references that the figure shows of each system."""
    drawings = [
        gates_drawing(rows[0]["system"], [row for row in rows if row["subwords"] is not None])
        for rows in rows_by(frame.rows, "runs", "test").values()
    ]
    write_drawings(figure, drawings, title=title, sentences=missing_runs(frame.table))


def gates_drawing(system: str, sentences: Sequence[Row]) -> Drawing:
    """Draw sentences of a system: the larger a norm, the stronger; the largest of a sentence is bold."""
    norms = [norm for sentence in sentences for norm in sentence["norms"]]
    low, high = min(norms, default=0.0), max(norms, default=0.0)
    elements = [svg_text(0, 12, f"{printed(system)}, norms {low:.2f} to {high:.2f}")]
    y = 20.0
    for sentence in sentences:
        x = 0.0
        for piece, norm in zip(sentence["subwords"], sentence["norms"], strict=True):
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


def gate_blocks(frame: Frame) -> list[Block]:
    """Show the counts next to the published ones, which may be alone."""
    cells = [cell for cell in frame.table.cells if cell.item]
    alone = [cell for cell in cells if not cell.source or cell.metric != COUNTED]
    counted = rows_by((row for row in frame.rows if row["tag"] is not None), "runs", "test")
    blocks = [block for rows in counted.values() for block in _counts(cells, rows)]
    if alone:
        rows = [[cell.item, cell.published, TableCell(None, reason=_reason(cell)), *[None] * 5] for cell in alone]
        blocks.append(_table(rows))
    return [*blocks, *([note(_NOTES)] if counted else []), *item_blocks(missing_runs(frame.table))]


def _reason(cell: Cell) -> str:
    return cell.reason or f"{cell.metric} is not counted, only {COUNTED}"


def _counts(cells: Sequence[Cell], rows: Sequence[Row]) -> Iterator[Block]:
    """Show the counts of some runs."""
    *counted, end = rows
    tags = {row["tag"]: row for row in counted}
    test = (COUNTED, end["runs"], end["test"])
    published = {cell.item: cell.published for cell in cells if (cell.metric, cell.runs, cell.test) == test}
    yield Paragraph(f"{end['system']}, {end['dataset']}, {end['test']}:")
    if not tags:
        yield Paragraph("The data set names no tags for the target side, so that there is nothing to count.")
    lacks = "no word of the test has the tag {}" if tags else "the words of the test have no tags"
    totals = [sum(row[key] for row in counted) for key in ("words", "pieces")]
    shown: list[list[Any]] = []
    for tag in dict.fromkeys([*published, *tags]):
        name = f"{tag} (added)" if published and tag not in published else tag
        if tag in tags:
            shown.append([name, published.get(tag), *with_origin(_numbers(tags[tag], *totals), end["runs"]), None])
        else:
            shown.append([name, published[tag], TableCell(None, reason=lacks.format(tag)), *[None] * 5])
    lowest = percentage(fmean(end["lowest"]), end["sentences"])
    yield _table([*shown, [f"`{END}`", *[None] * 5, *with_origin([end["norm"], lowest], end["runs"])]])


def _numbers(row: Row, words: int, pieces: int) -> list[Any]:
    """Return the counts and percentages of a tag, and its mean norm."""
    return [
        SeedMean.over(row["highest"]),
        percentage(fmean(row["highest"]), row["sentences"]),
        percentage(row["words"], words),
        percentage(row["pieces"], pieces),
        row["norm"],
    ]


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
