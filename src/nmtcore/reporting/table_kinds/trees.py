"""Figures of trees: the gold tree of a sentence, and those that systems predict."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.evaluation.scores import output_files
from nmtcore.files import write_text
from nmtcore.layout import Layout
from nmtcore.parquet import read_rows
from nmtcore.reporting.induced_trees_figure import drawn_trees, induced_trees_entry
from nmtcore.reporting.missing_runs import missing_items, missing_runs
from nmtcore.reporting.svg import titled_svg
from nmtcore.reporting.table import Block, Column, Paragraph, Table, make_table, note, text_columns
from nmtcore.reporting.table_content import TableContent
from nmtcore.reporting.table_treebanks import TableTreebanks
from nmtcore.reporting.tree_drawing import trees_drawing

ROOT = "root"
"""What stands for the head of a root."""

_NOTES = """
Each word with its head in the gold tree and in the tree with one root that each system predicts (of a system without
roots: the likeliest head of each word). Punctuation is marked, since the figure leaves it out.
"""


def trees_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Read the trees of a sentence of each treebank, by the first seed of each system."""
    treebanks = TableTreebanks(table, layout)
    folders: dict[tuple[str, str], dict[str, Path]] = {}
    for cell in table.cells:
        if cell.runs and cell.dataset and cell.split and not treebanks.reason(cell):
            first = next(iter(treebanks.folders(cell.runs).values()))
            folders.setdefault((cell.dataset, cell.split), {})[cell.runs] = first
    entries = []
    for (dataset, split), own in folders.items():
        pairs, trees = treebanks.files(dataset, split)
        ids = set.intersection(*(_ids(output_files(folder, split).parses) for folder in own.values()))
        entries.append(
            induced_trees_entry(list(own.values()), split=split, pairs=pairs, trees=trees, layout=layout, ids=ids)
        )
    missing = missing_runs(table, treebanks.reason)
    blocks: list[Block] = [block for entry in entries for block in _tabulated(entry)]
    blocks += [*([note(_NOTES)] if entries else []), *missing_items(missing)]
    return TableContent(blocks=blocks, data={"sentences": entries, "missing": missing})


def draw_trees(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the data of `trees_content`."""
    sentences = [
        f"Treebank {entry['split']}: {entry['sentence']['chosen']}; without punctuation and roots."
        for entry in data["sentences"]
    ]
    drawings = [trees_drawing(drawn_trees(entry)) for entry in data["sentences"]]
    write_text(figure, titled_svg(title, drawings, [*sentences, *data["missing"]]))


def _ids(parses: Path) -> set[int]:
    return {row["id"] for row in read_rows(parses, columns=["id"])}


def _tabulated(entry: Mapping[str, Any]) -> list[Block]:
    """Show the heads of each word as words."""
    words = entry["sentence"]["words"]
    first = entry["runs"][0]
    systems = [f"{run['system']}, seed {run['seed']}" for run in entry["runs"]]
    columns = [Column(name=name, content="corpus") for name in ("word", "gold", *systems)]
    heads = [entry["sentence"]["heads"], *(run["heads"] for run in entry["runs"])]
    rows = [
        [word, *(_head(words, own[number], number) for own in heads), "yes" if mark else ""]
        for number, (word, mark) in enumerate(zip(words, entry["punctuation"], strict=True))
    ]
    table: Table = make_table([*columns, *text_columns("punctuation")], rows)
    return [Paragraph(f"{first['dataset']}, {entry['split']}: {entry['sentence']['chosen']}."), table]


def _head(words: list[str], head: int, number: int) -> str:
    """Name a head by its position and word; a word that is its own head, as without roots, counts as a root."""
    return ROOT if head in (0, number + 1) else f"{head} {words[head - 1]}"
