"""Tables of the sizes of data sets: pairs, words and subwords of splits, and types of tags."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from nmtcore.annotation.labels import LABEL_SPECIALS, read_labels
from nmtcore.annotation.selection import selected_batches
from nmtcore.config.planned_tables import PlannedCell, PlannedTable
from nmtcore.errors import UserError
from nmtcore.files import read_json
from nmtcore.layout import Layout, file_name
from nmtcore.reporting.published_columns import cell_data, published_and_ours
from nmtcore.reporting.table import TableCell, note
from nmtcore.reporting.table_content import TableContent
from nmtcore.segmentation.vocabulary import SPECIALS, Vocabulary

_NOTES = {
    "pairs": """
Pairs: of train those that training reads, after filters and selection by annotation, with copied sentences if the data
set adds some; other splits are not filtered. Whole data sets are counted, even if the scale trains on a part of them.
""",
    "tokens": "Tokens: words before they are split into subwords, of the same pairs.",
    "subwords": f"""
Subwords: entries of the vocabulary at this scale, which may limit its size, without our {len(SPECIALS)} special ones.
""",
    "types": f"""
Types: labels that occur in the training pairs. With specials: and our {len(LABEL_SPECIALS)} special entries
({" and ".join(f"`{special}`" for special in LABEL_SPECIALS)}); the paper's may be others.
""",
}
"""What is counted, by a part of the metric's name."""


def sizes_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Read or count the sizes of the data sets."""
    sources = table.more["sources"]
    count_words = cache(_word_count)

    def size(cell: PlannedCell) -> TableCell:
        source = sources[cell.row][cell.column]
        if "files" not in source:
            return TableCell(None, reason=source["reason"])
        return TableCell(_size(cell.metric or "", source, count_words))

    ours = {(cell.row, cell.column): size(cell) for cell in table.cells}
    metrics = " ".join(dict.fromkeys(cell.metric or "" for cell in table.cells))
    notes = [note(text.strip()) for part, text in _NOTES.items() if part in metrics]
    first = "labels" if any(cell.item is not None for cell in table.cells) else "data set"
    return TableContent(blocks=[published_and_ours(table, ours, first=first), *notes], data=cell_data(table, ours))


def _size(metric: str, source: Mapping[str, Any], count_words: Callable[[str, str | None, str], int]) -> int:
    """Return the size that a metric names; `source` is described in `planning.table_kinds.sizes`."""
    files = source["files"]
    match files:
        case {"report": report} if metric == "copied_sentences":
            return _reported(report, "copies", "kept")
        case {"report": report}:
            return _reported(report, "kept")
        case {"pairs": pairs, "selection": selection}:
            return count_words(pairs, selection, source["side"])
        case {"segmentation": folder}:
            return len(Vocabulary.load(Path(folder) / file_name("vocabulary", side=source["side"]))) - len(SPECIALS)
    column = source["labels"]
    entries = read_labels(Path(files["labels"]), [column])[column]
    return len(entries) - (0 if metric == "types_with_specials" else len(LABEL_SPECIALS))


def _reported(path: str, *keys: str) -> int:
    report = read_json(Path(path))
    try:
        for key in keys:
            report = report[key]
    except (KeyError, TypeError) as error:
        raise UserError(f"{path} has no '{'.'.join(keys)}': delete it and run the workflow again.") from error
    return report


def _word_count(pairs: str, selection: str | None, side: str) -> int:
    """Count the words of a side of the selected pairs, batch by batch."""
    column = f"{side}_words"
    batches = selected_batches(Path(pairs), None if selection is None else Path(selection), columns=["id", column])
    return sum(pc.sum(pc.list_value_length(batch.column(column))).as_py() or 0 for batch in batches)
