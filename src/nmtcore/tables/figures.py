"""Charts of frames of numbers: differences, training times, and scores and gains on parts of a test."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from nmtcore.evaluation.subsets import FEW
from nmtcore.tables.charts import (
    BLACK,
    COLOURS,
    LINE_HEIGHT,
    SystemLooks,
    broken,
    chart_of_sentence,
    chart_panels,
    laid_out,
    legend_samples,
    set_title,
    styled,
    system_looks,
    wrapped,
)
from nmtcore.tables.measures import measure_label
from nmtcore.tables.parts import is_longest, length_scores, part_counts, part_gains, test_of
from nmtcore.tables.query import Frame, Row, comparisons_of, rows_by
from nmtcore.tables.sheets import names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PUBLISHED, OURS = "published", "here"
"""The two bars of a group."""


class Mark(NamedTuple):
    """A number of a figure of rows: a dot, with its interval, or a bar, with its label."""

    group: str
    value: float
    looks: SystemLooks
    interval: tuple[float, float] | None = None
    is_hollow: bool = False
    label: str = ""


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
    """Draw bars of the published time and ours of each system relative to the baseline's, a panel per data set."""
    table = frame.table
    baseline = table.baselines[0] if table.baselines else table.rows[0].name
    panels: dict[str, list[Mark]] = {}
    looks = _bar_looks([OURS])
    for row in frame.rows:
        if row["column"].rpartition("/")[2] == "relative_time" and row["baseline"] is None:
            times = {PUBLISHED: row["published"], OURS: fmean(row["values"]) if row["values"] else None}
            for source, time in times.items():
                if time is not None:
                    title = f"{row['dataset']}: time relative to {baseline}"
                    panels.setdefault(title, []).append(_bar(row["row"], time, looks, source, f"{time:.2f}"))
    if not panels:
        return chart_of_sentence("No time is published, and no run is finished.")
    return _rows_figure(list(panels.items()), _bar_samples(looks))


@styled
def construction_figure(frame: Frame) -> "Figure":
    """Draw the numbers of sentences with each construction as bars, and the gains on them as dots with intervals."""
    panels, samples = [], {}
    if counts := part_counts(frame):
        looks = _bar_looks(map(test_of, counts))
        bars = []
        for row in counts:
            published, ours = (row["published"], row["published_share"]), (row["sentences"], row["share"])
            for source, (count, share) in ((PUBLISHED, published), (test_of(row), ours)):
                if share is not None:
                    bars.append(_bar(_construction(row), share, looks, source, f"{count:,.0f}"))
        panels += [("share of the test in percent, and number of sentences", bars)] * bool(bars)
        samples |= _bar_samples(looks) if bars else {}
    gains = [row | {"of": test_of(row)} for row in part_gains(frame) if row["delta"] is not None]
    names = [name for row in gains for name in (row["system"], _published_name(row)) if name]
    looks = system_looks(names)
    for title, rows in _compared(gains):
        dots = []
        for row in rows:
            group = f"{_construction(row)}: {row['sentences']:,} ({row['share']:.1f}\u00a0%)"
            few = row["sentences"] < FEW
            dots.append(Mark(group, row["delta"], looks[row["system"]], _interval(row), few))
            if name := _published_name(row):
                dots.append(Mark(group, row["published"], looks[name]))
        panels.append((f"{title}{_hollow(rows)}", dots))
    nothing = "No test of this figure has supertags, or no system has scores."
    return _rows_figure(panels, samples | legend_samples(looks)) if panels else chart_of_sentence(nothing)


def _construction(row: Row) -> str:
    return row["row"].replace("_", "/")


def _published_name(row: Row) -> str:
    return "" if row["published"] is None else f"{row['system']}, published"


@styled
def length_figure(frame: Frame) -> "Figure":
    """Draw the scores of each bin of lengths: a line with intervals per system, a panel per test and measure."""
    rows = [row for row in length_scores(frame) if row["values"] and not is_longest(row)]
    if not rows:
        return chart_of_sentence("No system of this figure has scores.")
    looks = system_looks(row["row"] for row in rows)
    tests = list(rows_by(rows, "column", "dataset", "test", "measure").values())
    figure, areas = chart_panels([2.6] * len(tests), legend_samples(looks))
    for area, of_test in zip(areas, tests, strict=True):
        ax, bins = area.subplots(), {row["item"]: row["sentences"] for row in of_test}
        places, systems = {name: place for place, name in enumerate(bins)}, rows_by(of_test, "row")
        for shift, ((system,), scores) in enumerate(systems.items(), start=-len(systems) // 2):
            # Systems are a little beside one another.
            x = [places[row["item"]] + 0.06 * shift for row in scores]
            ax.plot(x, [fmean(row["values"]) for row in scores], color=looks[system].color)
            for place, row in zip(x, scores, strict=True):
                low, high = _interval(row) or [fmean(row["values"])] * 2
                interval = (max(low, 0.0), high)
                _dot(ax, place, fmean(row["values"]), looks[system], hollow=row["sentences"] < FEW, yerr=interval)
        ax.set_xticks(range(len(bins)), [f"{name} ({count})" for name, count in bins.items()], rotation=90)
        ax.set_xlabel("source words (sentences)", loc="right")
        noise = all(len(row["values"]) > 1 for row in of_test)
        set_title(
            area, f"{measure_label(of_test[0]['measure'])}, {test_of(of_test[0])}, {_said(noise)}{_hollow(of_test)}"
        )
    return laid_out(figure)


def _interval(row: Row) -> tuple[float, float] | None:
    return None if row["low"] is None else (row["low"], row["high"])


def _compared(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Divide differences into panels, each with its title; `of` names the test of a row."""
    return [
        (
            f"{measure_label(measure)}, {test}: difference from {baseline}, "
            f"{_said(all(row['training_noise'] for row in differences))}",
            differences,
        )
        for (test, measure, baseline), differences in rows_by(rows, "of", "measure", "baseline").items()
    ]


def _said(noise: bool) -> str:
    """Say what kind of interval rows have."""
    return "95 % interval" + ("" if noise else " without training noise")


def _hollow(rows: Iterable[Row]) -> str:
    """Say which dots are hollow, if any are."""
    return f"; hollow: fewer than {FEW} sentences" if any(row["sentences"] < FEW for row in rows) else ""


def _bar_looks(sources: Iterable[str]) -> dict[str, SystemLooks]:
    """Return the looks of bars: each other source than the paper has a colour."""
    names = dict.fromkeys([PUBLISHED, *sources])
    return {name: SystemLooks(colour) for name, colour in zip(names, COLOURS, strict=False)}


def _bar(group: str, value: float, looks: Mapping[str, SystemLooks], source: str, label: str) -> Mark:
    return Mark(group, value, looks[source], is_hollow=source == PUBLISHED, label=label)


def _bar_samples(looks: Mapping[str, SystemLooks]) -> dict[str, Any]:
    """Make the samples of bars for a legend; published ones are hollow."""
    from matplotlib.patches import Patch

    return {
        name: Patch(facecolor="none" if name == PUBLISHED else appearance.color, edgecolor=BLACK, linewidth=0.6)
        for name, appearance in looks.items()
    }


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
                _draw(ax, place + number - (len(marks) - 1) / 2, mark)
        ax.set_yticks(places, list(map(broken, groups)))
        ax.set_ylim(places[-1] + step / 2, -step / 2)
        ax.axvline(0, color=COLOURS[0], linewidth=0.8, zorder=0)
        set_title(area, title)
    return laid_out(figure)


def _draw(ax: "Axes", y: float, mark: Mark) -> None:
    if not mark.label:
        _dot(ax, mark.value, y, mark.looks, hollow=mark.is_hollow, xerr=mark.interval)
        return
    colour = "none" if mark.is_hollow else mark.looks.color
    ax.barh(y, mark.value, 0.8, color=colour, edgecolor=BLACK, linewidth=0.6)
    ax.annotate(mark.label, (mark.value, y), (3, 0), textcoords="offset points", va="center")


def _dot(
    ax: "Axes", x: float, y: float, looks: SystemLooks, *, hollow: bool, **interval: tuple[float, float] | None
) -> None:
    """Draw a dot, and a line over its interval, `xerr` or `yerr`, if it has one."""
    middle = {"xerr": x, "yerr": y}
    errors = {
        name: bounds and [[middle[name] - bounds[0]], [bounds[1] - middle[name]]] for name, bounds in interval.items()
    }
    face = "none" if hollow else looks.color
    ax.errorbar(x, y, **errors, fmt=looks.marker, color=looks.color, markerfacecolor=face, elinewidth=1)
