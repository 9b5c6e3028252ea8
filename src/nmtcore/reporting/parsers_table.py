"""Scores and speeds of parsers: all comparisons of two annotations, as one table and one JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json, write_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.benchmarks import benchmark_seconds
from nmtcore.reporting.markdown import counts, markdown_table

_SCORES = ("uas", "uas_without_punctuation", "las", "las_subtypes", "upos", "ccg")


def write_parser_table(comparisons: Sequence[Path], *, layout: Layout, json: Path, table: Path) -> str:
    """Tabulate comparisons, as JSON and Markdown; return the Markdown.

    Args:
        comparisons: `{dataset}/annotation/{annotator}/{split}.{side}.against.{other}.json`, written by
            `compare_annotations`.
        layout: names the annotators of each path, and finds Snakemake's benchmarks of their jobs for the speeds.
        json: output, a list.
        table: output as Markdown.
    """
    entries = [_comparison(path, layout) for path in comparisons]
    write_json(json, entries)
    header = [
        "data set", "split", "side", "annotator", "compared with", "sentences", "both parsed", "UAS", "UAS (no punct.)",
        "LAS", "LAS (subtypes)", "UPOS", "CCG", "sentences/s", "no analysis",
    ]  # fmt: skip
    text = markdown_table(header, [_comparison_row(entry) for entry in entries], text=5) + (
        "\nPercentages of the words that both annotators analysed. Sentences/s: speed of the annotator's jobs, "
        "including the time to load its models.\n"
    )
    write_text(table, text)
    return text


def _comparison(path: Path, layout: Layout) -> dict[str, Any]:
    names, result = layout.names(path, "comparison"), read_json(path)
    annotation = {key: name for key, name in names.items() if key != "other"}
    seconds = benchmark_seconds(layout.existing("annotate_shard.benchmark", **annotation))
    speed = result["sentences"] / seconds if seconds else None
    return {**names, **result, "seconds": seconds, "sentences_per_second": speed}


def _comparison_row(entry: dict[str, Any]) -> list[Any]:
    speed = entry["sentences_per_second"]
    return [
        *(entry[key] for key in ("dataset", "split", "side", "annotator", "other", "sentences", "compared")),
        *(None if entry[score] is None else f"{entry[score]:.1f}" for score in _SCORES),
        None if speed is None else f"{speed:,.0f}" if speed >= 10 else f"{speed:.1f}",
        "; ".join(
            f"{entry[key]}: {counts(entry['nulls'][nulls])}"
            for key, nulls in (("annotator", "first"), ("other", "second"))
            if entry["nulls"][nulls]
        ),
    ]
