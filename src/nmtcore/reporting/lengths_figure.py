"""Scores by the length of the source sentence as a figure."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from nmtcore.evaluation.subsets import FEW
from nmtcore.reporting.charts import (
    COLOURS,
    DASHES,
    SHAPES,
    draw_nothing,
    interval_title,
    plot_width,
    system_scale,
    write_svg,
)
from nmtcore.reporting.results import measure_label

if TYPE_CHECKING:
    import altair


def length_points(entries: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield one point per bin and system that has scores: the mean score and its interval."""
    for entry in entries:
        if entry["long"] or entry["scores"] is None:
            continue
        score = fmean(entry["scores"])
        low, high = entry["interval"] or (score, score)
        yield {
            "test": entry["test"],
            "words": f"{entry['subset']} ({entry['sentences']:,})",
            "system": entry["row"],
            "axis": measure_label(entry["measure"]),
            "score": score,
            "low": max(low, 0),
            "high": high,
            "few": entry["sentences"] < FEW,
            "one_seed": len(entry["scores"]) == 1,
        }


def length_panel(points: Sequence[Mapping[str, Any]], systems: Sequence[str]) -> "altair.LayerChart":
    """Draw the points of a test; a hollow mark is a bin with few sentences."""
    import altair as alt

    bins = list(dict.fromkeys(point["words"] for point in points))
    few = f"; hollow: fewer than {FEW}" if any(point["few"] for point in points) else ""
    label = alt.Axis(labelAngle=-45)
    x = alt.X("words:N", title=f"source words (sentences{few})", sort=bins, axis=label, scale=alt.Scale(padding=0.3))
    y_title = [f"{points[0]['axis']}, {points[0]['test']}", f"with {interval_title(points)}"]
    offset = alt.XOffset("system:N", sort=list(systems), scale=alt.Scale(domain=list(systems)))
    colour = alt.Color("system:N", title="system", scale=system_scale(systems, COLOURS))
    dashes = alt.StrokeDash("system:N", title="system", scale=system_scale(systems, DASHES))
    shape = alt.Shape("system:N", title="system", scale=system_scale(systems, SHAPES))
    chart = alt.Chart(alt.InlineData(values=list(points)))
    lines = chart.mark_line(strokeWidth=1.2).encode(
        x=x, y=alt.Y("score:Q", title=y_title), xOffset=offset, color=colour, strokeDash=dashes
    )
    intervals = chart.mark_rule(strokeWidth=1.2).encode(
        x=x, y=alt.Y("low:Q", title=y_title), y2="high:Q", xOffset=offset, color=colour
    )
    fill = alt.condition("datum.few", alt.value("transparent"), colour)
    marks = chart.mark_point(size=45, strokeWidth=1.2, opacity=1).encode(
        x=x, y="score:Q", xOffset=offset, shape=shape, fill=fill, stroke=colour
    )
    return alt.layer(lines, intervals, marks).properties(width=plot_width(["100", "100"]), height=180)


def draw_lengths(entries: Sequence[Mapping[str, Any]], figure: Path, *, title: str) -> None:
    """Draw scores by length: a line with intervals per system, a panel per test."""
    import altair as alt

    points = list(length_points(entries))
    if not points:
        draw_nothing(figure, title=title, reason="No system of this figure has scores.")
        return
    systems = list(dict.fromkeys(point["system"] for point in points))
    tests = list(dict.fromkeys(point["test"] for point in points))
    panels = [length_panel([point for point in points if point["test"] == test], systems) for test in tests]
    write_svg(alt.vconcat(*panels), figure)
