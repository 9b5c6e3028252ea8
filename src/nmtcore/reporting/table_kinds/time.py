"""Figures of training times relative to a baseline, with a table of the times."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.config.planned_tables import PlannedCell, PlannedRow, PlannedTable
from nmtcore.evaluation.training_times import TrainingTime, training_time
from nmtcore.layout import Layout
from nmtcore.reporting.charts import COLOURS, wrapped_title, write_empty_chart, write_svg
from nmtcore.reporting.published_columns import cell_data
from nmtcore.reporting.seed_items import run_items
from nmtcore.reporting.table import (
    SeedMean,
    Table,
    TableCell,
    item_blocks,
    make_table,
    note,
    number_columns,
    text_columns,
    with_origin,
)
from nmtcore.reporting.table_content import TableContent
from nmtcore.reporting.table_kinds.curves import NO_LOG

PUBLISHED, OURS = "published", "here"
"""The two bars of a system."""

_NOTES = """
Time: the median over the lines of the training log of the seconds per update, times the number of updates, plus the
median time of a validation times their number; for the whole run, as long as it is at this scale. Relative: this time
per update divided by the mean of the runs of {baseline} on the same data set. Means over
seeds, ± their standard deviation if there are several; a row that stands for several systems is the mean over them.
Times can only be compared if all runs were trained on the same kind of machine, with nothing else running there.
"""


class _Times:
    """The training times of a table's runs, and each row's time relative to the baseline."""

    def __init__(self, table: PlannedTable) -> None:
        self._table = table
        self.by_runs: dict[str, dict[str, TrainingTime]] = {
            runs: {seed: training_time(Path(path)) for seed, path in by_seed.items()}
            for runs, by_seed in table.more["logs"].items()
        }
        self.baseline = table.baselines[0] if table.baselines else table.rows[0].name

    def relative(self, row: PlannedRow, column: str) -> dict[str, float] | str:
        """Return a row's relative time by seed, or the reason why there is none."""
        if not row.members:
            return self._relative_cell(self._table.cell(row.name, column))
        members = []
        for member in row.members:
            relative = self._relative_cell(self._table.cell(member, column))
            if isinstance(relative, str):
                return f"{member}: {relative}"
            members.append(relative)
        seeds = [seed for seed in members[0] if all(seed in member for member in members)]
        if not seeds:
            return f"no seed is finished for all of {row.members[0]} to {row.members[-1]}"
        return {seed: fmean(member[seed] for member in members) for seed in seeds}

    def of(self, cell: PlannedCell) -> list[TrainingTime]:
        """Return the times of a cell's runs."""
        return list(self.by_runs.get(cell.runs or "", {}).values())

    def _relative_cell(self, cell: PlannedCell) -> dict[str, float] | str:
        own = self.by_runs.get(cell.runs or "")
        if not own:
            return cell.reason or (f"{cell.system} is no system of ours" if cell.runs is None else NO_LOG)
        baseline = self.of(self._table.cell(self.baseline, cell.column))
        if not baseline:
            return f"there is no run of {self.baseline} to compare with"
        whole = fmean(time.seconds_per_update_with_validation for time in baseline)
        return {seed: time.seconds_per_update_with_validation / whole for seed, time in own.items()}


def time_content(table: PlannedTable, layout: Layout) -> TableContent:
    """Compare the training times of a table's runs."""
    times = _Times(table)
    ours = {}
    for row in table.rows:
        for column in table.columns:
            relative = times.relative(row, column.name)
            ours[row.name, column.name] = (
                TableCell(None, reason=relative)
                if isinstance(relative, str)
                else TableCell(SeedMean.over(list(relative.values())))
            )
    hidden = {row.name for row in table.rows if row.hidden}
    cells = [entry for entry in cell_data(table, ours) if entry["row"] not in hidden]
    data = {"cells": cells, "facts": table.facts, "baseline": times.baseline}
    notes = note(_NOTES.format(baseline=times.baseline))
    blocks = [_times_table(table, times, ours), notes, *item_blocks(run_items(table))]
    return TableContent(blocks=blocks, data=data)


def _times_table(table: PlannedTable, times: _Times, ours: Mapping[tuple[str, str], TableCell]) -> Table:
    columns = [*text_columns("system", "data set")]
    columns += number_columns("relative time, published", digits=2)
    columns += number_columns("relative time", content="mean", digits=2)
    columns += number_columns("seconds per update", content="mean", digits=3)
    columns += number_columns("updates")
    columns += number_columns("seconds per validation", content="mean", digits=2)
    columns += number_columns("validations")
    columns += number_columns("time, published", "time", content="duration")
    rows = []
    for row in (row for row in table.rows if not row.hidden):
        for column in table.columns:
            cell = table.cell(row.name, column.name)
            base_seconds = table.facts.get("base_seconds") if row.name == times.baseline else None
            own, relative = times.of(cell), ours[row.name, column.name]
            reason = f"the mean over {len(row.members)} systems" if row.members else ""
            *measured, time = _absolute(own, reason)
            label, origin = TableCell(row.name), cell.runs
            if row.members:
                label = TableCell(row.name, f", mean of {', '.join(row.members)}")
                origin = table.cell(row.members[0], column.name).runs
            *measured, time = with_origin([relative, *measured, time], origin)
            rows.append([label, cell.dataset, cell.published, *measured, base_seconds, time])
    return make_table(columns, rows)


def _absolute(times: list[TrainingTime], reason: str) -> list[Any]:
    """Make our cells that are not relative to the baseline; without runs they are empty, with the `reason`."""
    if not times:
        return [TableCell(None, reason=reason)] * 5
    return [
        SeedMean.over([time.seconds_per_update for time in times]),
        fmean(time.updates for time in times),
        SeedMean.over([time.seconds_per_validation for time in times]) if times[0].validations else None,
        fmean(time.validations for time in times),
        fmean(time.seconds for time in times),
    ]


def draw_time(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw two bars per system: the published time and ours, relative to the baseline's."""
    import altair as alt

    bars = list(time_bars(data["cells"]))
    if not bars:
        write_empty_chart("No time is published, and no run is finished.", figure, title=title)
        return
    systems = list(dict.fromkeys(bar["system"] for bar in bars))
    columns = list(dict.fromkeys(bar["dataset"] for bar in bars))
    panels = []
    for dataset in columns:
        chart = alt.Chart(alt.InlineData(values=[bar for bar in bars if bar["dataset"] == dataset])).encode(
            y=alt.Y("system:N", title=None, sort=systems, scale=alt.Scale(paddingInner=0.25)),
            yOffset=alt.YOffset("source:N", scale=alt.Scale(domain=[PUBLISHED, OURS])),
            x=alt.X("time:Q", title=f"training time relative to {data['baseline']}", scale=alt.Scale(zero=True)),
        )
        fill = alt.Color(
            "source:N", title=None, scale=alt.Scale(domain=[PUBLISHED, OURS], range=["#ffffff", COLOURS[1]])
        )
        labels = chart.mark_text(align="left", dx=4, fontSize=10).encode(text=alt.Text("time:Q", format=".2f"))
        layers = alt.layer(chart.mark_bar(stroke="#000000", strokeWidth=0.8).encode(color=fill), labels)
        height = alt.Step(12, **{"for": "offset"})
        panels.append(layers.properties(title=alt.Title(dataset, anchor="start"), width=460, height=height))
    write_svg(alt.vconcat(*panels).properties(title=wrapped_title(title)), figure)


def time_bars(cells: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """List the bars of the cells that have a number, with the data set that a cell is trained on here."""
    bars = []
    for cell in cells:
        ours = None if cell["ours"] is None else cell["ours"]["mean"]
        for source, time in ((PUBLISHED, cell["published"]), (OURS, ours)):
            if time is not None:
                bars.append({"system": cell["row"], "dataset": cell["dataset"], "source": source, "time": time})
    return bars
