"""Charts at the width of a paper's column, on any ground: lines, dots with whiskers, bars, and their axes and legend.

A system has one colour everywhere. Systems differ in dashes and shapes, too, so that charts are legible in black and
white. Texts and axes have the colour of the text around them (`currentColor`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from zlib import crc32

from nmtcore.reporting.svg import FIGURE_WIDTH, TEXT_SIZE, Drawing, svg_lines, svg_text, text_width, widest

COLOURS = ("#7f7f7f", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8a5a9e")
"""Colours of systems; the first is the baselines'."""

DASHES = ("", "6 3", "2 2", "8 3 2 3", "12 4", "4 2 1 2 1 2", "1 4", "10 2 4 2")
"""Dashes of systems' lines."""

SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-3.5-3.5h7v7h-7z", "M0-4.5l4.5 8h-9z", "M0-5l4.5 5l-4.5 5l-4.5-5z",
    "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z", "M0 4.5l4.5-8h-9z", "M4.5 0l-8 4.5v-9z", "M-4.5 0l8 4.5v-9z",
)  # fmt: skip
"""Marks of systems."""

MARKED = 20
"""Points of a line up to which each is marked."""

_LEFT, _RIGHT, _PLOT = 44, 10, 138
"""Margins and height of a panel of lines, in pixels."""


class SystemLooks(NamedTuple):
    """How a system is drawn."""

    colour: str
    dashes: str
    shape: str

    def stroke(self, width: float) -> str:
        """Return the attributes of a line of SVG."""
        dashes = f' stroke-dasharray="{self.dashes}"' if self.dashes else ""
        return f'fill="none" stroke="{self.colour}" stroke-width="{width:g}"{dashes}'

    def whisker(self, path: str) -> str:
        """Draw the line of an interval."""
        return f'<path d="{path}" stroke="{self.colour}" stroke-width="1.2"/>'

    def mark(self, x: float, y: float, *, hollow: bool = False) -> str:
        """Draw the system's mark."""
        fill = "none" if hollow else self.colour
        place = f'transform="translate({x:.1f} {y:.1f}) scale(.8)"'
        return f'<path {place} d="{self.shape}" fill="{fill}" stroke="{self.colour}" stroke-width="1.2"/>'


def system_looks(systems: Sequence[str]) -> dict[str, SystemLooks]:
    """Return how each system is drawn: by its name, so that it is the same in all charts.

    Baselines, whose names end in `base`, are grey. Systems of a chart whose looks would be the same get others.
    """
    looks: dict[str, SystemLooks] = {}
    for system in dict.fromkeys(systems):
        name = system.rstrip("0123456789")
        # A layer's number at the end of the name is added, so that layers differ.
        first = (crc32(name.encode("utf-8")) + int(system[len(name) :] or 0)) % (len(COLOURS) - 1)
        others = [(first + step) % (len(COLOURS) - 1) + 1 for step in range(len(COLOURS) - 1)]
        used = {own.colour for own in looks.values()}
        number = 0 if system.endswith("base") else next((n for n in others if COLOURS[n] not in used), first + 1)
        looks[system] = SystemLooks(COLOURS[number], DASHES[number], SHAPES[number])
    return looks


class Scale(NamedTuple):
    """Maps values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def scale_of(values: Sequence[float], start: float, end: float) -> Scale:
    """Make a scale that has all values, and a margin around them."""
    low, high = min(values), max(values)
    margin = (high - low) * 0.04 or abs(high) * 0.1 or 1.0
    return Scale(low - margin, high + margin, start, end)


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


def axes(
    x_ticks: Mapping[float, str], y_ticks: Mapping[float, str], *, left: float, right: float, top: float, bottom: float
) -> list[str]:
    """Draw the axes of a box, with ticks and their labels at pixels."""
    marks = "".join([f"M{x:.1f} {bottom}v4" for x in x_ticks] + [f"M{left} {y:.1f}h-4" for y in y_ticks])
    path = f"M{left} {top}V{bottom}H{right}{marks}"
    return [
        f'<path fill="none" stroke="currentColor" stroke-width=".8" d="{path}"/>',
        *(svg_text(x, bottom + 14, label, anchor="middle") for x, label in x_ticks.items()),
        *(svg_text(left - 7, y + 3.5, label, anchor="end") for y, label in y_ticks.items()),
    ]


def legend(samples: Mapping[str, str]) -> Drawing:
    """Name what is drawn: a sample, which is 22 pixels wide and begins at (0, -4), before each name."""
    elements, x, y = [], 4.0, 12.0
    for name, sample in samples.items():
        width = text_width(name) + 34
        if x > 4 and x + width > FIGURE_WIDTH:
            x, y = 4.0, y + TEXT_SIZE + 4
        elements += [f'<g transform="translate({x:.0f} {y:.0f})">{sample}</g>', svg_text(x + 26, y, name)]
        x += width
    return Drawing(elements, FIGURE_WIDTH, y + 8)


def systems_legend(looks: Mapping[str, SystemLooks]) -> Drawing:
    """Name the systems of a chart beside their lines and marks."""
    return legend({name: f'<path d="M0-4h22" {own.stroke(2)}/>{own.mark(11, -4)}' for name, own in looks.items()})


class Point(NamedTuple):
    """A value at a place of an axis, its interval, and whether it is of few sentences and so drawn hollow."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    hollow: bool = False


class Line(NamedTuple):
    """Points of a system that are joined: its main line, or a thin one, as of a single seed."""

    looks: SystemLooks
    points: Sequence[Point]
    thin: bool = False


def lines_panel(
    lines: Sequence[Line],
    *,
    title: Sequence[str],
    x_title: str,
    names: Sequence[str] | None = None,
    shown: tuple[Callable[[float], str], Callable[[float], str]] = ("{:,.0f}".format, "{:.6g}".format),
) -> Drawing:
    """Draw lines in a panel, with marks on those with few points.

    Args:
        lines: with at least one point together.
        title: lines of text above the panel: what the y axis shows.
        x_title: what the x axis shows.
        names: names of the places 0, 1... of the x axis; by default it has numbers.
        shown: how to write the numbers of both axes.
    """
    points = [point for line in lines for point in line.points]
    top = 13 * len(title) + 8
    bottom, right = top + _PLOT, FIGURE_WIDTH - _RIGHT
    x = scale_of([point.x for point in points], _LEFT, right)
    y = scale_of([own for p in points for own in (p.y, p.low, p.high) if own is not None], bottom, top)
    x_ticks = {} if names else {x(own): shown[0](own) for own in ticks(x.low, x.high, whole=True)}
    elements = svg_lines(4, title)
    elements += axes(
        x_ticks,
        {y(own): shown[1](own) for own in ticks(y.low, y.high)},
        left=_LEFT,
        right=right,
        top=top,
        bottom=bottom,
    )
    for place, name in enumerate(names or ()):
        elements.append(svg_text(x(place) + 4, bottom + 6, name, anchor="end", upwards=True))
    height = bottom + (widest(names) + 24 if names else 32)
    elements.append(svg_text(right, height - 4, x_title, anchor="end"))
    for looks, own, thin in lines:
        if len(own) > 1:
            joined = " ".join(f"{x(point.x):.0f},{y(point.y):.0f}" for point in own)
            elements.append(f'<polyline points="{joined}" {looks.stroke(0.7 if thin else 2)}/>')
        for point in own:
            if point.low is not None and point.high is not None:
                elements.append(looks.whisker(f"M{x(point.x):.1f} {y(point.low):.1f}V{y(point.high):.1f}"))
            if len(own) == 1 or (not thin and len(own) <= MARKED):
                elements.append(looks.mark(x(point.x), y(point.y), hollow=point.hollow))
    return Drawing(elements, FIGURE_WIDTH, height)


class Row(NamedTuple):
    """A number of a group of rows, by one system or source: a dot with whiskers, or a bar with a label beside it."""

    group: str
    looks: SystemLooks
    value: float
    low: float | None = None
    high: float | None = None
    hollow: bool = False
    label: str = ""


def rows_panel(rows: Sequence[Row], *, title: Sequence[str], bars: bool = False) -> Drawing:
    """Draw numbers from left to right, in groups below one another; dots are compared with 0, bars begin there."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    left, top = min(widest(groups) + 14, 0.6 * FIGURE_WIDTH), 13 * len(title) + 8
    right = FIGURE_WIDTH - max(_RIGHT, widest(row.label for row in rows) + 6)
    values = [own for row in rows for own in (0.0, row.value, row.low, row.high) if own is not None]
    x = scale_of(values, left, right)
    step, middles, y, drawn = 13 if bars else 11, {}, float(top) + 4, []
    for group, own in groups.items():
        middles[y + step * len(own) / 2] = group
        for row in own:
            middle = y + step / 2
            if bars:
                box = f'x="{x(0):.1f}" y="{y + 1:.1f}" width="{x(row.value) - x(0):.1f}" height="{step - 2}"'
                drawn.append(
                    f'<rect {box} fill="{"none" if row.hollow else row.looks.colour}" stroke="currentColor" '
                    'stroke-width=".8"/>'
                )
                drawn.append(svg_text(x(row.value) + 4, middle + 4, row.label))
            else:
                if row.low is not None and row.high is not None:
                    drawn.append(row.looks.whisker(f"M{x(row.low):.1f} {middle:.1f}H{x(row.high):.1f}"))
                drawn.append(row.looks.mark(x(row.value), middle, hollow=row.hollow))
            y += step
        y += 5
    x_ticks = {x(own): f"{own:.6g}" for own in ticks(x.low, x.high)}
    elements = svg_lines(4, title)
    elements += axes(x_ticks, middles, left=left, right=right, top=top, bottom=y)
    elements.append(f'<path d="M{x(0):.1f} {top}V{y:g}" stroke="#7f7f7f"/>')
    return Drawing([*elements, *drawn], FIGURE_WIDTH, y + 24)


def interval_title(points: Sequence[Mapping[str, Any]]) -> str:
    """Say in the title of an axis what kind of interval points have; `one_seed`: training noise is unknown."""
    return "95 % interval" + (" without training noise" if any(point["one_seed"] for point in points) else "")
