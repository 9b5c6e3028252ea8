"""What is left of the data sets after each stage: one table and one JSON."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json, write_json, write_text
from nmtcore.layout import Layout, ParsedPath
from nmtcore.parquet import row_count
from nmtcore.reporting.benchmarks import seconds
from nmtcore.reporting.markdown import counts, markdown_table
from nmtcore.training.progress import duration

STAGES = {
    "read": ("read_split",),
    "filter": ("learn_truecaser", "filter_split"),
    "annotate": ("annotate_shard", "gather_annotation", "label_vocabularies", "linearise", "select_pairs"),
    "segment": ("learn_segmentation",),
    "extract": ("extract_tokens", "extract_syntax"),
}
"""The stages that are timed, and the rules that prepare data in them."""


def write_data_table(
    reports: Sequence[Path],
    *,
    features: Sequence[Path],
    published: Mapping[str, Mapping[str, int]],
    layout: Layout,
    json: Path,
    table: Path,
) -> str:
    """Put the stages of data sets side by side, as JSON and as Markdown; return the Markdown.

    Args:
        reports: of reading (`{dataset}/corpus/raw/{split}.json`), of filtering (`{dataset}/corpus/{split}.json`) and of
            selecting (`{dataset}/annotation/selection/train.json`); others are passed over.
        features: `{dataset}/features/{segmentation}/{split}.{side}.parquet`, whose rows are counted.
        published: pairs of each split as papers tell, {data set: {split: pairs}}.
        layout: where the files lie, and Snakemake's benchmarks, which times are made of.
        json: where everything is written as JSON: {data set: {"splits": ..., "seconds": ...}}.
        table: where it is written as Markdown.
    """
    found = [(place, path) for path in reports if (place := layout.parse(path)) and place.file_type in _REPORTS]
    tokens = {(names["dataset"], names["split"]): path for path in features if (names := layout.names(path, "tokens"))}
    datasets = {
        name: {
            "splits": _splits(
                {_stage_and_split(place): path for place, path in found if place["dataset"] == name},
                {split: path for (dataset, split), path in tokens.items() if dataset == name},
                published.get(name, {}),
            ),
            "seconds": _times(layout, name),
        }
        for name in dict.fromkeys(place["dataset"] for place, _ in found)
    }
    write_json(json, datasets)
    parts = [_pairs_table(datasets), _filters_table(datasets), _warnings(datasets), _times_table(datasets)]
    text = "\n".join(filter(None, parts))
    write_text(table, text)
    return text


_REPORTS = {"raw_report": "raw", "pairs_report": "filtered", "selection_report": "selected"}


def _stage_and_split(report: ParsedPath) -> tuple[str, str]:
    return _REPORTS[report.file_type], report.names.get("split", "train")  # pairs are selected from the training split


def _splits(
    reports: Mapping[tuple[str, str], Path], tokens: Mapping[str, Path], published: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {split: {} for _, split in reports}
    for (stage, split), path in reports.items():
        found[split][stage] = read_json(path)
    for split, facts in found.items():
        facts["features"] = row_count(tokens[split]) if split in tokens else None  # the same on both sides
        facts["published"] = published.get(split)
        if "filtered" in facts:
            facts["after_filters"] = _steps(facts["filtered"])
    return found


def _steps(report: Mapping[str, Any]) -> dict[str, int]:
    """Count the pairs that are left after each filter, in their order."""
    left, steps = report["pairs"], {}
    for reason, dropped in report["dropped"].items():
        left -= dropped
        steps[reason] = left
    return steps


def _times(layout: Layout, dataset: str) -> dict[str, float | None]:
    return {
        stage: seconds([path for rule in rules for path in layout.existing(f"{rule}.benchmark", dataset=dataset)])
        for stage, rules in STAGES.items()
    }


def _pairs_table(datasets: Mapping[str, Any]) -> str:
    rows = []
    for name, dataset in datasets.items():
        for split, facts in dataset["splits"].items():
            dropped = [counts(facts[stage]["dropped"]) for stage in ("raw", "filtered", "selected") if stage in facts]
            kept = [facts.get(stage, {}).get("kept") for stage in ("raw", "filtered", "selected")]
            ends = (facts["features"], facts["published"])
            rows.append(
                [name, split, "; ".join(filter(None, dropped)), facts.get("raw", {}).get("pairs"), *kept, *ends]
            )
    header = ["data set", "split", "dropped", "lines", "read", "filtered", "selected", "in features", "paper"]
    return "## Pairs after each stage\n\n" + markdown_table(header, rows, text=3)


def _filters_table(datasets: Mapping[str, Any]) -> str:
    """Give a row to each corpus of a split that was filtered, with the pairs that each filter dropped."""
    rows = []
    for name, dataset in datasets.items():
        for split, facts in dataset["splits"].items():
            filtered = facts.get("filtered", {})
            if filtered.get("dropped"):
                corpora = {**filtered.get("corpora", {}), "all": filtered}
                rows += [
                    [name, split, corpus, counts(its["dropped"]), its["pairs"], its["kept"]]
                    for corpus, its in corpora.items()
                ]
    header = ["data set", "split", "corpus", "dropped by", "before", "after"]
    return "## Filters by corpus\n\n" + markdown_table(header, rows, text=4)


def _warnings(datasets: Mapping[str, Any]) -> str:
    """List what reading the splits warns of; nothing where there is nothing."""
    found = [
        f"- {name}, {split}: {warning}"
        for name, dataset in datasets.items()
        for split, facts in dataset["splits"].items()
        for warning in facts.get("raw", {}).get("warnings", [])
    ]
    return "\n".join(["## Warnings", "", *found, ""]) if found else ""


def _times_table(datasets: Mapping[str, Any]) -> str:
    rows = [
        [name, *(None if took is None else duration(took) for took in dataset["seconds"].values())]
        for name, dataset in datasets.items()
    ]
    return "## Time\n\n" + markdown_table(["data set", *STAGES], rows) + "\nAll jobs of a stage added up.\n"
