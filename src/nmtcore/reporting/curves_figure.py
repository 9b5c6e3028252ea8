"""Curves of training and validation over updates: what the logs of runs say, and the one drawing of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from nmtcore.errors import LineError, UserError
from nmtcore.files import explain_content
from nmtcore.layout import Layout
from nmtcore.reporting.charts import FIGURE_WIDTH, TEXT_SIZE, SystemLooks, system_looks, write_drawing
from nmtcore.reporting.svg import Drawing, drawing_svg, svg_text, text_width
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

MARKED = 20
"""Points of a curve up to which each is marked."""

_HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 190, 44, 10, 20, 32


class _Scale(NamedTuple):
    """Maps values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def draw_validation_curves(
    entries: Sequence[Mapping[str, Any]],
    figure: Path,
    *,
    beams: Mapping[str, Sequence[int]],
    title: str = "Validation scores over updates",
) -> None:
    """Draw the entries of `curve_entries`; `beams` are the sizes of the beams of validation, by data set."""
    searches = {dataset: "greedy search" if list(own) == [1] else f"beam of {' or '.join(map(str, own))}"
                for dataset, own in beams.items()}  # fmt: skip
    write_drawing(curves_drawing(entries, notes=searches), figure, title=title)


def curves_svg(entries: Sequence[Mapping[str, Any]], *, title: str) -> str:
    """Draw curves as a part of a page, with panels beside one another."""
    return drawing_svg(curves_drawing(entries, panels_per_row=3), title=title, embedded=True)


def curves_drawing(
    entries: Sequence[Mapping[str, Any]], *, notes: Mapping[str, str] | None = None, panels_per_row: int = 1
) -> Drawing:
    """Draw curves: a panel per data set and metric with axes, thin lines for seeds and a thick one for their mean.

    Args:
        entries: results of `curve_entries` or `system_curves`.
        notes: what the axis of dev BLEU says in addition, by data set.
        panels_per_row: panels beside one another.
    """
    looks = system_looks([entry["system"] for entry in entries])
    several = len(dict.fromkeys(entry["dataset"] for entry in entries)) > 1
    panels = []
    for dataset in dict.fromkeys(entry["dataset"] for entry in entries):
        own = [entry for entry in entries if entry["dataset"] == dataset]
        scores = drawn_metrics([entry for entry in own if entry["curves"].keys() & set(METRICS)])
        for metric in AXES:
            shown = [
                entry for entry in own if metric in entry["curves"] and (metric in scores or metric not in METRICS)
            ]
            if shown:
                note = (notes or {}).get(dataset, "") if metric == "bleu" else ""
                name = ", ".join(filter(None, (AXES[metric], note, dataset if several else "")))
                panels.append(_panel(shown, metric, looks, name))
    elements, top = _legend(looks) if len(looks) > 1 else ([], 0.0)
    columns = min(panels_per_row, len(panels)) or 1
    for number, panel in enumerate(panels):
        place = f"translate({number % columns * FIGURE_WIDTH} {top + number // columns * _HEIGHT:g})"
        elements.append(f'<g transform="{place}">{panel}</g>')
    return Drawing(elements, columns * FIGURE_WIDTH, top + math.ceil(len(panels) / columns) * _HEIGHT)


def system_curves(dataset: str, system: str, histories: Mapping[int, Path], *, points: int = POINTS) -> dict[str, Any]:
    """Read the curves of a system from the log of each seed, of the loss at most `points`.

    A metric has the curves of the seeds that have it.
    """
    values = {seed: _values(path) for seed, path in histories.items()}
    lines = max(len(own["loss"]) for own in values.values())
    size = math.ceil(lines / points) or 1
    for own in values.values():
        own["loss"] = _thinned(own["loss"], size)
    curves = {
        metric: {str(seed): own[metric] for seed, own in values.items() if own[metric]}
        for metric in AXES
        if any(own[metric] for own in values.values())
    }
    return {"dataset": dataset, "system": system, "seeds": list(histories), "curves": curves}


def _values(history: Path) -> dict[str, list[tuple[int, float]]]:
    """Read the points of each metric from a log; values that were not finite are left out."""
    values: dict[str, list[tuple[int, float]]] = {metric: [] for metric in AXES}
    for number, record in enumerate(read_history(history), start=1):
        update = record.get("update")
        if not isinstance(update, int) or not isinstance(record.get("validation", {}), dict):
            raise LineError(history, number, "this is no line of a training log: delete the file and train again.")
        for metric, value in _metrics(record):
            if isinstance(value, int | float):
                values[metric].append((update, value))
    return values


def _metrics(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "validation" not in record:
        yield "loss", record.get(TRANSLATION_LOSS)
        return
    scores = record["validation"]
    yield from ((metric, scores.get(metric)) for metric in ("bleu", "perplexity"))
    accuracies = [value for name, value in scores.items() if name.startswith("accuracy/") and value is not None]
    if accuracies:
        yield "accuracy", 100 * fmean(accuracies)


def _thinned(points: Sequence[tuple[int, float]], size: int) -> list[tuple[int, float]]:
    """Replace each `size` points by their mean, at the last one's update, so that seeds keep the same updates."""
    pieces = [points[start : start + size] for start in range(0, len(points), size)]
    return [(piece[-1][0], fmean(value for _, value in piece)) for piece in pieces]


def drawn_metrics(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the scores to draw of systems with validations: BLEU and, if a system has none, the perplexity of all."""
    with_bleu = ["bleu" in entry["curves"] for entry in entries]
    return [*["bleu"] * any(with_bleu), *["perplexity"] * (not all(with_bleu))]


def curve_entries(histories: Sequence[Path], layout: Layout) -> list[dict[str, Any]]:
    """List the validation scores of each system: `curves` has, by metric and seed, pairs of an update and a score.

    A metric that a seed lacks is left out. Raises `UserError` if a log has no validation with a perplexity.
    """
    runs: dict[tuple[str, str, str], dict[int, list[dict[str, Any]]]] = {}
    for path in histories:
        names = layout.names(path, "history")
        with explain_content(path):
            validations = [record for record in read_history(path) if "perplexity" in record.get("validation", {})]
        if not validations:
            raise UserError(f"{path} records no validation, so there is no curve to draw: delete it and train again.")
        key = (names["scale"], names["dataset"], names["system"])
        runs.setdefault(key, {})[int(names["seed"])] = validations
    return [
        {
            "scale": scale,
            "dataset": dataset,
            "system": system,
            "seeds": list(seeds),
            "curves": {
                metric: {str(seed): _curve(validations, metric) for seed, validations in seeds.items()}
                for metric in METRICS
                if all(metric in record["validation"] for validations in seeds.values() for record in validations)
            },
        }
        for (scale, dataset, system), seeds in runs.items()
    ]


def _curve(validations: Sequence[Mapping[str, Any]], metric: str) -> list[tuple[int, float]]:
    """List the updates and scores; scores that were not finite are left out."""
    points = [(record["update"], record["validation"][metric]) for record in validations]
    return [point for point in points if point[1] is not None]


def curve_points(entry: Mapping[str, Any], metric: str) -> Iterator[dict[str, Any]]:
    """Yield the points of a system's lines: `line` is "mean" or, if there are several seeds, also "seed 1"..."""
    curves = {seed: dict(map(tuple, points)) for seed, points in entry["curves"][metric].items()}
    if len(curves) > 1:
        for seed, curve in curves.items():
            for update, score in curve.items():
                yield {"system": entry["system"], "line": f"seed {seed}", "update": update, "score": score}
    for update in sorted(set.intersection(*map(set, curves.values()))):
        mean = fmean(curve[update] for curve in curves.values())
        yield {"system": entry["system"], "line": "mean", "update": update, "score": mean}


def ticks(low: float, high: float, *, most: int = 5, whole: bool = False) -> list[float]:
    """List round numbers, 1, 2 or 5 times a power of ten apart, of which at most `most` lie from `low` to `high`.

    With `whole`, they are whole numbers; there may be none.
    """
    if not low < high:
        return [low]
    if whole and high - low < most:
        return [float(number) for number in range(math.ceil(low), math.floor(high) + 1)]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    steps = (factor * power for factor in (1, 2, 5, 10, 20))
    step = next(own for own in steps if math.floor(high / own) - math.ceil(low / own) < most)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _legend(looks: Mapping[str, SystemLooks]) -> tuple[list[str], float]:
    """Name the systems beside their lines; return the elements, and the height."""
    elements, x, y = [], 4.0, 12.0
    for system, own in looks.items():
        width = text_width(system, TEXT_SIZE) + 34
        if x > 4 and x + width > FIGURE_WIDTH:
            x, y = 4.0, y + TEXT_SIZE + 4
        elements.append(f'<path d="M{x:.0f} {y - 4:.0f}h22" {own.stroke(2)}/>')
        elements.append(svg_text(x + 26, y, system, size=TEXT_SIZE))
        x += width
    return elements, y + 8


def _panel(entries: Sequence[Mapping[str, Any]], metric: str, looks: Mapping[str, SystemLooks], name: str) -> str:
    """Draw a metric of systems on a data set."""
    points = {entry["system"]: list(curve_points(entry, metric)) for entry in entries}
    together = [point for own in points.values() for point in own]
    x = _scale([point["update"] for point in together], _LEFT, FIGURE_WIDTH - _RIGHT)
    y = _scale([point["score"] for point in together], _HEIGHT - _BOTTOM, _TOP)
    elements = [svg_text(4, 12, name, size=TEXT_SIZE), _axes(x, y)]
    for system, own in points.items():
        for line in dict.fromkeys(point["line"] for point in own):
            places = [(f"{x(p['update']):.0f}", f"{y(p['score']):.0f}") for p in own if p["line"] == line]
            is_mean = line == "mean"
            if len(places) > 1:
                joined = " ".join(map(",".join, places))
                elements.append(f'<polyline points="{joined}" {looks[system].stroke(2 if is_mean else 0.7)}/>')
            if len(places) == 1 or (is_mean and len(places) <= MARKED):
                elements += [
                    f'<circle cx="{across}" cy="{down}" r="{2.4 if is_mean else 1.5}" fill="{looks[system].colour}"/>'
                    for across, down in places
                ]
    return "".join(elements)


def _scale(values: Sequence[float], start: float, end: float) -> _Scale:
    low, high = min(values), max(values)
    margin = (high - low) * 0.04 or abs(high) * 0.1 or 1.0
    return _Scale(low - margin, high + margin, start, end)


def _axes(x: _Scale, y: _Scale) -> str:
    """Draw the axes with their ticks; updates are on the x axis."""
    bottom, right = _HEIGHT - _BOTTOM, FIGURE_WIDTH - _RIGHT
    updates, values = ticks(x.low, x.high, whole=True), ticks(y.low, y.high)
    lines = "".join([f"M{x(own):.1f} {bottom}v4" for own in updates] + [f"M{_LEFT} {y(own):.1f}h-4" for own in values])
    labels = [svg_text(x(own), bottom + 14, f"{own:,.0f}", size=TEXT_SIZE, anchor="middle") for own in updates]
    labels += [svg_text(_LEFT - 7, y(own) + 3.5, f"{own:.6g}", size=TEXT_SIZE, anchor="end") for own in values]
    labels.append(svg_text(right, _HEIGHT - 4, "updates", size=TEXT_SIZE, anchor="end"))
    path = f'<path fill="none" stroke="currentColor" stroke-width=".8" d="M{_LEFT} {_TOP}V{bottom}H{right}{lines}"/>'
    return path + "".join(labels)
