"""Tables of facts about subwords: shares of words by their number of subwords, and what a filter drops."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.errors import UserError
from nmtcore.evaluation.subword_counts import subword_counts
from nmtcore.files import read_json
from nmtcore.layout import Layout
from nmtcore.reporting.table import (
    Block,
    Table,
    TableCell,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.reporting.table_content import TableContent

_NOTES = """
Shares are of the words of the English side of the training pairs, each occurrence counted, at the segmentation of this
scale. All training pairs are counted, even if the scale trains on a part of them.
"""


def subwords_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Compute the facts of the plan."""
    count = cache(subword_counts)
    columns = [*text_columns("fact", "data set", "segmentation"), *number_columns("published", "here")]
    rows, data = [], []
    for name, published in table.facts.items():
        source = table.more["facts"][name]
        ours = _fact(source, count)
        digits = len(f"{published:.10f}".rstrip("0").partition(".")[2])
        ours = ours._replace(digits=max(digits, 4) if digits else 0, origin=source["ours"] or "")
        cells = [TableCell(published, digits=digits), ours]
        rows.append([name.replace("_", " "), source["ours"], source.get("segmentation"), *cells])
        data.append({"fact": name, **source, "published": published, "ours": ours.value})
    sources = {source["tokens"]: source for source in table.more["facts"].values() if "tokens" in source}
    counts = {path: count(Path(path)) for path in sources}
    blocks: list[Block] = [make_table(columns, rows)]
    if counts:
        blocks.append(_words_table([(source, counts[path]) for path, source in sources.items()]))
    blocks.append(note(_NOTES))
    return TableContent(blocks=blocks, data={"facts": data, "words_by_subwords": counts})


def _fact(source: Mapping[str, Any], count: Callable[[Path], list[int]]) -> TableCell:
    """Return our value of a fact; `source` is described in `planning.table_kinds.subwords`."""
    if "tokens" in source:
        return TableCell(share_of_words(count(Path(source["tokens"])), source["most"]))
    if "report" in source:
        dropped = read_json(Path(source["report"])).get("dropped", {})
        if source["filter"] not in dropped:
            raise UserError(
                f"{source['report']} does not count the pairs that {source['filter']} drops: delete it and run again."
            )
        return TableCell(dropped[source["filter"]])
    return TableCell(None, reason=source["reason"])


def share_of_words(counts: list[int], most: int) -> float | None:
    """Return the share of words with at most `most` subwords, by `subword_counts`; None if there are no words."""
    return sum(counts[: most + 1]) / sum(counts) if sum(counts) else None


def _words_table(counted: Iterable[tuple[Mapping[str, Any], list[int]]]) -> Table:
    """Tabulate the words and subwords of training sentences, given their sources and `subword_counts`."""
    columns = [
        *text_columns("data set", "segmentation"),
        *number_columns("words", "subwords"),
        *number_columns("subwords per word", digits=3),
        *number_columns("subwords of the longest word"),
    ]
    rows = []
    for source, counts in counted:
        words, subwords = sum(counts), sum(size * number for size, number in enumerate(counts))
        measured = [words, subwords, subwords / words if words else None, len(counts) - 1 if words else None]
        rows.append([source["ours"], source["segmentation"], *with_origin(measured, source["ours"])])
    return make_table(columns, rows)
