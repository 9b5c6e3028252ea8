"""Tables of data: sizes of data sets after each stage, their annotations, parsers compared, and licences."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.errors import UserError
from nmtcore.files import explain_content, read_json, write_json
from nmtcore.layout import Layout
from nmtcore.parquet import row_count
from nmtcore.reporting.manifest import all_data
from nmtcore.tables.blocks import (
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
from nmtcore.tables.pages import write_page

_REPORTS = ("raw_report", "pairs_report", "selection_report")
"""The reports that count pairs, in the order of their stages: reading, filtering, selecting."""


def counts(values: Mapping[str, int]) -> str:
    """Format counts as one cell: `reason (3), other (1)`; zeros are omitted."""
    return ", ".join(f"{name} ({count:,})" for name, count in values.items() if count)


def data_page(
    reports: Sequence[Path], *, features: Sequence[Path], published: Mapping[str, Mapping[str, int]], layout: Layout
) -> Page:
    """Tabulate the pairs and filters of the data sets.

    Args:
        reports: reports of reading (`{dataset}/corpus/raw/{split}.json`), filtering (`{dataset}/corpus/{split}.json`)
            and selecting (`{dataset}/annotation/selection/train.json`), in the order of data sets.
        features: `{dataset}/features/{segmentation}/{split}.{side}.parquet`, whose rows are counted.
        published: sizes of the splits in the papers, {data set: {split: pairs}}.
        layout: names the data set and split of each path.
    """
    sizes = {(names["dataset"], names["split"]): path for path in features if (names := layout.names(path, "tokens"))}
    splits: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for path in reports:
        parsed = layout.parse(path)
        if parsed and parsed.file_type in _REPORTS:
            split = parsed.names.get("split", "train")  # only the training split is selected from
            splits.setdefault((parsed["dataset"], split), {})[parsed.file_type] = read_json(path)
    pairs, filters = [], []
    for (dataset, split), by_stage in splits.items():
        stages = [by_stage.get(stage, {}) for stage in _REPORTS]
        raw, filtered, _ = stages
        dropped = "; ".join(filter(None, (counts(stage.get("dropped", {})) for stage in stages)))
        size = row_count(sizes[dataset, split]) if (dataset, split) in sizes else None  # the same on both sides
        numbers = [raw.get("pairs"), *(stage.get("kept") for stage in stages), size]
        pairs.append([dataset, split, dropped, *numbers, published.get(dataset, {}).get(split)])
        corpora = {**filtered.get("corpora", {}), "all": filtered} if filtered.get("dropped") else {}
        filters += [
            [dataset, split, corpus, counts(report["dropped"]), report["pairs"], report["kept"]]
            for corpus, report in corpora.items()
        ]
    stages = ("lines", "read", "filtered", "selected", "in features", "paper")
    pair_columns = [*text_columns("data set", "split", "dropped"), *number_columns(*stages)]
    filter_columns = [*text_columns("data set", "split", "corpus", "dropped by"), *number_columns("before", "after")]
    blocks = (
        *(Heading("Pairs after each stage"), make_table(pair_columns, pairs)),
        *(Heading("Filters by corpus"), make_table(filter_columns, filters)),
    )
    return Page(title="Sizes of the data sets", blocks=blocks)


_ANNOTATIONS = """
Depth: edges from the artificial root to the deepest word of a sentence, as mean and maximum over the trees.
Deprel, UPOS, XPOS, CCG: number of different labels or tags in the split.
"""


def annotation_page(
    reports: Sequence[Path], *, labels: Sequence[Path], published: Mapping[str, Mapping[str, int]], layout: Layout
) -> Page:
    """Tabulate the reports on annotations, and the sizes of label vocabularies with the published sizes.

    Args:
        reports: `{dataset}/annotation/{annotator}/{split}.{side}.json`, written by `gather_shards`.
        labels: `{dataset}/annotation/{annotator}/{side}.labels.json`, counted over the selected training pairs.
        published: sizes from the papers, {data set: {"target.ccg": 507}}.
        layout: names the data set, annotator, split and side of each path.
    """
    columns = [
        *text_columns("data set", "split", "side", "annotator"),
        *number_columns("sentences"),
        *number_columns("no analysis %", digits=2),
        Column(name="reasons", align="right"),
        *number_columns("trees"),
        *number_columns("several roots %", "non-projective %", digits=2),
        *number_columns("depth mean", "depth max", "deprel", "UPOS", "XPOS", "CCG"),
    ]
    sizes = []
    for path in labels:
        names = layout.names(path, "labels")
        dataset, side = names["dataset"], names["side"]
        with explain_content(path):
            known = {column: len(entries) - len(LABEL_SPECIALS) for column, entries in read_json(path).items()}
        # There are as many random tags as CCG supertags, which they replace.
        sizes += [
            [dataset, side, names["annotator"], column, size, published.get(dataset, {}).get(f"{side}.{column}")]
            for column, size in known.items()
            if size and column != "random"
        ]
    blocks = (
        Heading("Annotations"),
        make_table(columns, [_annotation_row(path, layout) for path in reports]),
        note(_ANNOTATIONS),
        Heading("Sizes of vocabularies"),
        make_table([*text_columns("data set", "side", "annotator", "labels"), *number_columns("ours", "paper")], sizes),
        note("Our sizes are counted over the selected training pairs, without the two special entries."),
    )
    return Page(title="Annotations", blocks=blocks)


def _annotation_row(path: Path, layout: Layout) -> list[Any]:
    names, report = layout.names(path, "annotation_report"), read_json(path)
    with explain_content(path):
        sentences, trees, mean = report["sentences"], report["trees"], report["depth"]["mean"]
        decimals = None if mean is None else len(str(mean).partition(".")[2])  # as many as the report has
        return [
            *(names[key] for key in ("dataset", "split", "side", "annotator")),
            *(sentences, percentage(sum(report["nulls"].values()), sentences), counts(report["nulls"])),
            trees or None,
            *(percentage(report[key], trees) for key in ("several_roots", "nonprojective")),
            *(TableCell(mean, digits=decimals), report["depth"]["max"] or None),
            *(report["labels"][column] or None for column in ("deprel", "upos", "xpos", "ccg")),
        ]


_PARSERS = """
Percentages of the words that both annotators analysed.
"""


def parser_page(comparisons: Sequence[Path], *, layout: Layout) -> Page:
    """Tabulate comparisons of two annotations.

    Args:
        comparisons: `{dataset}/annotation/{annotator}/{split}.{side}.against.{other}.json`, written by
            `compare_annotations`.
        layout: names the annotators of each path.
    """
    columns = [
        *text_columns("data set", "split", "side", "annotator", "compared with"),
        *number_columns("sentences", "both parsed"),
        *number_columns("UAS", "UAS (no punct.)", "LAS", "LAS (subtypes)", "UPOS", "CCG", digits=1),
        Column(name="no analysis", align="right"),
    ]
    rows = [_parser_row(path, layout) for path in comparisons]
    return Page(title="Parsers", blocks=(make_table(columns, rows), note(_PARSERS)))


def _parser_row(path: Path, layout: Layout) -> list[Any]:
    names, result = layout.names(path, "comparison"), read_json(path)
    scores = ("uas", "uas_without_punctuation", "las", "las_subtypes", "upos", "ccg")
    with explain_content(path):
        nulls = ((names["annotator"], result["nulls"]["first"]), (names["other"], result["nulls"]["second"]))
        return [
            *(names[key] for key in ("dataset", "split", "side", "annotator", "other")),
            *(result[key] for key in ("sentences", "compared", *scores)),
            "; ".join(f"{name}: {counts(reasons)}" for name, reasons in nulls if reasons),
        ]


_LICENCES = """
Corpora and the models of parsers, of all runs in the results folder, by their manifests, and of all splits that were
read or annotated there, treebanks included; and translations made elsewhere. A data set's licence holds for those of
its corpora that name none of their own. Files: how many; with checksum: those whose SHA-256 is known.
"""


def write_licence_table(layout: Layout, datasets: Mapping[str, Mapping[str, Any]], *, json: Path, table: Path) -> str:
    """Tabulate the licences of corpora, models and translations as JSON and Markdown; return the Markdown.

    See `all_data` for `datasets`. Raises `UserError` if no data of the folder are known.
    """
    data = all_data(layout, datasets)
    entries = licence_entries(
        {"dataset": name, **row} for name, described in data.items() for row in described["files"]
    )
    if not entries:
        raise UserError(
            f"There are no data in {layout.results} that the configuration has, so there are no licences to list: "
            "prepare a data set or train a system first."
        )
    write_json(json, entries)
    columns = [
        *text_columns("kind", "name", "licence", "to cite"),
        *number_columns("files", "with checksum"),
        *text_columns("used by"),
    ]
    rows = [
        [*(entry[key] or "unknown" for key in ("kind", "name", "licence")), entry["citation"], entry["files"],
         entry["with_checksum"], ", ".join(entry["datasets"])]
        for entry in entries
    ]  # fmt: skip
    return write_page(Page(title="Licences", blocks=(make_table(columns, rows), note(_LICENCES))), table)


def licence_entries(uses: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List what is used, each once per licence, with the data sets that use it and the number of its files.

    `uses` are the `files` of manifests (`manifest.describe_data`), with the `dataset` of each.
    """
    import pandas as pd

    keys, entries = ["kind", "name", "licence"], []
    columns = [*keys, "citation", "dataset", "file", "sha256"]
    for key, same in pd.DataFrame(list(uses), columns=columns).groupby(keys):
        files = same.dropna(subset="file").drop_duplicates(["file", "sha256"])
        counts = {"files": len(files), "with_checksum": int(files.sha256.count())}
        entry = {**dict(zip(keys, key, strict=True)), "citation": same.citation.iloc[0], **counts}
        entries.append({**entry, "datasets": same.dataset.unique().tolist()})
    return entries
