"""Statistics of the data sets' annotations and label vocabularies, as one table and one JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json, write_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.markdown import counts, markdown_table, percent

_SPECIALS = 2
"""Special entries of a label vocabulary."""


def write_annotation_table(
    reports: Sequence[Path],
    *,
    labels: Sequence[Path],
    published: Mapping[str, Mapping[str, int]],
    layout: Layout,
    json: Path,
    table: Path,
) -> str:
    """Tabulate the reports on annotations, and the sizes of label vocabularies with the published sizes.

    Args:
        reports: `{dataset}/annotation/{annotator}/{split}.{side}.json`, written by `gather_shards`.
        labels: `{dataset}/annotation/{annotator}/{side}.labels.json`, counted over the selected training pairs.
        published: sizes from the papers, {data set: {"target.ccg": 507}}.
        layout: names the data set, annotator, split and side of each path.
        json: output, {"annotations": [...], "vocabularies": [...]}.
        table: output as Markdown.

    Returns:
        The Markdown.
    """
    annotations = [{**layout.names(path, "annotation_report"), **read_json(path)} for path in reports]
    vocabularies = [row for path in labels for row in _vocabulary_sizes(path, layout.names(path, "labels"), published)]
    write_json(json, {"annotations": annotations, "vocabularies": vocabularies})
    text = _annotation_markdown(annotations, vocabularies)
    write_text(table, text)
    return text


def _annotation_markdown(annotations: Sequence[Mapping[str, Any]], vocabularies: Sequence[Mapping[str, Any]]) -> str:
    header = ["data set", "side", "annotator", "labels", "ours", "paper"]
    keys = ("dataset", "side", "annotator", "kind", "size", "published")
    parts = [
        "## Annotations\n",
        markdown_table(_HEADER, [_annotation_row(entry) for entry in annotations], text=4),
        "Depth: edges from the artificial root to the deepest word of a sentence, as mean and maximum over the trees.",
        "Deprel, UPOS, XPOS, CCG: number of different labels or tags in the split.\n",
        "## Sizes of vocabularies\n",
        markdown_table(header, [[row[key] for key in keys] for row in vocabularies], text=4),
        "Our sizes are counted over the selected training pairs, without the two special entries.",
        "",
    ]
    return "\n".join(parts)


_HEADER = [
    "data set", "split", "side", "annotator", "sentences", "no analysis %", "reasons", "trees", "several roots %",
    "non-projective %", "depth mean", "depth max", "deprel", "UPOS", "XPOS", "CCG",
]  # fmt: skip


def _annotation_row(entry: Mapping[str, Any]) -> list[Any]:
    sentences, trees, labels = entry["sentences"], entry["trees"], entry["labels"]
    return [
        *(entry[key] for key in ("dataset", "split", "side", "annotator")),
        sentences,
        percent(sum(entry["nulls"].values()), sentences),
        counts(entry["nulls"]),
        trees or None,
        percent(entry["several_roots"], trees),
        percent(entry["nonprojective"], trees),
        entry["depth"]["mean"],
        entry["depth"]["max"] or None,
        *(labels[column] or None for column in ("deprel", "upos", "xpos", "ccg")),
    ]


def _vocabulary_sizes(
    path: Path, names: Mapping[str, str], published: Mapping[str, Mapping[str, int]]
) -> list[dict[str, Any]]:
    """Make one row per label column that is not empty."""
    dataset, annotator, side = (names[key] for key in ("dataset", "annotator", "side"))
    rows = []
    for column, entries in read_json(path).items():
        size = len(entries) - _SPECIALS
        # There are as many random tags as CCG supertags, which they replace.
        if size and column != "random":
            owner = {"dataset": dataset, "side": side, "annotator": annotator, "kind": column}
            rows.append({**owner, "size": size, "published": published.get(dataset, {}).get(f"{side}.{column}")})
    return rows
