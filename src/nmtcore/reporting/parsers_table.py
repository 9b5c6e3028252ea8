"""Scores and speeds of parsers: all comparisons of two annotations."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import explain_content, read_json
from nmtcore.layout import Layout
from nmtcore.reporting.manifest import benchmark_seconds
from nmtcore.reporting.markdown import counts
from nmtcore.reporting.table import Column, Page, TableCell, make_table, note, number_columns, text_columns

_SCORES = ("uas", "uas_without_punctuation", "las", "las_subtypes", "upos", "ccg")


def parser_page(comparisons: Sequence[Path], *, layout: Layout) -> Page:
    """Tabulate comparisons.

    Args:
        comparisons: `{dataset}/annotation/{annotator}/{split}.{side}.against.{other}.json`, written by
            `compare_annotations`.
        layout: names the annotators of each path, and finds Snakemake's benchmarks of their jobs for the speeds.
    """
    entries = [_comparison(path, layout) for path in comparisons]
    columns = [
        *text_columns("data set", "split", "side", "annotator", "compared with"),
        *number_columns("sentences", "both parsed"),
        *number_columns("UAS", "UAS (no punct.)", "LAS", "LAS (subtypes)", "UPOS", "CCG", digits=1),
        *number_columns("sentences/s"),
        Column(name="no analysis", align="right"),
    ]
    notes = note(
        "Percentages of the words that both annotators analysed. Sentences/s: speed of the annotator's jobs, "
        "including the time to load its models."
    )
    rows = [_comparison_row(entry) for entry in entries]
    return Page(title="Parsers", blocks=(make_table(columns, rows), notes))


def _comparison(path: Path, layout: Layout) -> dict[str, Any]:
    names, result = layout.names(path, "comparison"), read_json(path)
    annotation = {key: name for key, name in names.items() if key != "other"}
    seconds = benchmark_seconds(layout.existing("annotate_shard.benchmark", **annotation))
    with explain_content(path):
        speed = result["sentences"] / seconds if seconds else None
        return {**names, **result, "seconds": seconds, "sentences_per_second": speed}


def _comparison_row(entry: dict[str, Any]) -> list[Any]:
    speed = entry["sentences_per_second"]
    return [
        *(entry[key] for key in ("dataset", "split", "side", "annotator", "other", "sentences", "compared")),
        *(entry[score] for score in _SCORES),
        TableCell(speed, digits=1 if speed and speed < 10 else None),
        "; ".join(
            f"{entry[key]}: {counts(entry['nulls'][nulls])}"
            for key, nulls in (("annotator", "first"), ("other", "second"))
            if entry["nulls"][nulls]
        ),
    ]
