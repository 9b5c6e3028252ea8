"""How scores, differences and intervals are written; summaries over seeds, and lines of scores for the terminal."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.errors import UserError, shortened
from nmtcore.evaluation.attachment import UAS_LABELS, scores_by_measure
from nmtcore.evaluation.compare import Difference
from nmtcore.evaluation.induction import BASELINES, MEASURES, gold_tree, score_induction
from nmtcore.evaluation.metrics import LABELS, label_of, metric_labels
from nmtcore.files import explain_content, read_json, write_json
from nmtcore.layout import SCORES

DEV = "dev"
"""The name of dev in scores, translated with the beam of the tests."""
GREEDY_DEV = "dev.greedy"
"""The name of dev in scores, translated by greedy search."""


class SeedMean(NamedTuple):
    """A mean over seeds, and the standard deviation if there are several."""

    mean: float
    stdev: float | None = None

    @classmethod
    def over(cls, values: Sequence[float]) -> "SeedMean":
        """Compute the mean and the standard deviation of at least one value."""
        return cls(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)

    def text(self, digits: int = 1, sign: str = "") -> str:
        """Write the mean ± the standard deviation; the sign `+` also stands before positive means."""
        return _spread_text(self.mean, self.stdev, digits, sign)


class Interval(NamedTuple):
    """The bounds of an interval."""

    low: float
    high: float

    def text(self, digits: int = 1, sign: str = "") -> str:
        """Write both bounds."""
        return f"{self.low:{sign},.{digits}f} to {self.high:{sign},.{digits}f}"


class Estimate(NamedTuple):
    """A difference with the bounds of its interval."""

    delta: float
    low: float
    high: float

    @classmethod
    def of(cls, difference: Difference) -> "Estimate":
        """Take what is shown of a difference."""
        return cls(difference.delta, *difference.interval)

    def text(self, digits: int = 1, sign: str = "+") -> str:
        """Write the difference ± half its interval."""
        return _spread_text(self.delta, (self.high - self.low) / 2, digits, sign)


def _spread_text(number: float, spread: float | None, digits: int, sign: str) -> str:
    return f"{number:{sign},.{digits}f}" + ("" if spread is None else f" ± {spread:,.{digits}f}")


def write_summary(scores: Sequence[Path], *, seeds: Sequence[int], score: str, output: Path) -> list[str]:
    """Summarise one of the `SCORES` ("bleu", "uas") of the `scores.json` of each seed's run, and write it to `output`.

    The file names the data set, system, scale and seeds; `splits` has the mean, standard deviation and values of each
    split's metrics, the main test split first. Returns the means as lines, one per test split.
    """
    runs = [read_json(path) for path in scores]
    for path, run, seed in zip(scores, runs, seeds, strict=True):
        with explain_content(path):
            if run["seed"] != seed:
                run_seed = shortened(str(run["seed"]))
                raise UserError(f"{path} holds the scores of seed {run_seed}, not {seed}: delete it and score again.")
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
        return {**SeedMean.over(numbers)._asdict(), "values": list(values)}
    if any(value != values[0] for value in values):
        raise UserError(f"The {where} differ between seeds ({values}), so they cannot be averaged: score them again.")
    return values[0]


def run_lines(scores: Mapping[str, Any], folder: Path) -> list[str]:
    """Format a run's `scores.json` or `gold.json` as one line per test split; `folder` is the run's folder.

    For example `results/smoke/demo_en2de/pascal/seed1 test: BLEU 12.3, length 0.98, chrF 40.1 (500 sentences)`. On a
    treebank, induced trees have one line per method, baselines included.
    """
    groups = [scores[key] for key in dict.fromkeys([*SCORES, *metric_labels(scores)]) if key in scores]
    lines = []
    for split in tests_of(groups[0]):
        for name, first in _shown_on_a_line(groups[0][split]).items():
            others = [group[split] for group in groups[1:]]
            metrics = [text for scores in (first, *others) for text in _format_metrics(scores)]
            counts = next(iter(scores_by_measure(first).values())) if _is_of_parses(first) else first
            sentences = f"{counts['sentences']:,} sentences{_notes(first)}"
            lines.append(f"{folder} {split}{name}: {', '.join(metrics)} ({sentences})")
    return lines


def summary_lines(summary: Mapping[str, Any], path: Path) -> list[str]:
    """Format a summary over seeds, the file `path`, as one line per test split."""
    seeds, splits = summary["seeds"], summary["splits"]
    seeds_text = f"seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"
    return [
        f"{path} {split}{name}: {', '.join(_format_metrics(scores))} ({seeds_text}{_notes(scores)})"
        for split in tests_of(splits)
        for name, scores in _shown_on_a_line(splits[split]).items()
    ]


def induction_lines(
    predicted: Sequence[Sequence[int]],
    gold: Sequence[Sequence[int]],
    words: Sequence[Sequence[str]],
    upos: Sequence[Sequence[str] | None],
) -> list[str]:
    """Summarise the accuracy of induced trees and of the baselines on a treebank, one line for each."""
    trees = [gold_tree(*sentence) for sentence in zip(gold, words, upos, strict=True)]
    scores = score_induction(trees, {"induced trees": predicted})
    return [
        f"{name}: {', '.join(_format_metrics(values))} ({values['scored_words']:,} words)"
        for name, values in scores.items()
    ]


def tests_of(splits: Mapping[str, Any]) -> list[str]:
    """Name the test splits: all scored splits but the dev set, however it was translated."""
    return [split for split in splits if split not in (DEV, GREEDY_DEV)]


def _shown_on_a_line(scores: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the scores of a split that have a line of their own, by the text that follows the split's name."""
    if scores.keys() >= BASELINES:
        return {f", {method.replace('_', ' ')}": values for method, values in scores.items()}
    return {"": scores}


def _is_of_parses(scores: Mapping[str, Any]) -> bool:
    """Return whether the scores of a split are those of `score_parses`."""
    return not scores.keys().isdisjoint(("argmax", "spanning_tree"))


def _format_metrics(scores: Mapping[str, Any]) -> list[str]:
    """Format the metrics of a split; attachment scores are None if no words were compared."""
    if _is_of_parses(scores):
        return [f"{UAS_LABELS[name]} {_shown(values['uas'])}" for name, values in scores_by_measure(scores).items()]
    metrics = {key: label_of(key) for key in scores if f"{key}_signature" in scores}
    labels = {"bleu": LABELS["bleu"], "length_ratio": "length", **LABELS, **metrics, **MEASURES}
    return [
        f"{name} {_shown(scores[key], 1 + (key == 'length_ratio'))}" for key, name in labels.items() if key in scores
    ]


def _shown(value: Any, digits: int = 1) -> str:
    """Format a number, or a mean over seeds with the standard deviation if there are several."""
    if value is None:
        return "n/a"
    mean = SeedMean(value["mean"], value["stdev"]) if isinstance(value, Mapping) else SeedMean(value)
    return mean.text(digits)


def _notes(scores: Mapping[str, Any]) -> str:
    """Say how many pairs of a test are also in train, and how many translations are empty, if any.

    The summary of a number over seeds is its mean; the number of pairs is the same for all.
    """
    notes = {"in_train": "{:,.6g} of its pairs also in train", "empty_translations": "empty translations: {:,.6g}"}
    numbers = {key: scores.get(key, 0) for key in notes}
    means = {key: number["mean"] if isinstance(number, Mapping) else number for key, number in numbers.items()}
    return "".join(f"; {note.format(means[key])}" for key, note in notes.items() if means[key])
