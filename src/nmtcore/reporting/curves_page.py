"""Curves of all runs below a folder, as SVG or HTML: training loss, dev BLEU or perplexity, and tag accuracy."""

import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from nmtcore.errors import LineError, UserError
from nmtcore.files import check_output_path, files_below, write_text
from nmtcore.layout import file_name
from nmtcore.reporting.charts import chart_svg, wrapped_title, write_svg
from nmtcore.reporting.curves_figure import curve_chart, curve_points, drawn_metrics, lone_marks
from nmtcore.reporting.html_document import html_document, scrolling
from nmtcore.training.log import TRANSLATION_LOSS, read_history

if TYPE_CHECKING:
    import altair

AXES = {
    "loss": "training loss per target token",
    "bleu": "dev BLEU in validation",
    "perplexity": "dev perplexity",
    "accuracy": "tag accuracy on dev, %",
}
"""The panels of a data set and their axes, where a run has such values; perplexity only where a system has no BLEU."""

POINTS = 200
"""Points of a loss curve; each is the mean of several lines of the log if there are more."""

_STYLE = "svg { display: block; max-width: 100%; min-width: 32em; height: auto }\n"

CAPTION = "Lines: mean over seeds, at updates that all seeds have; bands: from the lowest to the highest seed."


def draw_folder_curves(folder: Path, output: Path) -> int:
    """Draw the curves of all runs below a folder, a group of panels per data set and scale; return the number of runs.

    Interrupted runs are drawn as far as they came. Raises `UserError` if there is no such folder, if it has no run with
    a log, if a log is broken or if the output is neither .svg nor .html.
    """
    if output.suffix.lower() not in (".svg", ".html"):
        raise UserError(f"{output}: the output must end in .svg or .html.")
    check_output_path(output)
    entries = folder_curves(folder)
    groups = {entry["dataset"]: [own for own in entries if own["dataset"] == entry["dataset"]] for entry in entries}
    if output.suffix.lower() == ".svg":
        import altair as alt

        chart = alt.vconcat(*(_group(name, own) for name, own in groups.items()))
        write_svg(chart.properties(title=wrapped_title(CAPTION)).resolve_scale(color="independent"), output)
    else:
        drawings = [_html_group(name, own) for name, own in groups.items()]
        write_text(output, _page("\n".join(drawings)))
    return sum(len(entry["seeds"]) for entry in entries)


def folder_curves(folder: Path) -> list[dict[str, Any]]:
    """List the curves of each system in the form of `curve_entries`; data sets have the folder above before them.

    A metric has the curves of the seeds that have it. Raises `UserError` as `draw_folder_curves` does.
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder: name a results folder, or a folder in it.")
    runs: dict[tuple[str, str], dict[int, Path]] = {}
    for run, history in sorted(_histories(folder).items()):
        *_, scale, dataset, system, seed = run.parts
        runs.setdefault((f"{scale}/{dataset}", system), {})[int(seed.removeprefix("seed"))] = history
    entries = [system_curves(dataset, system, dict(sorted(seeds.items()))) for (dataset, system), seeds in runs.items()]
    if not any(entry["curves"] for entry in entries):
        raise UserError(f"There is no training log with curves below {folder}: name a folder in which runs trained.")
    return [entry for entry in entries if entry["curves"]]


def _histories(folder: Path) -> dict[Path, Path]:
    """Find the log of each run folder `DATASET/SYSTEM/seedN`: the finished one, else the newest of its checkpoints."""
    name, logs = file_name("history"), {}
    for path in sorted(files_below(folder.resolve(), name), key=lambda path: path.stat().st_mtime):
        unfinished = path.parent.parent.name == file_name("checkpoints")
        run = path.parents[2] if unfinished else path.parent
        replaced = unfinished and (run / name).exists()
        if re.fullmatch(r"seed\d+", run.name) and len(run.parts) > 4 and not replaced:
            logs[run] = path
    return logs


def system_curves(dataset: str, system: str, histories: Mapping[int, Path], *, points: int = POINTS) -> dict[str, Any]:
    """Read the curves of a system from the log of each seed, of the loss at most `points`, as `folder_curves` does."""
    values = {seed: _values(path) for seed, path in histories.items()}
    lines = max(len(own["loss"]) for own in values.values())
    size = math.ceil(lines / points) or 1
    for own in values.values():
        own["loss"] = _thinned(own["loss"], size)
    curves = {
        metric: {str(seed): own[metric] for seed, own in values.items() if own[metric]}
        for metric in AXES
        if any(own[metric] for own in values.values())
    }
    return {"dataset": dataset, "system": system, "seeds": list(histories), "curves": curves}


def _values(history: Path) -> dict[str, list[tuple[int, float]]]:
    """Read the points of each metric from a log; values that were not finite are left out."""
    values: dict[str, list[tuple[int, float]]] = {metric: [] for metric in AXES}
    for number, record in enumerate(read_history(history), start=1):
        update = record.get("update")
        if not isinstance(update, int) or not isinstance(record.get("validation", {}), dict):
            raise LineError(history, number, "this is no line of a training log: delete the file and train again.")
        for metric, value in _metrics(record):
            if isinstance(value, int | float):
                values[metric].append((update, value))
    return values


def _metrics(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if "validation" not in record:
        yield "loss", record.get(TRANSLATION_LOSS)
        return
    scores = record["validation"]
    yield from ((metric, scores.get(metric)) for metric in ("bleu", "perplexity"))
    accuracies = [value for name, value in scores.items() if name.startswith("accuracy/") and value is not None]
    if accuracies:
        yield "accuracy", 100 * fmean(accuracies)


def _thinned(points: Sequence[tuple[int, float]], size: int) -> list[tuple[int, float]]:
    """Replace each `size` points by their mean, at the last one's update, so that seeds keep the same updates."""
    pieces = [points[start : start + size] for start in range(0, len(points), size)]
    return [(piece[-1][0], fmean(value for _, value in piece)) for piece in pieces]


def _group(name: str, entries: Sequence[Mapping[str, Any]]) -> "altair.VConcatChart":
    """Draw the panels of a data set."""
    import altair as alt

    systems = [entry["system"] for entry in entries]
    present = {metric for entry in entries for metric in entry["curves"]}
    validated = [entry for entry in entries if {"bleu", "perplexity"} & entry["curves"].keys()]
    drawn = {"loss", "accuracy", *(drawn_metrics(validated) if validated else [])} & present
    return alt.vconcat(*(_curves_panel(name, entries, metric, systems) for metric in AXES if metric in drawn))


def _curves_panel(
    name: str, entries: Sequence[Mapping[str, Any]], metric: str, systems: Sequence[str]
) -> "altair.LayerChart":
    """Draw a metric of all systems that have it: bands over seeds and lines of means."""
    import altair as alt

    points = [point for entry in entries if metric in entry["curves"] for point in _band(entry, metric)]
    chart, dashes = curve_chart(points, systems, axis=AXES[metric])
    bands = chart.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", title=AXES[metric]), y2="high:Q")
    lines = chart.mark_line(strokeWidth=2).encode(strokeDash=dashes)
    return alt.layer(bands, lines, lone_marks(chart)).properties(
        title=alt.Title(name, anchor="start"), width=480, height=220
    )


def _band(entry: Mapping[str, Any], metric: str) -> list[dict[str, Any]]:
    """Return the mean over seeds with the lowest and the highest seed, at the updates that all seeds have."""
    seeds = [dict(map(tuple, points)) for points in entry["curves"][metric].values()]
    means = [point for point in curve_points(entry, metric) if point["line"] == "mean"]
    ranges = [[curve[point["update"]] for curve in seeds] for point in means]
    return [{**point, "low": min(own), "high": max(own)} for point, own in zip(means, ranges, strict=True)]


def _html_group(name: str, entries: Sequence[Mapping[str, Any]]) -> str:
    drawing = scrolling(chart_svg(_group(name, entries)) + "\n", f"curves of {name}", name="paper")
    return f"<h2>{html.escape(name)}</h2>\n{drawing}"


def _page(drawings: str) -> str:
    return html_document("Curves", f"<h1>Curves</h1>\n<p>{html.escape(CAPTION)}</p>\n{drawings}\n", style=_STYLE)
