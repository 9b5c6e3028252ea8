"""What the annotators said about the data sets: one table and one JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json, write_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.markdown import counts, markdown_table, percent

_SPECIALS = 2
"""Entries of a label vocabulary that are no labels."""


def write_annotation_table(
    reports: Sequence[Path],
    *,
    labels: Sequence[Path],
    published: Mapping[str, Mapping[str, int]],
    layout: Layout,
    json: Path,
    table: Path,
) -> str:
    """Put the reports of annotations side by side, and the sizes of their tag vocabularies beside the published ones.

    Args:
        reports: `{dataset}/annotation/{annotator}/{split}.{side}.json`, as `gather_shards` writes them.
        labels: `{dataset}/annotation/{annotator}/{side}.labels.json`, over the training pairs that are used.
        published: sizes that papers tell, {data set: {"target.ccg": 507}}.
        layout: where the files lie.
        json: where everything is written as JSON: {"annotations": [...], "vocabularies": [...]}.
        table: where it is written as Markdown.

    Returns:
        The Markdown.
    """
    annotations = [{**layout.names(path, "annotation_report"), **read_json(path)} for path in reports]
    vocabularies = [row for path in labels for row in _vocabulary(path, layout.names(path, "labels"), published)]
    write_json(json, {"annotations": annotations, "vocabularies": vocabularies})
    text = _markdown(annotations, vocabularies)
    write_text(table, text)
    return text


def _markdown(annotations: Sequence[Mapping[str, Any]], vocabularies: Sequence[Mapping[str, Any]]) -> str:
    header = ["data set", "side", "annotator", "kind", "ours", "paper"]
    keys = ("dataset", "side", "annotator", "kind", "size", "published")
    parts = [
        "## Annotations\n",
        markdown_table(_HEADER, [_row(entry) for entry in annotations], text=4),
        "Depth: edges from the artificial root to a sentence's deepest word, on average over its trees. Labels and",
        "tags: how many different ones the split has.\n",
        "## Sizes of vocabularies\n",
        markdown_table(header, [[row[key] for key in keys] for row in vocabularies], text=4),
        "Ours are counted over the training pairs that are used, without the two special entries.",
        "",
    ]
    return "\n".join(parts)


_HEADER = [
    "data set", "split", "side", "annotator", "sentences", "no analysis %", "why", "trees", "several roots %",
    "non-projective %", "depth mean", "depth max", "deprel", "UPOS", "XPOS", "CCG",
]  # fmt: skip


def _row(entry: Mapping[str, Any]) -> list[Any]:
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
        *(labels[kind] or None for kind in ("deprel", "upos", "xpos", "ccg")),
    ]


def _vocabulary(
    path: Path, names: Mapping[str, str], published: Mapping[str, Mapping[str, int]]
) -> list[dict[str, Any]]:
    """Make a row of each kind of labels that an annotator gives or a paper counts."""
    dataset, annotator, side = (names[key] for key in ("dataset", "annotator", "side"))
    rows = []
    for kind, entries in read_json(path).items():
        size = len(entries) - _SPECIALS
        # Random tags are as many as the CCG supertags that they stand for.
        if size and kind != "random":
            told = published.get(dataset, {}).get(f"{side}.{kind}")
            place = {"dataset": dataset, "side": side, "annotator": annotator, "kind": kind}
            rows.append({**place, "size": size, "published": told})
    return rows
