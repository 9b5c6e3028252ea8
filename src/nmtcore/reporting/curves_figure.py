"""Validation scores over updates for several systems and seeds, as one figure and one JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.files import explain_content, write_json
from nmtcore.layout import Layout
from nmtcore.reporting.charts import COLOURS, DASHES, system_scale, wrapped_title, write_svg
from nmtcore.training.log import read_history

if TYPE_CHECKING:
    import altair

METRICS = {"bleu": "dev BLEU, {search}", "perplexity": "dev perplexity"}
"""The validation scores that are drawn, and their axes; perplexity only where a system has no BLEU."""

MARKED = 12
"""Validations of a run up to which each is marked; more marks would hide the dashes."""

FEW_UPDATES = 10
"""Updates from the first to the last point up to which the axis names each."""

LONE = 40
"""The size of the mark of a point that is alone on its line."""


def write_curve_figure(
    histories: Sequence[Path], *, beams: Mapping[str, Sequence[int]], layout: Layout, json: Path, figure: Path
) -> None:
    """Draw the validation scores of runs: a thin line per seed and, for several seeds, a thick line of their mean.

    The mean covers the updates at which all seeds were validated.

    Args:
        histories: `{dataset}/{system}/seed{seed}/training.jsonl` of every run, at one scale.
        beams: sizes of the beams of validation, by data set.
        layout: names the scale, data set, system and seed of each path.
        json: output, a list with one entry per data set and system.
        figure: output as SVG, with a panel per data set and score.
    """
    entries = curve_entries(histories, layout)
    write_json(json, entries)
    draw_validation_curves(entries, figure, beams=beams)


def draw_validation_curves(
    entries: Sequence[Mapping[str, Any]], figure: Path, *, beams: Mapping[str, Sequence[int]], title: str = ""
) -> None:
    """Draw the entries of `curve_entries` as SVG, with a panel per data set and score.

    Args:
        entries: the validation scores of each system.
        figure: output.
        beams: sizes of the beams of validation, by data set.
        title: the title above all panels; empty: none.
    """
    import altair as alt

    systems = list(dict.fromkeys(entry["system"] for entry in entries))
    panels = []
    for dataset in dict.fromkeys(entry["dataset"] for entry in entries):
        of_dataset = [entry for entry in entries if entry["dataset"] == dataset]
        panels += [_panel(of_dataset, metric, systems, beams[dataset]) for metric in drawn_metrics(of_dataset)]
    chart = alt.vconcat(*panels)
    write_svg(chart.properties(title=wrapped_title(title)) if title else chart, figure)


def drawn_metrics(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """List the scores to draw of a data set's systems: BLEU and, if a system has none, the perplexity of all."""
    with_bleu = ["bleu" in entry["curves"] for entry in entries]
    return [*(["bleu"] if any(with_bleu) else []), *([] if all(with_bleu) else ["perplexity"])]


def curve_entries(histories: Sequence[Path], layout: Layout) -> list[dict[str, Any]]:
    """List the validation scores of each system: `curves` has, by metric and seed, pairs of an update and a score.

    A metric that a seed lacks is left out. Raises `UserError` if a log has no validation with a perplexity.
    """
    runs: dict[tuple[str, str, str], dict[int, list[dict[str, Any]]]] = {}
    for path in histories:
        names = layout.names(path, "history")
        with explain_content(path):
            validations = [record for record in read_history(path) if "perplexity" in record.get("validation", {})]
        if not validations:
            raise UserError(f"{path} records no validation, so there is no curve to draw: delete it and train again.")
        key = (names["scale"], names["dataset"], names["system"])
        runs.setdefault(key, {})[int(names["seed"])] = validations
    return [
        {
            "scale": scale,
            "dataset": dataset,
            "system": system,
            "seeds": list(seeds),
            "curves": {
                metric: {str(seed): _curve(validations, metric) for seed, validations in seeds.items()}
                for metric in METRICS
                if all(metric in record["validation"] for validations in seeds.values() for record in validations)
            },
        }
        for (scale, dataset, system), seeds in runs.items()
    ]


def _curve(validations: Sequence[Mapping[str, Any]], metric: str) -> list[tuple[int, float]]:
    """List the updates and scores; scores that were not finite are left out."""
    points = [(record["update"], record["validation"][metric]) for record in validations]
    return [point for point in points if point[1] is not None]


def curve_points(entry: Mapping[str, Any], metric: str) -> Iterator[dict[str, Any]]:
    """Yield the points of a system's lines: `line` is "mean" or, if there are several seeds, also "seed 1"..."""
    curves = {seed: dict(map(tuple, points)) for seed, points in entry["curves"][metric].items()}
    if len(curves) > 1:
        for seed, curve in curves.items():
            for update, score in curve.items():
                yield {"system": entry["system"], "line": f"seed {seed}", "update": update, "score": score}
    for update in sorted(set.intersection(*map(set, curves.values()))):
        mean = fmean(curve[update] for curve in curves.values())
        yield {"system": entry["system"], "line": "mean", "update": update, "score": mean}


def curve_chart(
    points: Sequence[Mapping[str, Any]], systems: Sequence[str], *, axis: str
) -> tuple["altair.Chart", "altair.StrokeDash"]:
    """Make a chart of points (`curve_points`) without marks, and the dashes of its lines; `axis` is the y axis.

    Its points have `alone`: whether they are the only one of their line, which `lone_marks` shows.
    """
    import altair as alt

    legend = alt.Legend(symbolType="stroke", symbolSize=900, symbolStrokeWidth=2, symbolOpacity=1)
    dashes = alt.StrokeDash("system:N", title="system", scale=system_scale(systems, DASHES), legend=legend)
    sizes = Counter((point["system"], point["line"]) for point in points)
    values = [{**point, "alone": sizes[point["system"], point["line"]] == 1} for point in points]
    chart = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("update:Q", title="updates", axis=alt.Axis(format=",d", values=_few_updates(points) or alt.Undefined)),
        y=alt.Y("score:Q", title=axis, scale=alt.Scale(zero=False)),
        color=alt.Color("system:N", title="system", scale=system_scale(systems, COLOURS), legend=legend),
        detail="line:N",
    )
    return chart, dashes


def _few_updates(points: Sequence[Mapping[str, Any]]) -> list[int]:
    """List all updates if they are few; else none. Ticks that are chosen for them repeat whole numbers."""
    updates = [point["update"] for point in points]
    low, high = min(updates, default=0), max(updates, default=0)
    return list(range(low, high + 1)) if high - low < FEW_UPDATES else []


def lone_marks(chart: "altair.Chart") -> "altair.Chart":
    """Mark the points of a `curve_chart` that are alone on their line, which is not drawn."""
    return chart.transform_filter("datum.alone").mark_point(size=LONE, filled=True, opacity=1)


def _panel(
    entries: Sequence[Mapping[str, Any]], metric: str, systems: Sequence[str], beams: Sequence[int]
) -> "altair.LayerChart":
    """Draw the curves of the systems of a data set that have a metric."""
    import altair as alt

    entries = [entry for entry in entries if metric in entry["curves"]]
    points = [point for entry in entries for point in curve_points(entry, metric)]
    search = "greedy search" if list(beams) == [1] else f"beam of {' or '.join(map(str, beams))}"
    first = entries[0]
    several = any(len(entry["seeds"]) > 1 for entry in entries)
    lines = " (thick: mean over seeds; thin: seeds)" if several else ""
    title = alt.Title(f"{first['dataset']}, scale {first['scale']}{lines}", anchor="start")
    chart, dashes = curve_chart(points, systems, axis=METRICS[metric].format(search=search))
    mean = chart.transform_filter("datum.line === 'mean'")
    seeds = chart.transform_filter("datum.line !== 'mean'")
    layers = [
        seeds.mark_line(strokeWidth=0.7, opacity=0.6).encode(strokeDash=dashes),
        mean.mark_line(strokeWidth=2).encode(strokeDash=dashes),
        lone_marks(chart),
    ]
    if max(len(curve) for entry in entries for curve in entry["curves"][metric].values()) <= MARKED:
        layers.append(mean.mark_point(size=14, filled=True, opacity=1))
    return alt.layer(*layers).properties(title=title, width=480, height=260)
