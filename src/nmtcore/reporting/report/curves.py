"""The curves of a system's runs as a small SVG: a panel per metric, with axes, in the colour of the text."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nmtcore.reporting.curves_figure import curve_points
from nmtcore.reporting.curves_page import AXES
from nmtcore.reporting.svg import svg_text, text_width

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
    """Draw the curves of an entry of `folder_curves`, thin lines for seeds and a thick one for their mean."""
    from html import escape

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


def ticks(low: float, high: float, *, most: int = 5) -> list[float]:
    """List round numbers, 1, 2 or 5 times a power of ten apart, of which at most `most` lie from `low` to `high`."""
    if not low < high:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    steps = (factor * power for factor in (1, 2, 5, 10, 20))
    step = next(own for own in steps if math.floor(high / own) - math.ceil(low / own) < most)
    return [number * step for number in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _panel(entry: Mapping[str, Any], metric: str) -> str:
    points = list(curve_points(entry, metric))
    x = _scale([point["update"] for point in points], _LEFT, _WIDTH - _RIGHT)
    y = _scale([point["score"] for point in points], _HEIGHT - _BOTTOM, _TOP)
    elements = [svg_text(_LEFT, 14, AXES[metric], size=11), *_axes(x, y)]
    for line in dict.fromkeys(point["line"] for point in points):
        places = " ".join(f"{x(p['update']):.0f},{y(p['score']):.1f}" for p in points if p["line"] == line)
        width = 2 if line == "mean" else 0.7
        elements.append(f'<polyline points="{places}" fill="none" stroke="#000" stroke-width="{width}"/>')
    return "".join(elements)


def _scale(values: Sequence[float], start: float, end: float) -> _Scale:
    low, high = min(values), max(values)
    margin = (high - low) * 0.04 or abs(high) * 0.1 or 1.0
    return _Scale(low - margin, high + margin, start, end)


def _axes(x: _Scale, y: _Scale) -> list[str]:
    """Draw the axes with their ticks; updates are on the x axis."""
    bottom = _HEIGHT - _BOTTOM
    elements = [
        f'<path fill="none" stroke="#000" stroke-width="0.8" d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - _RIGHT}"/>',
        svg_text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 4, "updates", size=10, anchor="middle"),
    ]
    for value in ticks(x.low, x.high):
        elements.append(f'<path stroke="#000" stroke-width="0.8" d="M{x(value):.1f} {bottom}v4"/>')
        elements.append(svg_text(x(value), bottom + 15, f"{value:,.0f}", size=9, anchor="middle"))
    for value in ticks(y.low, y.high):
        text = f"{value:g}"
        elements.append(f'<path stroke="#000" stroke-width="0.8" d="M{_LEFT} {y(value):.1f}h-4"/>')
        elements.append(
            svg_text(_LEFT - 7, y(value) + 3, text, size=min(9, 9 * 36 / text_width(text, 9)), anchor="end")
        )
    return elements
