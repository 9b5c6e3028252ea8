"""Scores as lines of text for the terminal, one per test split."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def run_lines(scores: Mapping[str, Any], folder: Path) -> list[str]:
    """Format a run's `scores.json` or `gold.json` as one line per test split; `folder` is the run's folder.

    For example `results/smoke/demo_en2de/depparse_l1/seed1 test: BLEU 12.3, chrF 40.1, UAS 86.5 (500 sentences)`. UAS
    is that of the argmax.
    """
    groups = [scores[key] for key in ("bleu", "uas", "gold.uas") if key in scores]
    lines = []
    for split in tests_of(groups[0]):
        metrics = [text for group in groups for text in _format_metrics(group[split], "{:.1f}".format)]
        counts = groups[0][split].get("argmax", groups[0][split])
        lines.append(f"{folder} {split}: {', '.join(metrics)} ({counts['sentences']:,} sentences)")
    return lines


def summary_lines(summary: Mapping[str, Any], path: Path) -> list[str]:
    """Format a summary over seeds, the file `path`, as one line per test split."""
    seeds, splits = summary["seeds"], summary["splits"]
    seeds_text = f"seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"
    return [
        f"{path} {split}: {', '.join(_format_metrics(splits[split], spread))} ({seeds_text})"
        for split in tests_of(splits)
    ]


def spread(value: Mapping[str, Any]) -> str:
    """Format a mean over seeds, with the standard deviation if there are several."""
    return f"{value['mean']:.1f}" + ("" if value["stdev"] is None else f" ± {value['stdev']:.1f}")


def tests_of(splits: Mapping[str, Any]) -> list[str]:
    """Name the test splits: all scored splits but the dev set."""
    return [split for split in splits if split != "dev"]


def _format_metrics(scores: Mapping[str, Any], format_value: Callable[[Any], str]) -> list[str]:
    """Format the metrics of a split; UAS is None if no words were compared."""
    values = {"BLEU": scores["bleu"], "chrF": scores["chrf"]} if "bleu" in scores else {"UAS": scores["argmax"]["uas"]}
    return [f"{name} {'n/a' if value is None else format_value(value)}" for name, value in values.items()]
