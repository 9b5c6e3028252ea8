"""Charts as SVG by Altair, legible in black and white: systems differ in dashes and shapes, not only in colour."""

import io
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.files import write_text
from nmtcore.reporting.svg import svg_document, svg_text

if TYPE_CHECKING:
    import altair

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f")
"""Colours of systems, in their order; they repeat."""

DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (12, 4), (4, 2, 1, 2, 1, 2), (1, 4), (10, 2, 4, 2))
"""Dashes of systems' lines (drawn, left out, ...), in their order; they repeat."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
"""Marks of systems, in their order; they repeat."""

TITLE_CHARACTERS = 90
"""Longest line of a title."""


def system_scale(systems: Sequence[str], values: Sequence[Any]) -> "altair.Scale":
    """Give each system one of `COLOURS`, `DASHES` or `SHAPES`, by its position."""
    import altair as alt

    chosen = [values[position % len(values)] for position in range(len(systems))]
    return alt.Scale(
        domain=list(systems), range=[list(value) if isinstance(value, tuple) else value for value in chosen]
    )


def wrapped_title(text: str) -> "altair.Title":
    """Make a title of a sentence or more, in lines of at most `TITLE_CHARACTERS`."""
    import altair as alt

    return alt.Title(textwrap.wrap(text, TITLE_CHARACTERS), anchor="start", fontWeight="normal", offset=12)


def interval_title(points: Sequence[Mapping[str, Any]]) -> str:
    """Say in the title of an axis what kind of interval points have; `one_seed`: training noise is unknown."""
    return "95 % interval" + (" without training noise" if any(point["one_seed"] for point in points) else "")


def draw_nothing(path: Path, *, title: str, reason: str) -> None:
    """Write a figure that only says why there is nothing to draw."""
    lines = [*textwrap.wrap(title, TITLE_CHARACTERS), "", *textwrap.wrap(reason, TITLE_CHARACTERS)]
    texts = [svg_text(10, 20 + 16 * row, line) for row, line in enumerate(lines)]
    write_text(path, svg_document(640, 20 + 16 * len(lines), texts, title=title))


def write_svg(chart: "altair.TopLevelMixin", path: Path) -> None:
    """Draw a chart as SVG, without a display, a browser or a network."""
    write_text(path, chart_svg(chart) + "\n")


def chart_svg(chart: "altair.TopLevelMixin") -> str:
    """Draw a chart and return the SVG."""
    drawing = io.StringIO()
    # The texts for screen readers would be most of the file, and have one description per mark.
    plain = chart.configure(aria=False).configure_axis(labelLimit=400, titleLimit=600).configure_legend(labelLimit=400)
    plain.save(drawing, format="svg")
    return drawing.getvalue()


def write_empty_chart(reason: str, path: Path, *, title: str) -> None:
    """Draw only a title and the reason why there is nothing else to draw."""
    import altair as alt

    empty = alt.Chart(alt.InlineData(values=[{}])).mark_text(text=reason, fontSize=12)
    write_svg(empty.properties(title=wrapped_title(title), width=480, height=60), path)
