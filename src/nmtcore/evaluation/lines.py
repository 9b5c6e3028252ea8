"""Scores as lines of text for the terminal, one per test split."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nmtcore.evaluation.induction import BASELINES, MEASURES, gold_tree, score_induction
from nmtcore.evaluation.metrics import LABELS, METRICS, metric_labels
from nmtcore.layout import SCORES

DEV = "dev"
"""The name of dev in scores, translated with the beam of the tests."""
GREEDY_DEV = "dev.greedy"
"""The name of dev in scores, translated by greedy search."""


def run_lines(scores: Mapping[str, Any], folder: Path) -> list[str]:
    """Format a run's `scores.json` or `gold.json` as one line per test split; `folder` is the run's folder.

    For example `results/smoke/demo_en2de/pascal/seed1 test: BLEU 12.3, length 0.98, chrF 40.1 (500 sentences)`. UAS is
    that of the argmax. Induced trees have one line per split and method, baselines included.
    """
    groups = [scores[key] for key in dict.fromkeys([*SCORES, *metric_labels(scores)]) if key in scores]
    lines = []
    for split in tests_of(groups[0]):
        for name, first in _shown_on_a_line(groups[0][split]).items():
            others = [group[split] for group in groups[1:]]
            metrics = [text for scores in (first, *others) for text in _format_metrics(scores)]
            counts = first.get("argmax", first)
            lines.append(
                f"{folder} {split}{name}: {', '.join(metrics)} ({counts['sentences']:,} sentences{_in_train(first)})"
            )
    return lines


def summary_lines(summary: Mapping[str, Any], path: Path) -> list[str]:
    """Format a summary over seeds, the file `path`, as one line per test split."""
    seeds, splits = summary["seeds"], summary["splits"]
    seeds_text = f"seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"
    return [
        f"{path} {split}{name}: {', '.join(_format_metrics(scores))} ({seeds_text}{_in_train(scores)})"
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


def _in_train(scores: Mapping[str, Any]) -> str:
    """Say how many pairs of a test are also in train, if any are; a summary has the mean over seeds, all equal."""
    number = scores.get("in_train", 0)
    number = number["mean"] if isinstance(number, Mapping) else number
    return f"; {number:,.0f} of its pairs also in train" if number else ""


def _format_metrics(scores: Mapping[str, Any]) -> list[str]:
    """Format the metrics of a split; attachment scores are None if no words were compared."""
    if "argmax" in scores:
        return [f"UAS {_shown(scores['argmax']['uas'])}"]
    own = {key: METRICS[key].label for key in METRICS if key in scores}
    labels = {"bleu": LABELS["bleu"], "length_ratio": "length", **LABELS, **own, **MEASURES}
    return [
        f"{name} {_shown(scores[key], 1 + (key == 'length_ratio'))}" for key, name in labels.items() if key in scores
    ]


def _shown(value: Any, digits: int = 1) -> str:
    """Format a number, or a mean over seeds with the standard deviation if there are several."""
    if not isinstance(value, Mapping):
        return "n/a" if value is None else f"{value:.{digits}f}"
    return f"{value['mean']:.{digits}f}" + ("" if value["stdev"] is None else f" ± {value['stdev']:.{digits}f}")
