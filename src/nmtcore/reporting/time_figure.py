"""Figures of training times relative to a baseline: the published time of each system and ours."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.config.planned_tables import PlannedTable
from nmtcore.reporting.charts import COLOURS, TEXT_SIZE, draw_nothing, plot_width, write_svg
from nmtcore.reporting.results import Results

PUBLISHED, OURS = "published", "here"
"""The two bars of a system."""


def time_data(table: PlannedTable, results: Results) -> dict[str, Any]:
    """List the cells with the published time and ours, and the baseline that both are relative to."""
    cells = [
        {
            "row": cell.row, "dataset": cell.dataset, "published": cell.published,
            "ours": {"mean": fmean(values)} if (values := results.values(cell)) else None,
        }
        for cell in table.cells
        if cell.metric == "relative_time"
    ]  # fmt: skip
    return {"cells": cells, "baseline": table.baselines[0] if table.baselines else table.rows[0].name}


def draw_time(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw two bars per system: the published time and ours, relative to the baseline's."""
    import altair as alt

    bars = list(time_bars(data["cells"]))
    if not bars:
        draw_nothing(figure, title=title, reason="No time is published, and no run is finished.")
        return
    systems = list(dict.fromkeys(bar["system"] for bar in bars))
    width = plot_width(systems) - 30
    columns = list(dict.fromkeys(bar["dataset"] for bar in bars))
    panels = []
    for dataset in columns:
        chart = alt.Chart(alt.InlineData(values=[bar for bar in bars if bar["dataset"] == dataset])).encode(
            y=alt.Y("system:N", title=None, sort=systems, scale=alt.Scale(paddingInner=0.25)),
            yOffset=alt.YOffset("source:N", scale=alt.Scale(domain=[PUBLISHED, OURS])),
            x=alt.X("time:Q", title=[dataset, f"time relative to {data['baseline']}"], scale=alt.Scale(zero=True)),
        )
        fill = alt.Color(
            "source:N", title=None, scale=alt.Scale(domain=[PUBLISHED, OURS], range=["#ffffff00", COLOURS[1]])
        )
        labels = chart.mark_text(align="left", dx=4, fontSize=TEXT_SIZE, fill="currentColor").encode(
            text=alt.Text("time:Q", format=".2f")
        )
        layers = alt.layer(chart.mark_bar(stroke="currentColor", strokeWidth=0.8).encode(color=fill), labels)
        height = alt.Step(12, **{"for": "offset"})
        panels.append(layers.properties(width=width, height=height))
    write_svg(alt.vconcat(*panels), figure)


def time_bars(cells: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List the bars of the cells that have a number, with the data set that a cell is trained on here."""
    bars = []
    for cell in cells:
        ours = None if cell["ours"] is None else cell["ours"]["mean"]
        for source, time in ((PUBLISHED, cell["published"]), (OURS, ours)):
            if time is not None:
                bars.append({"system": cell["row"], "dataset": cell["dataset"], "source": source, "time": time})
    return bars
