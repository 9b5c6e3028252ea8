"""Figures of scores and differences on parts of a test, and of training times: dots with whiskers, lines and bars."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from nmtcore.evaluation.subsets import FEW
from nmtcore.reporting.charts import (
    COLOURS,
    SHAPES,
    Line,
    Point,
    Row,
    SystemLooks,
    interval_title,
    legend,
    lines_panel,
    rows_panel,
    system_looks,
    systems_legend,
)
from nmtcore.reporting.grid import ComparedCells
from nmtcore.reporting.results import Results, measure_label
from nmtcore.reporting.svg import Drawing, write_drawings
from nmtcore.tables.cells import PlannedTable

PUBLISHED, OURS = "published", "here"
"""The two bars of a group."""

_HOLLOW = [f"hollow: fewer than {FEW} sentences"]


def draw_differences(data: tuple[Sequence[str], Sequence[ComparedCells]], figure: Path, *, title: str) -> None:
    """Draw differences from baselines as dots with intervals, a panel per baseline and test."""
    baselines, compared = data
    names = [own.comparison.names("row") for own in compared]
    looks = system_looks([*baselines, *names])
    tests: dict[tuple[str, str], list[ComparedCells]] = {}
    for own in compared:
        tests.setdefault((own.comparison.names("column"), own.comparison.names("baseline")), []).append(own)
    panels = []
    for (column, baseline), group in tests.items():
        rows = [
            Row(name := own.comparison.names("row"), looks[name], own.result.delta, *own.result.interval)
            for own in group
        ]
        place, _, measure = column.rpartition("/")
        seeds = [{"one_seed": not own.result.with_training_noise} for own in group]
        lines = [
            f"{measure_label(measure)}, {place.replace('/', ' ')}:",
            f"difference from {baseline}, with {interval_title(seeds)}",
        ]
        panels.append(rows_panel(rows, title=lines))
    write_drawings(figure, panels, title=title, sentences=[] if panels else ["No system of this figure has scores."])


def draw_lengths(entries: Sequence[Mapping[str, Any]], figure: Path, *, title: str) -> None:
    """Draw scores by length: a line with intervals per system, a panel per test."""
    shown = [entry for entry in entries if entry["scores"] is not None and not entry["long"]]
    if not shown:
        write_drawings(figure, [], title=title, sentences=["No system of this figure has scores."])
        return
    looks = system_looks([entry["row"] for entry in shown])
    panels = []
    for test in dict.fromkeys(entry["test"] for entry in shown):
        own = [{**entry, "one_seed": len(entry["scores"]) == 1} for entry in shown if entry["test"] == test]
        bins = {entry["subset"]: entry["sentences"] for entry in own}
        systems = list(dict.fromkeys(entry["row"] for entry in own))
        lines = [
            Line(looks[system], [_length_point(entry, list(bins), shift) for entry in own if entry["row"] == system])
            for shift, system in enumerate(systems, start=-len(systems) // 2)
        ]
        axis = f"{measure_label(own[0]['measure'])}, {test}, with {interval_title(own)}"
        few = _HOLLOW if min(bins.values()) < FEW else []
        names = [f"{name} ({count})" for name, count in bins.items()]
        panels.append(lines_panel(lines, title=[axis, *few], x_title="source words (sentences)", names=names))
    write_drawings(figure, [systems_legend(looks), *panels], title=title)


def _length_point(entry: Mapping[str, Any], bins: Sequence[str], shift: int) -> Point:
    """Return the mean score on a bin and its interval; systems are a little beside one another."""
    score = fmean(entry["scores"])
    low, high = entry["interval"] or (score, score)
    x = bins.index(entry["subset"]) + 0.06 * shift
    return Point(x, score, max(low, 0.0), high, hollow=entry["sentences"] < FEW)


def draw_constructions(data: Any, figure: Path, *, title: str) -> None:
    """Draw the numbers of sentences with each construction as bars, and gains as points with intervals."""
    counts, gains = data
    panels = count_panels(counts)
    compared = [entry for entry in gains if entry["difference"] is not None]
    systems = list(dict.fromkeys(entry["system"] for entry in compared))
    looks = system_looks([name for system in systems for name in (system, f"{system}, published")])
    for test in dict.fromkeys(entry["test"] for entry in compared):
        own = [entry for entry in compared if entry["test"] == test]
        rows = [row for entry in own for row in gain_rows(entry, looks)]
        seeds = [{"one_seed": not entry["difference"].with_training_noise} for entry in own]
        lines = [f"BLEU, {test}: difference from {own[0]['baseline']}", f"with {interval_title(seeds)}"]
        few = _HOLLOW if any(entry["sentences"] < FEW for entry in own) else []
        used = {name: own for name, own in looks.items() if any(row.looks == own for row in rows)}
        panels += [systems_legend(used), rows_panel(rows, title=[*lines, *few])]
    nothing = "No test of this figure has supertags, or no system has scores."
    write_drawings(figure, panels, title=title, sentences=[] if panels else [nothing])


def gain_rows(entry: Mapping[str, Any], looks: Mapping[str, SystemLooks]) -> list[Row]:
    """Make the rows of a gain on a subset: ours, and the published one."""
    name = f"{entry['row'].replace('_', '/')}: {entry['sentences']:,} ({entry['share']:.1f} %)"
    system, difference = entry["system"], entry["difference"]
    rows = [Row(name, looks[system], difference.delta, *difference.interval, hollow=entry["sentences"] < FEW)]
    published = entry["published"]
    return rows if published is None else [*rows, Row(name, looks[f"{system}, published"], published)]


def count_panels(entries: Sequence[Mapping[str, Any]]) -> list[Drawing]:
    """Draw the published and our own shares of each subset as bars, with the number of sentences beside them."""
    numbers = [
        (name, entry["row"].replace("_", "/"), share, f"{count:,.0f}")
        for entry in entries
        for name, count, share in (
            (PUBLISHED, entry["published"], entry["published_share"]),
            (entry["test"], entry["sentences"], entry["share"]),
        )
        if share is not None
    ]  # fmt: skip
    return bar_panels(numbers, title=["share of the test in percent, and number of sentences"]) if numbers else []


def bar_panels(numbers: Sequence[tuple[str, str, float, str]], *, title: Sequence[str]) -> list[Drawing]:
    """Draw numbers, given with their source, group and label, as bars: published ones hollow, others in colours."""
    sources = dict.fromkeys([PUBLISHED, *(source for source, *_ in numbers)])
    looks = {name: SystemLooks(COLOURS[number], "", SHAPES[0]) for number, name in enumerate(sources)}
    rows = [Row(group, looks[source], value, hollow=source == PUBLISHED, label=label)
            for source, group, value, label in numbers]  # fmt: skip
    box = '<rect y="-9" width="22" height="9" fill="{}" stroke="currentColor" stroke-width=".8"/>'
    samples = {name: box.format("none" if name == PUBLISHED else own.colour) for name, own in looks.items()}
    return [legend(samples), rows_panel(rows, title=title, bars=True)]


def time_data(table: PlannedTable, results: Results) -> dict[str, Any]:
    """List the published time and ours of each system and data set, and the baseline that both are relative to."""
    times = [
        (source, cell.row, cell.ours, value)
        for cell in table.cells
        if cell.metric == "relative_time"
        for source, values in ((PUBLISHED, [cell.published]), (OURS, results.values(cell)))
        for value in ([fmean(values)] if values and None not in values else [])
    ]
    return {"times": times, "baseline": table.baselines[0] if table.baselines else table.rows[0].name}


def draw_time(data: Mapping[str, Any], figure: Path, *, title: str) -> None:
    """Draw two bars per system: the published time and ours, relative to the baseline's."""
    panels = []
    for dataset in dict.fromkeys(own[2] for own in data["times"]):
        numbers = [
            (source, row, value, f"{value:.2f}") for source, row, name, value in data["times"] if name == dataset
        ]
        panels += bar_panels(numbers, title=[f"{dataset}: time relative to {data['baseline']}"])
    nothing = "No time is published, and no run is finished."
    write_drawings(figure, panels, title=title, sentences=[] if panels else [nothing])
