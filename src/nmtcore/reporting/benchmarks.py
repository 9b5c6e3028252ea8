"""Run times of jobs, from Snakemake's benchmark files."""

import csv
import math
from collections.abc import Iterable
from pathlib import Path

from nmtcore.errors import UserError, explain_os_errors


def benchmark_seconds(files: Iterable[Path]) -> float | None:
    """Add up the seconds in Snakemake's benchmark files (column `s`); return None if there are none.

    A job too short to be measured counts as 0. Raises UserError if a file is no benchmark.
    """
    total, measured = 0.0, False
    for path in files:
        with explain_os_errors(path), open(path, encoding="utf-8", newline="") as file:
            try:
                values = [float(row["s"]) for row in csv.DictReader(file, delimiter="\t")]
            except (KeyError, TypeError, ValueError) as error:
                raise UserError(
                    f"{path} is no benchmark of Snakemake: it has no column 's' with seconds. Delete it."
                ) from error
        total += sum(value for value in values if math.isfinite(value))
        measured = measured or bool(values)
    return total if measured else None
