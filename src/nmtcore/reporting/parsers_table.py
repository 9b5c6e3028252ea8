"""How well parsers do: every comparison of two annotations in one table and one JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json, write_json, write_text
from nmtcore.layout import Layout
from nmtcore.reporting.benchmarks import seconds
from nmtcore.reporting.markdown import counts, markdown_table

_SCORES = ("uas", "uas_without_punctuation", "las", "las_subtypes", "upos", "ccg")


def write_parser_table(comparisons: Sequence[Path], *, layout: Layout, json: Path, table: Path) -> str:
    """Put comparisons side by side, as JSON and as Markdown; return the Markdown.

    Args:
        comparisons: `{dataset}/annotation/{annotator}/{split}.{side}.against.{other}.json`, as `compare_annotations`
            writes them.
        layout: where the files lie, and Snakemake's benchmarks of the annotators' jobs, which speeds are made of.
        json: where everything is written as JSON, a list.
        table: where it is written as Markdown.
    """
    entries = [_entry(path, layout) for path in comparisons]
    write_json(json, entries)
    header = [
        "data set", "split", "side", "annotator", "compared with", "sentences", "both parsed", "UAS", "UAS (no punct.)",
        "LAS", "LAS (subtypes)", "UPOS", "CCG", "sentences/s", "no analysis",
    ]  # fmt: skip
    text = markdown_table(header, [_row(entry) for entry in entries], text=5) + (
        "\nPercentages of the words that both analysed. Sentences/s: of the annotator's jobs, loading of its models "
        "included.\n"
    )
    write_text(table, text)
    return text


def _entry(path: Path, layout: Layout) -> dict[str, Any]:
    names, result = layout.names(path, "comparison"), read_json(path)
    annotation = {key: name for key, name in names.items() if key != "other"}
    took = seconds(layout.existing("annotate_shard.benchmark", **annotation))
    speed = result["sentences"] / took if took else None
    return {**names, **result, "seconds": took, "sentences_per_second": speed}


def _row(entry: dict[str, Any]) -> list[Any]:
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
