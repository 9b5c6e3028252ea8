"""Charts as SVG by Altair, legible in black and white: systems differ in dashes and shapes, not only in colour."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.files import write_text

if TYPE_CHECKING:
    import altair

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7f7f7f")
"""Colours of systems, in their order; they repeat."""

DASHES = ((1, 0), (6, 3), (2, 2), (8, 3, 2, 3), (12, 4), (4, 2, 1, 2, 1, 2), (1, 4), (10, 2, 4, 2))
"""Dashes of systems' lines (drawn, left out, ...), in their order; they repeat."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
"""Marks of systems, in their order; they repeat."""


def system_scale(systems: Sequence[str], values: Sequence[Any]) -> "altair.Scale":
    """Give each system one of `COLOURS`, `DASHES` or `SHAPES`, by its position."""
    import altair as alt

    chosen = [values[position % len(values)] for position in range(len(systems))]
    return alt.Scale(
        domain=list(systems), range=[list(value) if isinstance(value, tuple) else value for value in chosen]
    )


def write_svg(chart: "altair.TopLevelMixin", path: Path) -> None:
    """Draw a chart as SVG, without a display, a browser or a network."""
    drawing = io.StringIO()
    # The texts for screen readers would be most of the file, and have one description per mark.
    plain = chart.configure(aria=False).configure_axis(labelLimit=400, titleLimit=600).configure_legend(labelLimit=400)
    plain.save(drawing, format="svg")
    write_text(path, drawing.getvalue() + "\n")
