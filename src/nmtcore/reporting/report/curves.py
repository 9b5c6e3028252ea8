"""The curves of a system's runs as a small SVG: a panel per metric, with axes, in the colour of the text."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from nmtcore.reporting.curves_figure import curve_points
from nmtcore.reporting.curves_page import AXES

POINTS = 60
"""Points of a curve of the training loss."""

_WIDTH, _HEIGHT = 330, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 24, 34


class _Scale(NamedTuple):
    """Maps values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def curves_svg(entry: Mapping[str, Any], *, title: str) -> str:
    """Draw the curves of an entry of `folder_curves`, thin lines for seeds and a thick one for their mean.

    The colour of lines and text is left to the page's style.
    """
    metrics = [metric for metric in AXES if metric in entry["curves"]]
    if "bleu" in metrics and "perplexity" in metrics:
        metrics.remove("perplexity")
    panels = [
        f'<g transform="translate({number * _WIDTH} 0)">{_panel(entry, metric)}</g>'
        for number, metric in enumerate(metrics)
    ]
    width = _WIDTH * len(metrics)
    return (
        f'<svg class="curves" viewBox="0 0 {width} {_HEIGHT}" width="{width}" height="{_HEIGHT}" role="img">'
        f"<title>{escape(title)}</title>{''.join(panels)}</svg>"
    )


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


def _panel(entry: Mapping[str, Any], metric: str) -> str:
    points = list(curve_points(entry, metric))
    x = _scale([point["update"] for point in points], _LEFT, _WIDTH - _RIGHT)
    y = _scale([point["score"] for point in points], _HEIGHT - _BOTTOM, _TOP)
    elements = [f'<text x="{_LEFT}" y="14" font-size="11">{AXES[metric]}</text>', _axes(x, y)]
    for line in dict.fromkeys(point["line"] for point in points):
        places = [(f"{x(p['update']):.0f}", f"{y(p['score']):.0f}") for p in points if p["line"] == line]
        width = 2 if line == "mean" else 0.7
        if len(places) == 1:  # a line of one point is not drawn
            ((across, down),) = places
            elements.append(f'<circle cx="{across}" cy="{down}" r="{1 + width}"/>')
        else:
            line_points = " ".join(map(",".join, places))
            elements.append(f'<polyline points="{line_points}" stroke-width="{width}"/>')
    return "".join(elements)


def _scale(values: Sequence[float], start: float, end: float) -> _Scale:
    low, high = min(values), max(values)
    margin = (high - low) * 0.04 or abs(high) * 0.1 or 1.0
    return _Scale(low - margin, high + margin, start, end)


def _axes(x: _Scale, y: _Scale) -> str:
    """Draw the axes with their ticks; updates are on the x axis."""
    bottom = _HEIGHT - _BOTTOM
    updates, values = ticks(x.low, x.high, whole=True), ticks(y.low, y.high)
    lines = "".join([f"M{x(own):.0f} {bottom}v4" for own in updates] + [f"M{_LEFT} {y(own):.0f}h-4" for own in values])
    column_labels = "".join(f'<text x="{x(own):.0f}" y="{bottom + 15}">{own:,.0f}</text>' for own in updates)
    row_labels = "".join(f'<text x="{_LEFT - 7}" y="{y(own) + 3:.0f}">{own:.6g}</text>' for own in values)
    return (
        f'<path stroke-width=".8" d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}{lines}"/>'
        f'<g font-size="9"><g text-anchor="middle">{column_labels}'
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:.0f}" y="{_HEIGHT - 4}">updates</text></g>'
        f'<g text-anchor="end">{row_labels}</g></g>'
    )
