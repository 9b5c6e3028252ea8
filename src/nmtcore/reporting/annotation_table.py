"""Statistics of the data sets' annotations and label vocabularies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import explain_content, read_json
from nmtcore.layout import Layout
from nmtcore.reporting.markdown import counts
from nmtcore.reporting.table import (
    Column,
    Heading,
    Page,
    TableCell,
    make_table,
    note,
    number_columns,
    percentage,
    text_columns,
)

_SPECIALS = 2
"""Special entries of a label vocabulary."""


def annotation_page(
    reports: Sequence[Path],
    *,
    labels: Sequence[Path],
    published: Mapping[str, Mapping[str, int]],
    layout: Layout,
) -> Page:
    """Tabulate the reports on annotations, and the sizes of label vocabularies with the published sizes.

    Args:
        reports: `{dataset}/annotation/{annotator}/{split}.{side}.json`, written by `gather_shards`.
        labels: `{dataset}/annotation/{annotator}/{side}.labels.json`, counted over the selected training pairs.
        published: sizes from the papers, {data set: {"target.ccg": 507}}.
        layout: names the data set, annotator, split and side of each path.
    """
    annotations = [_read_report(path, layout) for path in reports]
    vocabularies = [row for path in labels for row in _vocabulary_sizes(path, layout.names(path, "labels"), published)]
    return _page(annotations, vocabularies)


def _read_report(path: Path, layout: Layout) -> dict[str, Any]:
    report = {**layout.names(path, "annotation_report"), **read_json(path)}
    with explain_content(path):
        _annotation_row(report)
    return report


def _page(annotations: Sequence[Mapping[str, Any]], vocabularies: Sequence[Mapping[str, Any]]) -> Page:
    keys = ("dataset", "side", "annotator", "kind", "size", "published")
    blocks = (
        Heading("Annotations"),
        make_table(_COLUMNS, [_annotation_row(entry) for entry in annotations]),
        note(_NOTES),
        Heading("Sizes of vocabularies"),
        make_table(_VOCABULARY_COLUMNS, [[row[key] for key in keys] for row in vocabularies]),
        note("Our sizes are counted over the selected training pairs, without the two special entries."),
    )
    return Page(title="Annotations", blocks=blocks)


_NOTES = """
Depth: edges from the artificial root to the deepest word of a sentence, as mean and maximum over the trees.
Deprel, UPOS, XPOS, CCG: number of different labels or tags in the split.
"""
_COLUMNS = (
    *text_columns("data set", "split", "side", "annotator"),
    *number_columns("sentences"),
    *number_columns("no analysis %", digits=2),
    Column(name="reasons", align="right"),
    *number_columns("trees"),
    *number_columns("several roots %", "non-projective %", digits=2),
    *number_columns("depth mean", "depth max", "deprel", "UPOS", "XPOS", "CCG"),
)
_VOCABULARY_COLUMNS = (
    *text_columns("data set", "side", "annotator", "labels"),
    *number_columns("ours", "paper"),
)


def _annotation_row(entry: Mapping[str, Any]) -> list[Any]:
    sentences, trees, labels = entry["sentences"], entry["trees"], entry["labels"]
    return [
        *(entry[key] for key in ("dataset", "split", "side", "annotator")),
        sentences,
        percentage(sum(entry["nulls"].values()), sentences),
        counts(entry["nulls"]),
        trees or None,
        percentage(entry["several_roots"], trees),
        percentage(entry["nonprojective"], trees),
        _mean_depth(entry["depth"]["mean"]),
        entry["depth"]["max"] or None,
        *(labels[column] or None for column in ("deprel", "upos", "xpos", "ccg")),
    ]


def _mean_depth(mean: float | None) -> TableCell:
    """Show as many decimals as the report has."""
    return TableCell(mean, digits=None if mean is None else len(str(mean).partition(".")[2]))


def _vocabulary_sizes(
    path: Path, names: Mapping[str, str], published: Mapping[str, Mapping[str, int]]
) -> list[dict[str, Any]]:
    """Make one row per label column that is not empty."""
    dataset, annotator, side = (names[key] for key in ("dataset", "annotator", "side"))
    rows = []
    with explain_content(path):
        sizes = {column: len(entries) - _SPECIALS for column, entries in read_json(path).items()}
    for column, size in sizes.items():
        # There are as many random tags as CCG supertags, which they replace.
        if size and column != "random":
            owner = {"dataset": dataset, "side": side, "annotator": annotator, "kind": column}
            rows.append({**owner, "size": size, "published": published.get(dataset, {}).get(f"{side}.{column}")})
    return rows
