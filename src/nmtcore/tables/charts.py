"""What charts by matplotlib have in common; each is a `Figure` as wide as a column of a paper.

A system has one colour everywhere, and baselines are grey. Systems differ in marks, too, so that charts are legible in
black and white. `write_chart` writes SVG and PDF: the same bytes for the same numbers.
"""

import io
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from nmtcore.drawing.svg import DARK_STYLE, FIGURE_WIDTH, embedded_svg
from nmtcore.files import atomic_path, write_text
from nmtcore.tables.render import printed

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

STYLE = "nmtcore.tables.paper"
"""The style sheet of all charts, as `matplotlib.style.use` takes it."""

WIDTH = FIGURE_WIDTH / 96
"""Width of a figure in inches."""

COLOURS = ("#7f7f7f", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8a5a9e")
"""Colours of systems; the first is the baselines'."""

MARKERS = "os^DPv<>"
"""Marks of systems."""

BLACK = "#000000"
"""The colour of text and axes."""

LINE_HEIGHT = 0.155
"""Height of a line of text, in inches."""


class SystemLooks(NamedTuple):
    """How a system is drawn: arguments of matplotlib."""

    color: str
    marker: str = "o"


def system_looks(systems: Iterable[str]) -> dict[str, SystemLooks]:
    """Return how each system is drawn: by its name, so that it is the same in all charts.

    Baselines, whose names end in `base`, are grey. Systems of a chart whose looks would be the same get others.
    """
    looks: dict[str, SystemLooks] = {}
    for system in dict.fromkeys(systems):
        name = system.rstrip("0123456789")
        # A layer's number at the end of the name is added, so that layers differ.
        first = (crc32(name.encode("utf-8")) + int(system[len(name) :] or 0)) % (len(COLOURS) - 1)
        others = [(first + step) % (len(COLOURS) - 1) + 1 for step in range(len(COLOURS) - 1)]
        used = {appearance.color for appearance in looks.values()}
        number = 0 if system.endswith("base") else next((n for n in others if COLOURS[n] not in used), first + 1)
        looks[system] = SystemLooks(COLOURS[number], MARKERS[number])
    return looks


def styled(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function draw in the house's style."""

    @wraps(draw)
    def drawn(*arguments: Any, **options: Any) -> Any:
        # It reports a home that it cannot write to, and fonts that a machine lacks; neither changes a figure.
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        from matplotlib import style

        with style.context(STYLE):
            return draw(*arguments, **options)

    return drawn


def legend_samples(looks: Mapping[str, SystemLooks]) -> dict[str, Any]:
    """Make the samples of systems for a legend."""
    from matplotlib.lines import Line2D

    return {name: Line2D([], [], **appearance._asdict()) for name, appearance in looks.items()}


def chart_panels(
    heights: Sequence[float], samples: Mapping[str, Any], *, columns: int = 1
) -> tuple["Figure", list["SubFigure"]]:
    """Make a figure of panels with heights in inches, below a legend of some samples."""
    from matplotlib.figure import Figure

    columns = min(columns, len(heights))
    rows = [max(heights[start : start + columns]) for start in range(0, len(heights), columns)]
    figure = Figure(figsize=(columns * WIDTH, sum(rows)), layout="constrained")
    if samples:
        names = list(map(broken, samples))
        names_per_line = columns * (2 if max(map(len, names)) < 18 else 1)
        legend = figure.legend(list(samples.values()), names, loc="outside upper left", ncols=names_per_line)
        figure.set_figheight(sum(rows) + legend.get_window_extent().height / figure.dpi)
    parts = figure.subfigures(len(rows), columns, squeeze=False, height_ratios=rows)
    return figure, list(parts.ravel()[: len(heights)])


def set_title(part: "SubFigure", title: str) -> None:
    """Write the title of a panel."""
    part.suptitle(wrapped(title), x=0.01, ha="left")


def chart_of_sentence(text: str) -> "Figure":
    """Make a figure of a sentence."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 0.5))
    figure.text(0.01, 0.5, wrapped(text), va="center")
    return figure


def wrapped(text: str) -> str:
    """Divide a text into lines that a figure has room for."""
    return fill(printed(text), 50)


def broken(name: str, most: int = 24) -> str:
    """Break a long name, or its label, into lines, behind `_`, `/`, a comma or a space where it has some."""
    lines = [""]
    for piece in re.findall(rf"[^_/, ]{{0,{most - 1}}}(?:[_/, ]+|[^_/, ]|$)", printed(name)):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > most:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def laid_out(figure: "Figure") -> "Figure":
    """Place everything while the style holds, which matplotlib asks for the marks of axes only now."""
    figure.draw_without_rendering()
    return figure


def write_chart(figure: "Figure", path: Path, *, title: str) -> None:
    """Write a chart as SVG, and as PDF beside it; `title` is for those who cannot see the SVG."""
    write_text(path, chart_svg(figure, title=title))
    with atomic_path(path.with_suffix(".pdf")) as pdf:
        _save(figure, pdf, format="pdf", metadata={"CreationDate": None})


def chart_svg(figure: "Figure", *, title: str, embedded: bool = False) -> str:
    """Return a chart as SVG: a file of its own, bright where pages are dark, or a part of an HTML page."""
    from matplotlib import rc_context

    text = io.StringIO()
    # All ids that something refers to are checksums of what they name and of the title: there is one of each on a page.
    with rc_context({"svg.hashsalt": title}):
        _save(figure, text, format="svg", metadata={"Title": title, "Date": None})
    svg = text.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    svg = re.sub(r"<style.*?</style>", DARK_STYLE, svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg).replace(BLACK, "currentColor")
    svg = svg.replace("<svg ", '<svg fill="currentColor" stroke-linejoin="round" role="img" ', 1)
    return embedded_svg(svg) if embedded else svg


@styled
def _save(figure: "Figure", target: Any, **options: Any) -> None:
    figure.savefig(target, **options)
