"""All scores of a results folder, as a table for the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from textwrap import fill
from typing import Any, NamedTuple

from nmtcore.errors import UserError
from nmtcore.evaluation.lines import spread
from nmtcore.evaluation.metrics import LABELS, metric_labels
from nmtcore.files import files_below, read_json
from nmtcore.layout import file_name
from nmtcore.reporting.terminal_table import terminal_table

_SCORES = (*LABELS.values(), "UAS", "directed")
"""The columns that come first, in this order."""
UAS_COMPARES = "compared with the parser's trees (for a diagonalparse system: with the previous word)"
"""What heads are compared with in scores named UAS, on splits that are no treebanks; for notes below tables."""
UAS_NOTE = f"UAS: of the most probable heads, {UAS_COMPARES} or, on a split gold_..., with a treebank's."
"""What a score named UAS is."""
_NOTES = (
    f"Mean over seeds, ± standard deviation if there are several. {UAS_NOTE} directed: accuracy of induced trees, "
    "compared with a treebank's."
)

_ADVICE = "move it elsewhere, or score the run again"


class _Row(NamedTuple):
    scale: str
    dataset: str
    system: str
    split: str


def results_listing(folder: Path) -> str:
    """Tabulate the scores of all runs below a folder, one row per scale, data set, system and split.

    Raises `UserError` if there is no such folder, if it has no scores, or if two files have those of the same run.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: name a results folder.")
    values: dict[_Row, dict[int, dict[str, float]]] = {}
    sources: dict[tuple[str, ...], Path] = {}
    for path, scores in _score_files(folder):
        run = tuple(str(scores[key]) for key in ("scale", "dataset", "system", "seed"))
        first = sources.setdefault((path.name, *run), path)
        if first != path:
            raise UserError(f"{first} and {path} are scores of the same run: name the folder of one results folder.")
        for split, score, value in _checked_values(path, scores):
            row = _Row(*run[:3], split)
            values.setdefault(row, {}).setdefault(scores["seed"], {})[score] = value
    if not values:
        raise UserError(f"There are no scores in {folder}: name a results folder in which a run has been scored.")
    scored = dict.fromkeys(score for seeds in values.values() for seed in seeds.values() for score in seed)
    shown = [*(score for score in _SCORES if score in scored), *(score for score in scored if score not in _SCORES)]
    rows = []
    for row in sorted(values, key=lambda row: row[:3]):  # stable: splits in their files' order, the main test first
        seeds = values[row]
        cells = [spread_over([seed[score] for seed in seeds.values() if score in seed]) for score in shown]
        rows.append([row.scale, row.dataset, row.system, row.split, ", ".join(map(str, sorted(seeds))), *cells])
    table = terminal_table(["scale", "data set", "system", "split", "seeds", *shown], rows, text=5)
    return f"{table}\n{fill(_NOTES, 120)}\n"


def _score_files(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the files of scores of runs with their contents: tests and dev first, then COMET's, then gold treebanks."""
    for name in map(file_name, ("scores", "comet_scores", "gold_scores")):
        for path in files_below(folder, name):
            scores = read_json(path, advice=_ADVICE)
            if not isinstance(scores, dict) or not {"scale", "dataset", "system", "seed"} <= scores.keys():
                raise _no_scores(path)
            yield path, scores


def _no_scores(path: Path) -> UserError:
    return UserError(f"{path} does not hold the scores of a run: {_ADVICE}.")


def _checked_values(path: Path, scores: Mapping[str, Any]) -> list[tuple[str, str, float]]:
    """Return the scores of a file. Raises `UserError` if something else is in their place, or in that of the seed."""
    try:
        values = list(score_values(scores))
    except (AttributeError, KeyError, TypeError) as error:
        raise _no_scores(path) from error
    numbers = [value for _, _, value in values]
    if type(scores["seed"]) is not int or not all(type(number) in (int, float) for number in numbers):
        raise _no_scores(path)
    return values


def score_values(scores: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Yield the split, name and value of each score in a file of a run's scores; none for parses without words."""
    labels = metric_labels(scores)
    for split, metrics in ((split, own) for key in labels for split, own in scores.get(key, {}).items()):
        yield from ((split, label, metrics[name]) for name, label in labels.items() if name in metrics)
    for split, methods in [*scores.get("uas", {}).items(), *scores.get("gold.uas", {}).items()]:
        if "argmax" not in methods:
            name, value = "directed", methods["spanning_tree"]["directed"]
        else:
            name, value = "UAS", methods["argmax"]["uas"]
        if value is not None:
            yield split, name, value


def spread_over(values: Sequence[float]) -> str | None:
    """Format the mean of the values of seeds, and their standard deviation if there are several; None without any."""
    if not values:
        return None
    return spread({"mean": fmean(values), "stdev": stdev(values) if len(values) > 1 else None})
