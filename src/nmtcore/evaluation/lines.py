"""Scores as lines for a terminal: one per test split."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def run_lines(scores: Mapping[str, Any], folder: Path) -> list[str]:
    """Write one line per test split of what a run's `scores.json` or `gold.json` holds; `folder` is the run's.

    For example `results/smoke/demo_en2de/depparse_l1/seed1 test: BLEU 12.3, chrF 40.1, UAS 86.5 (500 sentences)`.
    UAS is that of the argmax.
    """
    kinds = [scores[kind] for kind in ("bleu", "uas", "gold.uas") if kind in scores]
    lines = []
    for split in tests_of(kinds[0]):
        told = [text for kind in kinds for text in _told(kind[split], "{:.1f}".format)]
        counted = kinds[0][split].get("argmax", kinds[0][split])
        lines.append(f"{folder} {split}: {', '.join(told)} ({counted['sentences']:,} sentences)")
    return lines


def summary_lines(summary: Mapping[str, Any], path: Path) -> list[str]:
    """Write one line per test split of a summary over seeds, which is the file `path`."""
    seeds, splits = summary["seeds"], summary["splits"]
    named = f"seed{'' if len(seeds) == 1 else 's'} {', '.join(map(str, seeds))}"
    return [f"{path} {split}: {', '.join(_told(splits[split], spread))} ({named})" for split in tests_of(splits)]


def spread(value: Mapping[str, Any]) -> str:
    """Write a mean over seeds, and the standard deviation where there are several."""
    return f"{value['mean']:.1f}" + ("" if value["stdev"] is None else f" ± {value['stdev']:.1f}")


def tests_of(splits: Mapping[str, Any]) -> list[str]:
    """Name the splits that are tests: what is scored, but for the development set."""
    return [split for split in splits if split != "dev"]


def _told(scores: Mapping[str, Any], written: Callable[[Any], str]) -> list[str]:
    """Write the metrics that a split's scores have; UAS is None where no word was compared."""
    values = {"BLEU": scores["bleu"], "chrF": scores["chrf"]} if "bleu" in scores else {"UAS": scores["argmax"]["uas"]}
    return [f"{name} {'of nothing' if value is None else written(value)}" for name, value in values.items()]
