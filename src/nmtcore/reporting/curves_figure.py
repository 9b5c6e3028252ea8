"""Validation scores over updates for several systems and seeds, as one figure and one JSON."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.layout import Layout
from nmtcore.reporting.charts import COLOURS, DASHES, system_scale, write_svg
from nmtcore.training.history import read_history

if TYPE_CHECKING:
    import altair

METRICS = {"bleu": "dev BLEU, {search}", "perplexity": "dev perplexity"}
"""The validation scores that are drawn, and their axes: the first that all runs of a data set have."""


MARKED = 12
"""Validations of a run up to which each is marked; more marks would hide the dashes."""


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
        figure: output as SVG, with a panel per data set.
    """
    import altair as alt

    entries = curve_entries(histories, layout)
    write_json(json, entries)
    systems = list(dict.fromkeys(entry["system"] for entry in entries))
    datasets = list(dict.fromkeys(entry["dataset"] for entry in entries))
    panels = [
        _panel([entry for entry in entries if entry["dataset"] == name], systems, beams[name]) for name in datasets
    ]
    write_svg(alt.vconcat(*panels), figure)


def curve_entries(histories: Sequence[Path], layout: Layout) -> list[dict[str, Any]]:
    """List the validation scores of each system: `curves` has, by seed, pairs of an update and a score.

    Raises `UserError` if a run has no validation, or if a metric is not in the logs of all runs of a data set.
    """
    runs: dict[tuple[str, str, str], dict[int, list[dict[str, Any]]]] = {}
    for path in histories:
        names = layout.names(path, "history")
        validations = [record for record in read_history(path) if "validation" in record]
        if not validations:
            raise UserError(f"{path} records no validation, so there is no curve to draw: delete it and train again.")
        key = (names["scale"], names["dataset"], names["system"])
        runs.setdefault(key, {})[int(names["seed"])] = validations
    metrics = {dataset: _common_metric(runs, dataset) for _, dataset, _ in runs}
    return [
        {
            "scale": scale,
            "dataset": dataset,
            "system": system,
            "seeds": list(seeds),
            "metric": metrics[dataset],
            "curves": {str(seed): _curve(validations, metrics[dataset]) for seed, validations in seeds.items()},
        }
        for (scale, dataset, system), seeds in runs.items()
    ]


def _common_metric(runs: Mapping[tuple[str, str, str], Mapping[int, list[dict[str, Any]]]], dataset: str) -> str:
    validations = [
        record["validation"]
        for key, seeds in runs.items()
        if key[1] == dataset
        for log in seeds.values()
        for record in log
    ]
    for metric in METRICS:
        if all(metric in scores for scores in validations):
            return metric
    raise UserError(f"The runs on {dataset} have no validation score in common: {', '.join(METRICS)}.")


def _curve(validations: Sequence[Mapping[str, Any]], metric: str) -> list[tuple[int, float]]:
    """List the updates and scores; scores that were not finite are left out."""
    points = [(record["update"], record["validation"][metric]) for record in validations]
    return [point for point in points if point[1] is not None]


def curve_points(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the points of a system's lines: `line` is "mean" or, if there are several seeds, also "seed 1"..."""
    curves = {seed: dict(map(tuple, points)) for seed, points in entry["curves"].items()}
    if len(curves) > 1:
        for seed, curve in curves.items():
            for update, score in curve.items():
                yield {"system": entry["system"], "line": f"seed {seed}", "update": update, "score": score}
    for update in sorted(set.intersection(*map(set, curves.values()))):
        mean = fmean(curve[update] for curve in curves.values())
        yield {"system": entry["system"], "line": "mean", "update": update, "score": mean}


def _panel(entries: Sequence[Mapping[str, Any]], systems: Sequence[str], beams: Sequence[int]) -> "altair.LayerChart":
    """Draw the curves of a data set."""
    import altair as alt

    search = "greedy search" if list(beams) == [1] else f"beam of {' or '.join(map(str, beams))}"
    first = entries[0]
    several = any(len(entry["seeds"]) > 1 for entry in entries)
    lines = " (thick: mean over seeds; thin: seeds)" if several else ""
    title = alt.Title(f"{first['dataset']}, scale {first['scale']}{lines}", anchor="start")
    legend = alt.Legend(symbolType="stroke", symbolSize=900, symbolStrokeWidth=2, symbolOpacity=1)
    dashes = alt.StrokeDash("system:N", title="system", scale=system_scale(systems, DASHES), legend=legend)
    chart = alt.Chart(alt.InlineData(values=[point for entry in entries for point in curve_points(entry)])).encode(
        x=alt.X("update:Q", title="updates", axis=alt.Axis(format=",d")),
        y=alt.Y("score:Q", title=METRICS[first["metric"]].format(search=search), scale=alt.Scale(zero=False)),
        color=alt.Color("system:N", title="system", scale=system_scale(systems, COLOURS), legend=legend),
        detail="line:N",
    )
    mean = chart.transform_filter("datum.line === 'mean'")
    seeds = chart.transform_filter("datum.line !== 'mean'")
    layers = [
        seeds.mark_line(strokeWidth=0.7, opacity=0.6).encode(strokeDash=dashes),
        mean.mark_line(strokeWidth=2).encode(strokeDash=dashes),
    ]
    if max(len(curve) for entry in entries for curve in entry["curves"].values()) <= MARKED:
        layers.append(mean.mark_point(size=14, filled=True, opacity=1))
    return alt.layer(*layers).properties(title=title, width=480, height=260)
