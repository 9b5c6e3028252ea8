"""Charts by matplotlib: each function makes a `Figure`, as wide as a column of a paper, of the rows of a frame.

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

from nmtcore.evaluation.subsets import FEW
from nmtcore.files import atomic_path, write_text
from nmtcore.reporting.svg import DARK_STYLE, FIGURE_WIDTH, embedded_svg
from nmtcore.tables.labels import printed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

STYLE = "nmtcore.reporting.paper"
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

PUBLISHED, OURS = "published", "here"
"""The two bars of a group."""

BLACK = "#000000"
"""The colour of text and axes."""

CLAIMED, UNCLAIMED = BLACK, "#999999"
"""Colours of heads, or of layers with heads, that a component of the system computes or trains, and of the others."""

_LINE = 0.155
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
        used = {own.color for own in looks.values()}
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
def difference_chart(rows: "pd.DataFrame") -> "Figure":
    """Draw differences from baselines as dots with intervals, a panel per test, measure and baseline.

    `rows` have `test`, `measure`, `baseline`, `system`, `difference`, `low`, `high`, and `one_seed`: whether the
    interval lacks the noise of training.
    """
    if rows.empty:
        return _sentence("No system of this figure has scores.")
    looks = system_looks([*rows.baseline, *rows.system])
    drawn = rows.assign(group=rows.system, value=rows.difference, look=rows.system.map(looks), hollow=False)
    return _rows_figure(_compared(drawn), {})


@styled
def construction_chart(counts: "pd.DataFrame", gains: "pd.DataFrame") -> "Figure":
    """Draw the numbers of sentences with each construction as bars, and gains as dots with intervals.

    `counts` have `source`, `subset`, `share` in percent and `sentences`; `gains` have these, `test`, `measure`,
    `baseline`, `difference`, `low` and `high` (no numbers where a difference is published) and `one_seed`.
    """
    panels, samples = [], {}
    if len(counts):
        labels = counts.sentences.map("{:,.0f}".format)
        bars, samples = _bars(counts.assign(group=counts.subset, value=counts.share, label=labels))
        panels.append(("share of the test in percent, and number of sentences", bars))
    if len(gains):
        looks = system_looks(gains.source)
        group = [f"{row.subset}: {row.sentences:,} ({row.share:.1f}\u00a0%)" for row in gains.itertuples()]
        few = gains.low.notna() & (gains.sentences < FEW)
        drawn = gains.assign(group=group, value=gains.difference, look=gains.source.map(looks), hollow=few)
        panels += _compared(drawn)
        samples |= _samples(looks)
    nothing = "No test of this figure has supertags, or no system has scores."
    return _rows_figure(panels, samples) if panels else _sentence(nothing)


@styled
def time_chart(rows: "pd.DataFrame") -> "Figure":
    """Draw bars of training times relative to the baseline's, a panel per data set.

    `rows` have `dataset`, `system`, `source` (`PUBLISHED` or `OURS`), `time` and `baseline`.
    """
    if rows.empty:
        return _sentence("No time is published, and no run is finished.")
    bars, samples = _bars(rows.assign(group=rows.system, value=rows.time, label=rows.time.map("{:.2f}".format)))
    datasets = bars.groupby(["dataset", "baseline"], sort=False)
    return _rows_figure([(f"{name}: time relative to {baseline}", own) for (name, baseline), own in datasets], samples)


@styled
def length_chart(rows: "pd.DataFrame") -> "Figure":
    """Draw scores by length: a line with intervals per system, a panel per test.

    `rows` have `test`, `measure`, `system`, `subset` (a bin of lengths), `sentences`, `score`, `low`, `high` and
    `one_seed`.
    """
    if rows.empty:
        return _sentence("No system of this figure has scores.")
    looks = system_looks(rows.system)
    tests = list(rows.groupby(["test", "measure"], sort=False))
    figure, parts = _panels([2.6] * len(tests), _samples(looks))
    for part, ((test, measure), own) in zip(parts, tests, strict=True):
        ax, bins = part.subplots(), own.drop_duplicates("subset").set_index("subset").sentences
        systems = own.groupby("system", sort=False)
        for shift, (system, scores) in enumerate(systems, start=-systems.ngroups // 2):
            # Systems are a little beside one another.
            x = scores.subset.map(bins.index.get_loc) + 0.06 * shift
            ax.plot(x, scores.score, color=looks[system].color)
            for place, row in zip(x, scores.itertuples(), strict=True):
                _dot(ax, place, row.score, looks[system], hollow=row.sentences < FEW, yerr=(row.low, row.high))
        ax.set_xticks(range(len(bins)), [f"{name} ({count})" for name, count in bins.items()], rotation=90)
        ax.set_xlabel("source words (sentences)", loc="right")
        _title(part, f"{measure}, {test}, {_interval(own)}{_hollow(own)}")
    return _laid_out(figure)


@styled
def curve_chart(rows: "pd.DataFrame", *, columns: int = 1) -> "Figure":
    """Draw values over updates: a thin line per seed, and a thick one for the mean of the updates that all have.

    `rows` have `dataset`, `system`, `seed`, `metric` (of `AXES`), `update` and `value`, and may have `note`, which
    the title of a panel says, too. There is a panel per data set and metric, `columns` of them beside one another.
    """
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    if rows.empty:
        return _sentence("No run of these systems is finished.")
    looks = system_looks(rows.system)
    drawn = list(rows.groupby(["dataset", "metric"], sort=False))
    several = rows.dataset.nunique() > 1
    figure, parts = _panels([1.9] * len(drawn), _samples(looks) if len(looks) > 1 else {}, columns=columns)
    for part, ((dataset, metric), own) in zip(parts, drawn, strict=True):
        ax = part.subplots()
        for system, of_system in own.groupby("system", sort=False):
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
        note = own.note.iloc[0] if "note" in own else ""
        _title(part, ", ".join(filter(None, (AXES[metric], note, dataset if several else ""))))
    return _laid_out(figure)


@styled
def sharpness_chart(rows: "pd.DataFrame", nothing: str = "", *, columns: int = 4) -> "Figure":
    """Draw histograms of attention weights, `columns` of them beside one another below each title.

    `rows` have a bin each: `title`, `name` and `claimed` of its histogram, `low`, where it begins (the last one ends at
    1), and `share`, the percentage of all weights in it. Without rows, the figure is the sentence `nothing`.
    """
    if rows.empty:
        return _sentence(nothing)
    titles = {title: list(own.groupby("name", sort=False)) for title, own in rows.groupby("title", sort=False)}
    counts = [math.ceil(len(own) / columns) for own in titles.values()]
    figure, parts = _panels([0.25 + 0.85 * count for count in counts], {})
    for part, count, (title, own) in zip(parts, counts, titles.items(), strict=True):
        grid = part.subplots(count, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for ax, (name, bins) in zip(grid, own, strict=False):
            colour = CLAIMED if bins.claimed.iloc[0] else UNCLAIMED
            ax.stairs(bins.share, [*bins.low, 1], fill=True, color=colour)
            ax.set(xlim=(bins.low.iloc[0], 1), ylim=(0, 1.05 * rows.share.max()), xticks=[0.5, 1.0])
            ax.set_title(name, loc="left")
        for ax in grid[len(own) :]:
            ax.set_visible(False)
        _title(part, title)
    return _laid_out(figure)


def _compared(rows: "pd.DataFrame") -> list[tuple[str, "pd.DataFrame"]]:
    """Divide differences into panels, each with its title."""
    groups = rows.groupby(["test", "measure", "baseline"], sort=False)
    return [
        (f"{measure}, {test}: difference from {baseline}, {_interval(own)}{_hollow(own)}", own)
        for (test, measure, baseline), own in groups
    ]


def _interval(rows: "pd.DataFrame") -> str:
    """Say what kind of interval rows have."""
    return "95 % interval" + (" without training noise" if rows.one_seed.any() else "")


def _hollow(rows: "pd.DataFrame") -> str:
    """Say which dots are hollow, if any are."""
    return f"; hollow: fewer than {FEW} sentences" if "sentences" in rows and any(rows.sentences < FEW) else ""


def _bars(rows: "pd.DataFrame") -> tuple["pd.DataFrame", dict[str, Any]]:
    """Give bars their looks: published ones hollow, those of each other source in a colour; and samples of these."""
    from matplotlib.patches import Patch

    sources = dict.fromkeys([PUBLISHED, *rows.source])
    looks = {source: SystemLooks(colour) for source, colour in zip(sources, COLOURS, strict=False)}
    samples = {
        name: Patch(facecolor="none" if name == PUBLISHED else own.color, edgecolor=BLACK, linewidth=0.6)
        for name, own in looks.items()
    }
    return rows.assign(look=rows.source.map(looks), hollow=rows.source == PUBLISHED), samples


def _rows_figure(panels: Sequence[tuple[str, "pd.DataFrame"]], samples: Mapping[str, Any]) -> "Figure":
    """Draw panels of numbers from left to right, in groups below one another; each with its title.

    Rows have `group`, `value`, `look`, `hollow`, and `low` and `high` for a dot, which is compared with 0, or `label`
    for a bar, which begins there.
    """
    groups = [rows.groupby("group", sort=False) for _, rows in panels]
    names = [[broken(name) for name in own.groups] for own in groups]
    # A group has as many lines as its name or its rows take, and a space.
    steps = [0.4 + max(own.size().max(), 1 + max(name.count("\n") for name in of_own))
             for own, of_own in zip(groups, names, strict=True)]  # fmt: skip
    lines = [
        _wrapped(title).count("\n") + step * len(own)
        for (title, _), step, own in zip(panels, steps, names, strict=True)
    ]
    figure, parts = _panels([0.5 + _LINE * count for count in lines], samples)
    for part, (title, rows), group, name, step in zip(parts, panels, groups, names, steps, strict=True):
        ax, places = part.subplots(), [step * number for number in range(len(name))]
        shifts = group.cumcount() - (group.value.transform("size") - 1) / 2
        for y, row in zip(step * group.ngroup() + shifts, rows.itertuples(), strict=True):
            if "label" in rows:
                colour = "none" if row.hollow else row.look.color
                ax.barh(y, row.value, 0.8, color=colour, edgecolor=BLACK, linewidth=0.6)
                ax.annotate(row.label, (row.value, y), (3, 0), textcoords="offset points", va="center")
            else:
                _dot(ax, row.value, y, row.look, hollow=row.hollow, xerr=(row.low, row.high))
        ax.set_yticks(places, name)
        ax.set_ylim(places[-1] + step / 2, -step / 2)
        ax.axvline(0, color=COLOURS[0], linewidth=0.8, zorder=0)
        _title(part, title)
    return _laid_out(figure)


def _dot(ax: "Axes", x: float, y: float, looks: SystemLooks, *, hollow: bool, **interval: tuple[float, float]) -> None:
    """Draw a dot, and a line over its interval, `xerr` or `yerr`, whose ends are no numbers if it has none."""
    middle = {"xerr": x, "yerr": y}
    errors = {name: [[middle[name] - low], [high - middle[name]]] for name, (low, high) in interval.items()}
    face = "none" if hollow else looks.color
    ax.errorbar(x, y, **errors, fmt=looks.marker, color=looks.color, markerfacecolor=face, elinewidth=1)


def _samples(looks: Mapping[str, SystemLooks]) -> dict[str, Any]:
    """Make the samples of systems for a legend."""
    from matplotlib.lines import Line2D

    return {name: Line2D([], [], **own._asdict()) for name, own in looks.items()}


def _panels(
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


def _title(part: "SubFigure", title: str) -> None:
    part.suptitle(_wrapped(title), x=0.01, ha="left")


def _sentence(text: str) -> "Figure":
    """Make a figure of a sentence."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, 0.5))
    figure.text(0.01, 0.5, _wrapped(text), va="center")
    return figure


def _wrapped(text: str) -> str:
    return fill(printed(text), 50)


def broken(name: str, most: int = 24) -> str:
    """Break a long name, or its label, into lines, behind `_`, `/`, a comma or a space where it has some."""
    lines = [""]
    for piece in re.findall(rf"[^_/, ]{{0,{most - 1}}}(?:[_/, ]+|[^_/, ]|$)", printed(name)):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > most:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def _laid_out(figure: "Figure") -> "Figure":
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
