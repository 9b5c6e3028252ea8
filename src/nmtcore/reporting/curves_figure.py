"""Curves of training and validation over updates: what the logs of runs say, and their drawing."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.errors import LineError, UserError
from nmtcore.layout import Layout
from nmtcore.reporting.charts import Line, Point, SystemLooks, lines_panel, system_looks, systems_legend
from nmtcore.reporting.svg import Drawing, arranged, titled_svg, write_drawings
from nmtcore.training.log import TRANSLATION_LOSS, read_history

AXES = {
    "loss": "training loss per target token",
    "bleu": "dev BLEU in validation",
    "perplexity": "dev perplexity",
    "accuracy": "tag accuracy on dev, %",
}
"""The panels of a data set and their axes, where a run has such values; perplexity only where a system has no BLEU."""

METRICS = ("bleu", "perplexity")
"""The scores of validations."""

POINTS = 40
"""Points of a loss curve; each is the mean of several lines of the log if there are more."""


def curve_entries(histories: Sequence[Path], layout: Layout) -> list[dict[str, Any]]:
    """List the validation scores of each system (`system_curves`).

    Raises `UserError` if a log has no validation with a perplexity.
    """
    runs: dict[tuple[str, str], dict[int, Path]] = {}
    for path in histories:
        names = layout.names(path, "history")
        runs.setdefault((names["dataset"], names["system"]), {})[int(names["seed"])] = path
    entries = [system_curves(*names, paths) for names, paths in runs.items()]
    for entry, paths in zip(entries, runs.values(), strict=True):
        for seed, path in paths.items():
            if str(seed) not in entry["curves"].get("perplexity", {}):
                raise UserError(
                    f"{path} records no validation, so there is no curve to draw: delete it and train again."
                )
        entry["curves"] = {metric: own for metric, own in entry["curves"].items() if metric in METRICS}
    return entries


def system_curves(dataset: str, system: str, histories: Mapping[int, Path], *, points: int = POINTS) -> dict[str, Any]:
    """Read the curves of a system from the log of each seed, of the loss at most `points`.

    `curves` has, by metric and seed, pairs of an update and a value; a metric has the curves of the seeds that have it.
    """
    values = {seed: _values(path) for seed, path in histories.items()}
    size = math.ceil(max(len(own["loss"]) for own in values.values()) / points) or 1
    for own in values.values():
        # Means of as many lines, at the update of the last one, so that seeds keep the same updates.
        pieces = [own["loss"][start : start + size] for start in range(0, len(own["loss"]), size)]
        own["loss"] = [(piece[-1][0], fmean(value for _, value in piece)) for piece in pieces]
    curves = {metric: {str(seed): own[metric] for seed, own in values.items() if own[metric]} for metric in AXES}
    drawn = {metric: own for metric, own in curves.items() if own}
    return {"dataset": dataset, "system": system, "seeds": list(histories), "curves": drawn}


def _values(history: Path) -> dict[str, list[tuple[int, float]]]:
    """Read the points of each metric from a log; values that were not finite are left out."""
    values: dict[str, list[tuple[int, float]]] = {metric: [] for metric in AXES}
    for number, record in enumerate(read_history(history), start=1):
        update, scores = record.get("update"), record.get("validation", {})
        if not isinstance(update, int) or not isinstance(scores, dict):
            raise LineError(history, number, "this is no line of a training log: delete the file and train again.")
        accuracies = [own for name, own in scores.items() if name.startswith("accuracy/") and own is not None]
        own = {
            "loss": None if scores else record.get(TRANSLATION_LOSS),
            **{metric: scores.get(metric) for metric in METRICS},
            "accuracy": 100 * fmean(accuracies) if accuracies else None,
        }
        for metric, value in own.items():
            if isinstance(value, int | float):
                values[metric].append((update, value))
    return values


def drawn_metrics(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the scores to draw of systems with validations: BLEU and, if a system has none, the perplexity of all."""
    with_bleu = ["bleu" in entry["curves"] for entry in entries]
    return [*["bleu"] * any(with_bleu), *["perplexity"] * (not all(with_bleu))]


def curve_lines(curves: Mapping[str, Sequence[tuple[int, float]]], looks: SystemLooks) -> Iterator[Line]:
    """Yield a thin line for each of several seeds, and one for their mean over the updates that all of them have."""
    seeds = [dict(map(tuple, points)) for points in curves.values()]
    if len(seeds) > 1:
        yield from (Line(looks, [Point(*point) for point in seed.items()], thin=True) for seed in seeds)
    updates = sorted(set.intersection(*map(set, seeds)))
    yield Line(looks, [Point(update, fmean(seed[update] for seed in seeds)) for update in updates])


def curves_drawings(
    entries: Sequence[Mapping[str, Any]], *, notes: Mapping[str, str] | None = None, columns: int = 1
) -> list[Drawing]:
    """Draw curves: a panel per data set and metric, with `columns` of them beside one another, below a legend.

    `notes` says what the axis of dev BLEU says in addition, by data set.
    """
    looks = system_looks([entry["system"] for entry in entries])
    datasets, panels = list(dict.fromkeys(entry["dataset"] for entry in entries)), []
    for dataset in datasets:
        own = [entry for entry in entries if entry["dataset"] == dataset]
        scores = drawn_metrics([entry for entry in own if entry["curves"].keys() & set(METRICS)])
        for metric in AXES:
            shown = [entry for entry in own if metric in entry["curves"] and metric in (*scores, "loss", "accuracy")]
            lines = [line for entry in shown for line in curve_lines(entry["curves"][metric], looks[entry["system"]])]
            if lines:
                note = (notes or {}).get(dataset, "") if metric == "bleu" else ""
                name = ", ".join(filter(None, (AXES[metric], note, dataset if len(datasets) > 1 else "")))
                panels.append(lines_panel(lines, title=[name], x_title="updates"))
    return [*[systems_legend(looks)] * (len(looks) > 1), arranged(panels, columns)]


def curves_svg(entries: Sequence[Mapping[str, Any]], *, title: str) -> str:
    """Draw curves as a part of a page, with panels beside one another."""
    return titled_svg(title, curves_drawings(entries, columns=3), embedded=True)


def draw_curves(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw the `entries` of `curve_entries`; `beams` are the sizes of the beams of validation, by data set."""
    if not data["entries"]:
        write_drawings(figure, [], title=title, sentences=["No run of these systems is finished."])
        return
    searches = {
        dataset: "greedy search" if list(own) == [1] else f"beam of {' or '.join(map(str, own))}"
        for dataset, own in data["beams"].items()
    }
    write_drawings(figure, curves_drawings(data["entries"], notes=searches), title=title)
