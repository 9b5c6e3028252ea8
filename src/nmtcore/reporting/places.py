"""What a file of the results is about, by where it lies; and how long it took, by Snakemake's benchmark files."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from nmtcore.errors import UserError, explained


class AnnotationPlace(NamedTuple):
    """`{dataset}/annotation/{annotator}/{split}.{side}.*`."""

    dataset: str
    annotator: str
    split: str
    side: str
    other: str | None = None
    """The annotator that it is compared with: `{split}.{side}.against.{other}.json`."""


def annotation_place(path: Path) -> AnnotationPlace:
    """Tell what an annotation's report or comparison is about; a file elsewhere is a `ValueError`."""
    parts = path.name.split(".")
    if len(path.parts) < 4 or path.parts[-3] != "annotation" or len(parts) not in (3, 5):
        raise ValueError(f"{path} is no report of an annotation")
    return AnnotationPlace(path.parts[-4], path.parts[-2], *parts[:2], parts[3] if len(parts) == 5 else None)


def seconds(files: Iterable[Path]) -> float | None:
    """Add up the seconds in Snakemake's benchmark files (column `s`); None where there is none.

    A file that is none of them is a `UserError`. What was never measured (a job too short) counts as 0.
    """
    total, found = 0.0, False
    for path in files:
        with explained(path), open(path, encoding="utf-8", newline="") as file:
            try:
                values = [float(row["s"]) for row in csv.DictReader(file, delimiter="\t")]
            except (KeyError, TypeError, ValueError) as error:
                raise UserError(f"{path} is no benchmark of Snakemake: it has no seconds in a column 's'.") from error
        total += sum(value for value in values if math.isfinite(value))
        found = found or bool(values)
    return total if found else None
