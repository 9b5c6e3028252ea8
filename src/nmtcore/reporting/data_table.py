"""The table of all data sets with their sizes after each stage, and the tables of one data set for the report."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json
from nmtcore.layout import Layout, ParsedPath
from nmtcore.parquet import row_count
from nmtcore.reporting.manifest import benchmark_seconds
from nmtcore.reporting.markdown import counts
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Items,
    Page,
    Paragraph,
    Table,
    make_table,
    note,
    number_columns,
    text_columns,
)

STAGES = {
    "read": ("read_split",),
    "filter": ("filter_split",),
    "annotate": ("annotate_shard", "gather_annotation", "label_vocabularies", "linearise", "select_pairs"),
    "segment": ("learn_segmentation",),
    "extract": ("extract_tokens", "extract_syntax"),
}
"""Timed stage → its rules."""


def data_page(
    reports: Sequence[Path],
    *,
    features: Sequence[Path],
    published: Mapping[str, Mapping[str, int]],
    layout: Layout,
) -> Page:
    """Tabulate the pairs, filters, warnings and run times of the data sets.

    Args:
        reports: reports of reading (`{dataset}/corpus/raw/{split}.json`), filtering (`{dataset}/corpus/{split}.json`)
            and selecting (`{dataset}/annotation/selection/train.json`); other files are ignored.
        features: `{dataset}/features/{segmentation}/{split}.{side}.parquet`, whose rows are counted.
        published: sizes of the splits in the papers, {data set: {split: pairs}}.
        layout: names the data set and split of each path, and finds Snakemake's benchmarks for the run times.
    """
    parsed_paths = [(parsed, path) for path in reports if (parsed := layout.parse(path))]
    stage_reports = [(parsed, path) for parsed, path in parsed_paths if parsed.file_type in _REPORTS]
    tokens = {(names["dataset"], names["split"]): path for path in features if (names := layout.names(path, "tokens"))}
    datasets = {
        name: {
            "splits": _split_facts(
                {_stage_and_split(parsed): path for parsed, path in stage_reports if parsed["dataset"] == name},
                {split: path for (dataset, split), path in tokens.items() if dataset == name},
                published.get(name, {}),
            ),
            "seconds": stage_seconds(layout, name),
        }
        for name in dict.fromkeys(parsed["dataset"] for parsed, _ in stage_reports)
    }
    blocks = (
        Heading("Pairs after each stage"),
        _pairs_table(datasets),
        Heading("Filters by corpus"),
        _filters_table(datasets),
        *_warnings_list(datasets),
        Heading("Time"),
        _times_table(datasets),
        note("The sum over all jobs of a stage."),
    )
    return Page(title="Sizes of the data sets", blocks=blocks)


_REPORTS = {"raw_report": "raw", "pairs_report": "filtered", "selection_report": "selected"}


def _stage_and_split(report: ParsedPath) -> tuple[str, str]:
    return _REPORTS[report.file_type], report.names.get("split", "train")  # only the training split is selected from


def _split_facts(
    reports: Mapping[tuple[str, str], Path], tokens: Mapping[str, Path], published: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    facts_by_split: dict[str, dict[str, Any]] = {split: {} for _, split in reports}
    for (stage, split), path in reports.items():
        facts_by_split[split][stage] = read_json(path)
    for split, facts in facts_by_split.items():
        facts["features"] = row_count(tokens[split]) if split in tokens else None  # the same on both sides
        facts["published"] = published.get(split)
    return facts_by_split


def stage_seconds(layout: Layout, dataset: str) -> dict[str, float | None]:
    """Return the run time of each stage of a data set, from Snakemake's benchmarks; None for a stage without any."""

    def files(rule: str) -> list[Path]:
        return layout.existing(f"{rule}.benchmark", dataset=dataset)

    return {stage: benchmark_seconds(path for rule in rules for path in files(rule)) for stage, rules in STAGES.items()}


def _pairs_table(datasets: Mapping[str, Any]) -> Table:
    rows = []
    for name, dataset in datasets.items():
        for split, facts in dataset["splits"].items():
            dropped = [counts(facts[stage]["dropped"]) for stage in ("raw", "filtered", "selected") if stage in facts]
            kept = [facts.get(stage, {}).get("kept") for stage in ("raw", "filtered", "selected")]
            sizes = (facts["features"], facts["published"])
            rows.append(
                [name, split, "; ".join(filter(None, dropped)), facts.get("raw", {}).get("pairs"), *kept, *sizes]
            )
    numbers = number_columns("lines", "read", "filtered", "selected", "in features", "paper")
    return make_table([*text_columns("data set", "split", "dropped"), *numbers], rows)


def _filters_table(datasets: Mapping[str, Any]) -> Table:
    """Make one row per filtered split and corpus, with the pairs that each filter dropped."""
    rows = []
    for name, dataset in datasets.items():
        for split, facts in dataset["splits"].items():
            filtered = facts.get("filtered", {})
            if filtered.get("dropped"):
                corpora = {**filtered.get("corpora", {}), "all": filtered}
                rows += [
                    [name, split, corpus, counts(report["dropped"]), report["pairs"], report["kept"]]
                    for corpus, report in corpora.items()
                ]
    columns = [*text_columns("data set", "split", "corpus", "dropped by"), *number_columns("before", "after")]
    return make_table(columns, rows)


def _warnings_list(datasets: Mapping[str, Any]) -> list[Block]:
    """List the warnings from reading the splits; nothing if there are none."""
    items = [
        f"{name}, {split}: {warning}"
        for name, dataset in datasets.items()
        for split, facts in dataset["splits"].items()
        for warning in facts.get("raw", {}).get("warnings", [])
    ]
    return [Heading("Warnings"), Items(tuple(items))] if items else []


def _times_table(datasets: Mapping[str, Any]) -> Table:
    rows = [[name, *dataset["seconds"].values()] for name, dataset in datasets.items()]
    return make_table([*text_columns("data set"), *number_columns(*STAGES, content="duration")], rows)


def data_blocks(data: Mapping[str, Any], seconds: Mapping[str, float | None]) -> list[Block]:
    """Make the tables of a data set; `data` is that of `manifest.all_data`, and `seconds` the time of each stage."""
    stages = ("lines", "read", "filtered", "selected")
    sizes = [[split, *(own.get(stage) for stage in stages)] for split, own in data["splits"].items()]
    times = [[seconds.get(stage) for stage in STAGES]]
    blocks: list[Block] = [
        Paragraph(f"From {data['source']} to {data['target']}. Licence: {data['licence'] or 'unknown'}."),
        *([Paragraph(f"To cite: {data['citation']}")] if data["citation"] else []),
        Heading("Pairs after each stage"),
        make_table([*text_columns("split"), *number_columns(*stages)], sizes),
        Heading("Time of each stage"),
        make_table(number_columns(*STAGES, content="duration"), times),
        Heading("Files"),
    ]
    columns = [*text_columns("corpus or parser", "splits", "licence", "file"), Column(name="SHA-256", content="code")]
    rows = [
        [own["name"], ", ".join(own.get("splits", ())), own["licence"] or "unknown", own["file"], own["sha256"]]
        for own in data["files"]
        if own["file"]
    ]
    return [
        *blocks,
        make_table(columns, rows) if rows else Paragraph("The corpora are generated, not read from files."),
    ]
