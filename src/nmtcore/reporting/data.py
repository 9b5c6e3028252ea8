"""What is left of the data sets after each stage: one table and one JSON."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json, write_json, write_text
from nmtcore.parquet import row_count
from nmtcore.reporting.markdown import counts, markdown_table
from nmtcore.reporting.places import seconds

STAGES = {
    "read": "corpus/raw.*.tsv",
    "filter": "corpus/*.tsv",
    "annotate": "annotation/**/*.tsv",
    "segment": "segmentation/**/*.tsv",
    "extract": "features/**/*.tsv",
}
"""The stages that are timed, and their benchmark files below a data set's folder; a file counts once."""


def write_data_table(
    reports: Sequence[Path],
    *,
    features: Sequence[Path],
    published: Mapping[str, Mapping[str, int]],
    benchmarks: Path | None,
    json: Path,
    table: Path,
) -> str:
    """Put the stages of data sets side by side, as JSON and as Markdown; return the Markdown.

    Args:
        reports: of reading (`{dataset}/corpus/raw/{split}.json`), of filtering (`{dataset}/corpus/{split}.json`) and of
            selecting (`{dataset}/annotation/selection/train.json`); others are passed over.
        features: `{dataset}/features/{segmentation}/{split}.{side}.parquet`, whose rows are counted.
        published: pairs of each split as papers tell, {data set: {split: pairs}}.
        benchmarks: Snakemake's benchmark files, in the folders of the results; None: no times.
        json: where everything is written as JSON: {data set: {"splits": ..., "seconds": ...}}.
        table: where it is written as Markdown.
    """
    places = [(place, path) for path in reports if (place := _place(path))]
    datasets = {
        name: {
            "splits": _splits(
                {place[1:]: path for place, path in places if place[0] == name},
                [path for path in features if path.parts[-4] == name],
                published.get(name, {}),
            ),
            "seconds": _times(None if benchmarks is None else benchmarks / name),
        }
        for name in dict.fromkeys(place[0] for place, _ in places)
    }
    write_json(json, datasets)
    parts = [_pairs_table(datasets), _filters_table(datasets), _warnings(datasets), _times_table(datasets)]
    text = "\n".join(filter(None, parts))
    write_text(table, text)
    return text


def _place(path: Path) -> tuple[str, str, str] | None:
    """Tell the data set, the stage and the split that a report is about; None for one of another stage."""
    match path.parts:
        case (*_, dataset, "corpus", "raw", file):
            return dataset, "raw", file.removesuffix(".json")
        case (*_, dataset, "corpus", file):
            return dataset, "filtered", file.removesuffix(".json")
        case (*_, dataset, "annotation", "selection", "train.json"):
            return dataset, "selected", "train"
    return None


def _splits(
    reports: Mapping[tuple[str, str], Path], features: Sequence[Path], published: Mapping[str, int]
) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {split: {} for _, split in reports}
    for (stage, split), path in reports.items():
        found[split][stage] = read_json(path)
    for split, facts in found.items():
        facts["features"] = _rows(path for path in features if path.name.split(".")[0] == split)
        facts["published"] = published.get(split)
        if "filtered" in facts:
            facts["after_filters"] = _steps(facts["filtered"])
    return found


def _rows(features: Iterable[Path]) -> int | None:
    """Count the rows of one of the files: they are the same on both sides."""
    path = next(iter(features), None)
    return None if path is None else row_count(path)


def _steps(report: Mapping[str, Any]) -> dict[str, int]:
    """Count the pairs that are left after each filter, in their order."""
    left, steps = report["pairs"], {}
    for reason, dropped in report["dropped"].items():
        left -= dropped
        steps[reason] = left
    return steps


def _times(folder: Path | None) -> dict[str, float | None]:
    times: dict[str, float | None] = {}
    counted: set[Path] = set()
    for stage, pattern in STAGES.items():
        found = set() if folder is None else set(folder.glob(pattern)) - counted
        counted |= found
        # Comparing annotations is no part of preparing data.
        times[stage] = seconds(sorted(path for path in found if ".against." not in path.name))
    return times


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
        [name, *(None if took is None else f"{took:,.1f}" for took in dataset["seconds"].values())]
        for name, dataset in datasets.items()
    ]
    return "## Seconds\n\n" + markdown_table(["data set", *STAGES], rows) + "\nAll jobs of a stage added up.\n"
