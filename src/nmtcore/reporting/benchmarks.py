"""How long jobs took, by Snakemake's benchmark files."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path

from nmtcore.errors import UserError, explained


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
