"""The references of a test split, as text or as tokens, as the data set's evaluation says."""

from pathlib import Path

from nmtcore.config.runs import RunSettings
from nmtcore.parquet import read_rows


def read_references(run: RunSettings, corpus: Path, count: int | None) -> list[str]:
    """Read the references of the first `count` pairs of a split (None: all), as text or tokens joined by spaces."""
    if run.evaluation.text == "detokenised":
        return [row["target"] for row in read_rows(corpus, columns=["target"], stop=count)]
    return [" ".join(row["target_words"]) for row in read_rows(corpus, columns=["target_words"], stop=count)]
