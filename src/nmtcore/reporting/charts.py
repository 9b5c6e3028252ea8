"""Charts as SVG and PDF, at the width of a paper's column, on any ground; a system has one colour everywhere.

Systems differ in dashes and shapes, too, so that charts are legible in black and white. Texts and axes have the colour
of the text around them (`currentColor`). vl-convert makes PDF of charts and of drawings by hand alike.
"""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from nmtcore.files import atomic_path, write_text
from nmtcore.reporting.svg import DARK_STYLE, Drawing, drawing_svg, svg_text, widest

if TYPE_CHECKING:
    import altair

FIGURE_WIDTH = 317
"""Pixels of 8.4 cm, a column of a paper."""

TEXT_SIZE = 10.7
"""Pixels of 8 points."""

COLOURS = ("#7f7f7f", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8a5a9e")
"""Colours of systems; the first is the baselines'."""

DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (12, 4), (4, 2, 1, 2, 1, 2), (1, 4), (10, 2, 4, 2))
"""Dashes of systems' lines (drawn, left out, ...)."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
"""Marks of systems."""


_NOT_DRAWN = re.compile(
    r' (?:class|aria-[a-z]*|role|pointer-events)="[^"]*"| (?:opacity|stroke-width)="1"|<path[^>]*display="none"[^>]*/>'
)
"""What Vega writes for its own scripts, and defaults: a third of a chart."""


class SystemLooks(NamedTuple):
    """How a system is drawn."""

    colour: str
    dashes: tuple[int, ...]
    shape: str

    def stroke(self, width: float) -> str:
        """Return the attributes of a line of SVG."""
        dashes = "" if self.dashes == DASHES[0] else f' stroke-dasharray="{" ".join(map(str, self.dashes))}"'
        return f'fill="none" stroke="{self.colour}" stroke-width="{width:g}"{dashes}'


def system_looks(systems: Sequence[str]) -> dict[str, SystemLooks]:
    """Return how each system is drawn: by its name, so that it is the same in all charts.

    Baselines, whose names end in `base`, are grey. Systems of a chart whose looks would be the same get others.
    """
    looks: dict[str, SystemLooks] = {}
    for system in dict.fromkeys(systems):
        first = _place(system)
        others = [(first - 1 + step) % (len(COLOURS) - 1) + 1 for step in range(len(COLOURS) - 1)]
        used = {own.colour for own in looks.values()}
        number = 0 if system.endswith("base") else next((n for n in others if COLOURS[n] not in used), first)
        looks[system] = SystemLooks(COLOURS[number], DASHES[number], SHAPES[number])
    return looks


def _place(system: str) -> int:
    """Return a number from 1, by the name without a layer's number at its end, to which that is added."""
    name = system.rstrip("0123456789")
    return (crc32(name.encode("utf-8")) + int(system[len(name) :] or 0)) % (len(COLOURS) - 1) + 1


def system_scale(systems: Sequence[str], values: Sequence[Any]) -> "altair.Scale":
    """Give each system one of `COLOURS`, `DASHES` or `SHAPES`, as `system_looks` does; other values by position."""
    import altair as alt

    names = {COLOURS: "colour", DASHES: "dashes", SHAPES: "shape"}
    looks = system_looks(systems)
    attribute = names.get(tuple(values))
    chosen = [
        getattr(looks[system], attribute) if attribute else values[position % len(values)]
        for position, system in enumerate(systems)
    ]
    return alt.Scale(
        domain=list(systems), range=[list(value) if isinstance(value, tuple) else value for value in chosen]
    )


def plot_width(labels: Sequence[str]) -> int:
    """Return the width of what is drawn beside the labels of an axis, so that a figure is as wide as a column."""
    return max(100, round(FIGURE_WIDTH - 24 - widest(labels, 0.9 * TEXT_SIZE)))


def interval_title(points: Sequence[Mapping[str, Any]]) -> str:
    """Say in the title of an axis what kind of interval points have; `one_seed`: training noise is unknown."""
    return "95 % interval" + (" without training noise" if any(point["one_seed"] for point in points) else "")


def draw_nothing(path: Path, *, title: str, reason: str) -> None:
    """Write a figure that only says why there is nothing to draw."""
    write_drawing(Drawing([svg_text(0, 20, reason, size=TEXT_SIZE)], FIGURE_WIDTH, 30), path, title=title)


def write_drawing(drawing: Drawing, path: Path, *, title: str) -> None:
    """Write a drawing by hand as SVG, and as PDF beside it."""
    _write(drawing_svg(drawing, title=title), path)


def write_svg(chart: "altair.TopLevelMixin", path: Path) -> None:
    """Write a chart as SVG, and as PDF beside it, without a display, a browser or a network."""
    _write(chart_svg(chart) + "\n", path)


def _write(svg: str, path: Path) -> None:
    import vl_convert

    write_text(path, svg)
    with atomic_path(path.with_suffix(".pdf")) as pdf:
        pdf.write_bytes(vl_convert.svg_to_pdf(svg.replace("currentColor", "#000")))


def chart_svg(chart: "altair.TopLevelMixin") -> str:
    """Draw a chart and return the SVG."""
    text, line = {"color": "currentColor", "fontSize": TEXT_SIZE}, "currentColor"
    axis = {"labelColor": line, "titleColor": line, "tickColor": line, "domainColor": line, "gridOpacity": 0.25}
    drawing = io.StringIO()
    # The texts for screen readers would be most of the file, and have one description per mark.
    plain = (
        chart.configure(aria=False, background="transparent", font="sans-serif")
        .configure_axis(**axis, labelLimit=400, titleLimit=600, labelFontSize=TEXT_SIZE, titleFontSize=TEXT_SIZE)
        .configure_legend(
            **{f"{part}{key[0].upper()}{key[1:]}": value for part in ("label", "title") for key, value in text.items()},
            labelLimit=250, orient="top", direction="vertical", title=None,
        )
        .configure_title(**text, anchor="start", fontWeight="normal")
        .configure_header(labelColor=line, labelFontSize=TEXT_SIZE, titleColor=line, titleFontSize=TEXT_SIZE)
        .configure_view(stroke=None)
    )  # fmt: skip
    plain.save(drawing, format="svg")
    svg = re.sub(r"(<svg[^>]*>)", rf"\1{DARK_STYLE}", drawing.getvalue(), count=1)
    return _NOT_DRAWN.sub("", svg)
