"""Charts by matplotlib, each a `Figure` as wide as a column of a paper: what all have in common, and curves.

A system has one colour everywhere, and baselines are grey. Systems differ in marks, too, so that charts are legible in
black and white. `write_chart` writes
SVG and PDF: the same bytes for the same numbers.
"""

import io
import logging
import math
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
    import pandas as pd
    from matplotlib.figure import Figure, SubFigure

STYLE = "nmtcore.tables.paper"
"""The style sheet of all charts, as `matplotlib.style.use` takes it."""

WIDTH = FIGURE_WIDTH / 96
"""Width of a figure in inches."""

COLOURS = ("#7f7f7f", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8a5a9e")
"""Colours of systems; the first is the baselines'."""

MARKERS = "os^DPv<>"
"""Marks of systems."""

MARKED = 20
"""Points of a line up to which each is marked; of longer ones, about as many are."""

AXES = {
    "loss": "training loss per target token",
    "bleu": "dev BLEU in validation",
    "perplexity": "dev perplexity",
    "accuracy": "tag accuracy on dev, %",
}
"""What panels of curves show, by metric."""

BLACK = "#000000"
"""The colour of text and axes."""

CLAIMED, UNCLAIMED = BLACK, "#999999"
"""Colours of heads, or of layers with heads, that a component of the system computes or trains, and of the others."""

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


@styled
def curve_chart(rows: "pd.DataFrame", *, columns: int = 1) -> "Figure":
    """Draw values over updates: a thin line per seed, and a thick one for the mean of the updates that all have.

    `rows` have `dataset`, `system`, `seed`, `metric` (of `AXES`), `update` and `value`, and may have `note`, which
    the title of a panel says, too. There is a panel per data set and metric, `columns` of them beside one another.
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    if rows.empty:
        return chart_of_sentence("No run of these systems is finished.")
    looks = system_looks(rows.system)
    drawn = list(rows.groupby(["dataset", "metric"], sort=False))
    several = rows.dataset.nunique() > 1
    figure, parts = chart_panels([1.9] * len(drawn), legend_samples(looks) if len(looks) > 1 else {}, columns=columns)
    for part, ((dataset, metric), of_panel) in zip(parts, drawn, strict=True):
        ax = part.subplots()
        for system, of_system in of_panel.groupby("system", sort=False):
            # Training that was continued may have an update twice.
            seeds = of_system.pivot_table("value", index="update", columns="seed", aggfunc="last")
            mean = seeds.mean(axis=1, skipna=False).dropna()
            for _, seed in seeds.items() if len(seeds.columns) > 1 else ():
                points = seed.dropna()
                ax.plot(
                    points.index, points, "o-" if len(points) == 1 else "-", color=looks[system].color, linewidth=0.5
                )
            ax.plot(mean.index, mean, **looks[system]._asdict(), markersize=3, markevery=len(mean) // MARKED + 1)
        ax.xaxis.set_major_locator(MaxNLocator(3, integer=True, min_n_ticks=1))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        ax.set_xlabel("updates", loc="right")
        note = of_panel.note.iloc[0] if "note" in of_panel else ""
        set_title(part, ", ".join(filter(None, (AXES[metric], note, dataset if several else ""))))
    return laid_out(figure)


@styled
def sharpness_chart(rows: "pd.DataFrame", nothing: str = "", *, columns: int = 4) -> "Figure":
    """Draw histograms of attention weights, `columns` of them beside one another below each title.

    `rows` have a bin each: `title`, `name` and `claimed` of its histogram, `low`, where it begins (the last one ends at
    1), and `share`, the percentage of all weights in it. Without rows, the figure is the sentence `nothing`.
    """
    if rows.empty:
        return chart_of_sentence(nothing)
    titles = {
        title: list(of_title.groupby("name", sort=False)) for title, of_title in rows.groupby("title", sort=False)
    }
    counts = [math.ceil(len(histograms) / columns) for histograms in titles.values()]
    figure, parts = chart_panels([0.25 + 0.85 * count for count in counts], {})
    for part, count, (title, histograms) in zip(parts, counts, titles.items(), strict=True):
        grid = part.subplots(count, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for ax, (name, bins) in zip(grid, histograms, strict=False):
            colour = CLAIMED if bins.claimed.iloc[0] else UNCLAIMED
            ax.stairs(bins.share, [*bins.low, 1], fill=True, color=colour)
            ax.set(xlim=(bins.low.iloc[0], 1), ylim=(0, 1.05 * rows.share.max()), xticks=[0.5, 1.0])
            ax.set_title(name, loc="left")
        for ax in grid[len(histograms) :]:
            ax.set_visible(False)
        set_title(part, title)
    return laid_out(figure)


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
