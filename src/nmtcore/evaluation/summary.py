"""Summary files: the scores of a system on every split, over its seeds."""

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmtcore.errors import UserError, shortened
from nmtcore.evaluation.lines import summary_lines
from nmtcore.files import explain_content, read_json, write_json


def write_summary(scores: Sequence[Path], *, seeds: Sequence[int], score: str, output: Path) -> list[str]:
    """Summarise one of the `SCORES` ("bleu", "uas") of the `scores.json` of each seed's run, and write it to `output`.

    The file names the data set, system, scale and seeds; `splits` has the mean, standard deviation and values of each
    split's metrics, the main test split first. Returns the means as lines, one per test split.
    """
    runs = [read_json(path) for path in scores]
    for path, run, seed in zip(scores, runs, seeds, strict=True):
        with explain_content(path):
            if run["seed"] != seed:
                own = shortened(str(run["seed"]))
                raise UserError(f"{path} holds the scores of seed {own}, not {seed}: delete it and score again.")
            if score not in run:
                raise UserError(f"{path} has no {score}: the system {run['system']} is not scored on it.")
            summarise_seeds([run[score]])
    with explain_content(scores[0]):
        names = {key: runs[0][key] for key in ("dataset", "system", "scale")}
    splits = summarise_seeds([run[score] for run in runs])
    summary = {**names, "seeds": list(seeds), "metric": score, "splits": splits}
    write_json(output, summary)
    return summary_lines(summary, output)


def summarise_seeds(values: Sequence[Any], *, where: str = "scores") -> Any:
    """Summarise dictionaries with the same keys, such as {split: {metric: value}}, one per seed, in the seeds' order.

    A number becomes {"mean", "stdev", "values"}; stdev is the sample standard deviation (n - 1), None for a single
    seed. Mean and deviation ignore the seeds whose value is None. Anything else, such as a signature, must be the same
    for all seeds and is kept. Raises `UserError` if keys or signatures differ.
    """
    if all(isinstance(value, dict) for value in values):
        if any(value.keys() != values[0].keys() for value in values):
            raise UserError(f"The {where} of the seeds have different keys: score them again.")
        return {key: summarise_seeds([value[key] for value in values], where=f"{where}.{key}") for key in values[0]}
    numbers = [value for value in values if isinstance(value, int | float)]
    if numbers and all(value is None or isinstance(value, int | float) for value in values):
        deviation = statistics.stdev(numbers) if len(numbers) > 1 else None
        return {"mean": statistics.fmean(numbers), "stdev": deviation, "values": list(values)}
    if any(value != values[0] for value in values):
        raise UserError(f"The {where} differ between seeds ({values}), so they cannot be averaged: score them again.")
    return values[0]
