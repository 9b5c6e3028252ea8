"""How well parsers do: every comparison of two annotations in one table and one JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.files import read_json, write_json, write_text
from nmtcore.reporting.markdown import counts, markdown_table
from nmtcore.reporting.places import AnnotationPlace, annotation_place, seconds

_SCORES = ("uas", "uas_without_punctuation", "las", "las_subtypes", "upos", "ccg")


def write_parser_table(comparisons: Sequence[Path], *, benchmarks: Path | None, json: Path, table: Path) -> str:
    """Put comparisons side by side, as JSON and as Markdown; return the Markdown.

    Args:
        comparisons: `{dataset}/annotation/{annotator}/{split}.{side}.against.{other}.json`, as `compare_annotations`
            writes them.
        benchmarks: Snakemake's benchmark files, in the folders of the results; None: no speeds.
        json: where everything is written as JSON, a list.
        table: where it is written as Markdown.
    """
    entries = [_entry(path, benchmarks) for path in comparisons]
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


def _entry(path: Path, benchmarks: Path | None) -> dict[str, Any]:
    place = annotation_place(path)
    result = read_json(path)
    took = None if benchmarks is None else seconds(_shards(benchmarks, place))
    speed = result["sentences"] / took if took else None
    return {**place._asdict(), **result, "seconds": took, "sentences_per_second": speed}


def _shards(benchmarks: Path, place: AnnotationPlace) -> list[Path]:
    folder = benchmarks / place.dataset / "annotation" / place.annotator
    return sorted(folder.glob(f"{place.split}.{place.side}.*-of-*.tsv"))


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
