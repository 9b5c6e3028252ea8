"""The differences from the baseline on subsets of a test, as a figure."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmtcore.evaluation.subsets import FEW
from nmtcore.reporting.charts import (
    COLOURS,
    SHAPES,
    TEXT_SIZE,
    draw_nothing,
    interval_title,
    plot_width,
    system_scale,
    write_svg,
)

if TYPE_CHECKING:
    import altair


def difference_panel(points: Sequence[Mapping[str, Any]], systems: Sequence[str]) -> "altair.LayerChart":
    """Draw points as of `gain_points`, those of a test; a hollow mark is a subset with few sentences."""
    import altair as alt

    subsets = list(dict.fromkeys(point["subset"] for point in points))
    few = [f"hollow: fewer than {FEW} sentences"] if any(point["few"] for point in points) else []
    x_title = [
        f"BLEU, {points[0]['panel']}:",
        f"difference from {points[0]['baseline']}",
        f"with {interval_title(points)}",
        *few,
    ]
    chart = alt.Chart(alt.InlineData(values=list(points)))
    y = alt.Y("subset:N", title=None, sort=subsets, scale=alt.Scale(paddingInner=0.3))
    offset = alt.YOffset("system:N", sort=systems, scale=alt.Scale(domain=list(systems)))
    colour = alt.Color("system:N", title="system", scale=system_scale(systems, COLOURS))
    shape = alt.Shape("system:N", title="system", scale=system_scale(systems, SHAPES))
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(color="#7f7f7f")
    intervals = chart.mark_rule(strokeWidth=1.2).encode(
        x=alt.X("low:Q", title=x_title), x2="high:Q", y=y, yOffset=offset, color=colour
    )
    fill = alt.condition("datum.few", alt.value("transparent"), colour)
    marks = chart.mark_point(size=45, strokeWidth=1.2, opacity=1).encode(
        x="difference:Q", y=y, yOffset=offset, shape=shape, fill=fill, stroke=colour
    )
    height = alt.Step(max(8 * len(systems), 16), **{"for": "position"})
    layers = alt.layer(zero.encode(x=alt.X("zero:Q", title=x_title)), intervals, marks)
    return layers.properties(width=plot_width(subsets), height=height)


def count_panel(bars: Sequence[Mapping[str, Any]]) -> "altair.LayerChart":
    """Draw the share of each subset as a bar, and its number of sentences beside it.

    A bar has the keys `subset`; `of`, whose number it is; `share` in percent; and `label`, what is written beside it.
    """
    import altair as alt

    subsets, owners = (list(dict.fromkeys(bar[key] for bar in bars)) for key in ("subset", "of"))
    y = alt.Y("subset:N", title=None, sort=subsets, scale=alt.Scale(paddingInner=0.3))
    chart = alt.Chart(alt.InlineData(values=list(bars))).encode(
        x=alt.X("share:Q", title=["share of the test in percent,", "and number of sentences"]),
        y=y,
        yOffset=alt.YOffset("of:N", sort=owners, scale=alt.Scale(domain=owners)),
    )
    greys = ["#ffffff00", "#7f7f7f", "#c8c8c8", "#404040"]
    fill = alt.Fill("of:N", title="numbers", scale=system_scale(owners, greys))
    texts = chart.mark_text(align="left", dx=4, fill="currentColor", fontSize=TEXT_SIZE).encode(text="label:N")
    height = alt.Step(12 * len(owners) + 4, **{"for": "position"})
    layers = alt.layer(chart.mark_bar(stroke="currentColor", strokeWidth=0.8).encode(fill=fill), texts)
    return layers.properties(width=plot_width(subsets) - 30, height=height)


def gain_points(entries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield one point per subset that has a gain, and one for each published gain."""
    for entry in entries:
        if entry["difference"] is None:
            continue
        delta, (low, high) = entry["difference"].delta, entry["difference"].interval
        common = {
            "panel": entry["test"],
            "subset": f"{entry['row'].replace('_', '/')}: {entry['sentences']:,} ({entry['share']:.1f} %)",
            "baseline": entry["baseline"],
        }
        own = {"system": entry["system"], "difference": delta, "low": low, "high": high}
        one_seed = not entry["difference"].with_training_noise
        yield {**common, **own, "few": entry["sentences"] < FEW, "one_seed": one_seed}
        if (published := entry["published"]) is not None:
            theirs = {"system": f"{entry['system']}, published", "difference": published}
            yield {**common, **theirs, "low": published, "high": published, "few": False, "one_seed": False}


def count_bars(entries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield one bar per published and per own number of sentences."""
    for entry in entries:
        name = entry["row"].replace("_", "/")
        for who, count, share in (
            ("published", entry["published"], entry["published_share"]),
            (entry["test"], entry["sentences"], entry["share"]),
        ):
            if share is not None:
                yield {"subset": name, "of": who, "share": share, "label": f"{count:,.0f}"}


def draw_constructions(data: Any, figure: Path, *, title: str) -> None:
    """Draw the numbers of sentences with each construction as bars, and gains as points with intervals."""
    import altair as alt

    counts, gains = data
    points = list(gain_points(gains))
    systems = list(dict.fromkeys(point["system"] for point in points))
    panels = [
        difference_panel([point for point in points if point["panel"] == panel], systems)
        for panel in dict.fromkeys(point["panel"] for point in points)
    ]
    if bars := list(count_bars(counts)):
        panels.insert(0, count_panel(bars))
    if not panels:
        draw_nothing(figure, title=title, reason="No test of this figure has supertags, or no system has scores.")
        return
    write_svg(alt.vconcat(*panels), figure)
