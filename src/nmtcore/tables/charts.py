"""Charts by matplotlib, each a `Figure` as wide as a column of a paper: their style, and dots with intervals.

A system has one colour everywhere, and baselines are grey. Systems differ in marks, too, so that charts are legible in
black and white. `write_chart` writes SVG and PDF: the same bytes for the same numbers.
"""

import io
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from nmtcore.drawing.svg import DARK_STYLE, FIGURE_WIDTH, embedded_svg
from nmtcore.evaluation.subsets import FEW
from nmtcore.files import atomic_path, write_text
from nmtcore.tables.measures import measure_label
from nmtcore.tables.parts import part_gains, test_of
from nmtcore.tables.query import Frame, Row, comparisons_of, rows_by
from nmtcore.tables.render import printed
from nmtcore.tables.sheets import names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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


class Mark(NamedTuple):
    """A dot of a figure of rows, with its interval."""

    group: str
    value: float
    looks: SystemLooks
    interval: tuple[float, float] | None = None
    is_hollow: bool = False


@styled
def difference_figure(frame: Frame) -> "Figure":
    """Draw the differences from baselines as dots with intervals, a panel per test, measure and baseline."""
    rows = []
    for comparison in comparisons_of(frame):
        test = names_of(comparison, "column").rpartition("/")[0].replace("/", " ")
        names = {"name": names_of(comparison, "row"), "baseline": names_of(comparison, "baseline"), "of": test}
        rows.append(comparison[0] | names)
    if not rows:
        return chart_of_sentence("No system of this figure has scores.")
    looks = system_looks([*(row["baseline"] for row in rows), *(row["name"] for row in rows)])
    panels = [
        (title, [Mark(row["name"], row["delta"], looks[row["name"]], _interval(row)) for row in compared])
        for title, compared in _compared(rows)
    ]
    return _rows_figure(panels, {})


@styled
def time_figure(frame: Frame) -> "Figure":
    """Draw the published time, hollow, and ours of each system relative to the baseline's, a panel per data set."""
    table = frame.table
    baseline = table.baselines[0] if table.baselines else table.rows[0].name
    looks = SystemLooks(BLACK)
    panels: dict[str, list[Mark]] = {}
    for row in frame.rows:
        if row["measure"] == "relative_time" and row["baseline"] is None:
            marks = panels.setdefault(f"{row['dataset']}: time relative to {baseline}; hollow: published", [])
            times = [(row["published"], True), (fmean(row["values"]) if row["values"] else None, False)]
            marks += [Mark(row["row"], time, looks, is_hollow=hollow) for time, hollow in times if time is not None]
    drawn = [(title, marks) for title, marks in panels.items() if marks]
    nothing = "No time is published, and no run is finished."
    return _rows_figure(drawn, {}) if drawn else chart_of_sentence(nothing)


@styled
def part_figure(frame: Frame) -> "Figure":
    """Draw the gains on parts of a test as dots with intervals, a panel per test, measure and baseline."""
    gains = [row | {"of": test_of(row)} for row in part_gains(frame) if row["delta"] is not None]
    if not gains:
        return chart_of_sentence("No system of this figure has scores of such parts.")
    looks = system_looks(name for row in gains for name in (row["system"], _published_name(row)) if name)
    panels = []
    for title, rows in _compared(gains):
        dots = []
        for row in rows:
            group = f"{row['row'].replace('_', '/')}: {row['sentences']:,} ({row['share']:.1f}\u00a0%)"
            few = row["sentences"] < FEW
            dots.append(Mark(group, row["delta"], looks[row["system"]], _interval(row), few))
            if name := _published_name(row):
                dots.append(Mark(group, row["published"], looks[name]))
        hollow = f"; hollow: fewer than {FEW} sentences" if any(row["sentences"] < FEW for row in rows) else ""
        panels.append((f"{title}{hollow}", dots))
    return _rows_figure(panels, legend_samples(looks))


def _published_name(row: Row) -> str:
    return "" if row["published"] is None else f"{row['system']}, published"


def _interval(row: Row) -> tuple[float, float] | None:
    return None if row["low"] is None else (row["low"], row["high"])


def _compared(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Divide differences into panels, each with its title; `of` names the test of a row."""
    return [
        (
            f"{measure_label(measure)}, {test}: difference from {baseline}, "
            f"95 % interval{'' if all(row['training_noise'] for row in differences) else ' without training noise'}",
            differences,
        )
        for (test, measure, baseline), differences in rows_by(rows, "of", "measure", "baseline").items()
    ]


def _rows_figure(panels: Sequence[tuple[str, Sequence[Mark]]], samples: Mapping[str, Any]) -> "Figure":
    """Draw panels of numbers from left to right, in groups below one another; each with its title."""
    divided: list[tuple[str, dict[str, list[Mark]], float]] = []
    for title, marks in panels:
        groups: dict[str, list[Mark]] = {}
        for mark in marks:
            groups.setdefault(mark.group, []).append(mark)
        # A group has as many lines as its name or its rows take, and a space.
        lines = max(1 + max(broken(name).count("\n") for name in groups), *map(len, groups.values()))
        divided.append((title, groups, 0.4 + lines))
    heights = [0.5 + LINE_HEIGHT * (wrapped(title).count("\n") + step * len(groups)) for title, groups, step in divided]
    figure, areas = chart_panels(heights, samples)
    for area, (title, groups, step) in zip(areas, divided, strict=True):
        ax, places = area.subplots(), [step * number for number in range(len(groups))]
        for place, marks in zip(places, groups.values(), strict=True):
            for number, mark in enumerate(marks):
                _dot(ax, place + number - (len(marks) - 1) / 2, mark)
        ax.set_yticks(places, list(map(broken, groups)))
        ax.set_ylim(places[-1] + step / 2, -step / 2)
        ax.axvline(0, color=COLOURS[0], linewidth=0.8, zorder=0)
        set_title(area, title)
    return laid_out(figure)


def _dot(ax: "Axes", y: float, mark: Mark) -> None:
    """Draw a dot, and a line over its interval if it has one."""
    errors = mark.interval and [[mark.value - mark.interval[0]], [mark.interval[1] - mark.value]]
    looks, face = mark.looks, "none" if mark.is_hollow else mark.looks.color
    ax.errorbar(mark.value, y, xerr=errors, fmt=looks.marker, color=looks.color, markerfacecolor=face, elinewidth=1)
