"""The runs of each system on a data set: their row in the table that the report begins with, and their section."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmtcore.evaluation.attachment import UAS_LABELS
from nmtcore.evaluation.compare import Difference
from nmtcore.evaluation.metrics import label_of
from nmtcore.layout import run_file
from nmtcore.reporting.manifest import RUN_KEYS
from nmtcore.tables.blocks import (
    Block,
    Column,
    Heading,
    Paragraph,
    SeedMean,
    TableCell,
    estimate_cell,
    estimate_column,
    item_blocks,
    make_table,
    number_columns,
    text_columns,
)
from nmtcore.tables.charts import chart_svg
from nmtcore.tables.curves import curve_chart, system_curves

if TYPE_CHECKING:
    import pandas as pd

SHOWN_SCORES = ("bleu", "chrf", *UAS_LABELS)
"""The scores of a system on its row."""

COLUMNS = {
    "bleu": Column(name="BLEU", content="mean", digits=2),
    "difference": estimate_column("Δ BLEU"),
    "length_ratio": Column(name="length", content="number", digits=2),
    "empty_translations": Column(name="empty", content="number", digits=1),
    **{name: Column(name=label_of(name), content="mean", digits=2, group="minor") for name in SHOWN_SCORES[1:]},
    "seeds": Column(name="seeds", content="number", group="minor"),
}
"""The columns of numbers of a row; those of the group `minor` are left out on narrow screens."""

COSTS = {
    **{name: Column(name=name) for name in ("seed", "state")},
    **{name: Column(name=name, content="number") for name in ("parameters", "updates")},
    "training_seconds": Column(name="training", content="duration"),
    "tokens_per_second": Column(name="target tokens/s", content="number"),
    "translation_seconds": Column(name="translation", content="duration"),
    **{name: Column(name=name) for name in ("device", "commit")},
}
"""The columns of `runs.parquet` that a section shows."""


class SystemRuns(NamedTuple):
    """The runs of a system on a data set, at one scale."""

    dataset: str
    system: str
    runs: Sequence[Mapping[str, Any]]
    """Their rows in `runs.parquet`, one per seed, sorted."""
    scores: "pd.DataFrame"
    """Their rows in `scores.parquet`, with their `label`."""

    @property
    def origin(self) -> str:
        """The name of the runs in tables."""
        return f"{self.dataset}/{self.system}"


def group_runs(runs: Iterable[Mapping[str, Any]], scores: "pd.DataFrame") -> list[SystemRuns]:
    """Group the rows of runs of one scale, sorted by seed, and their scores by system and data set."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["system"], run["dataset"]), []).append(run)
    scored = dict(list(scores.groupby(["system", "dataset"])))
    return [
        SystemRuns(dataset, system, rows, scored.get((system, dataset), scores.iloc[:0]))
        for (system, dataset), rows in sorted(groups.items())
    ]


def run_tables(
    groups: Sequence[SystemRuns],
    compared: Mapping[str, Difference],
    tests: Mapping[str, str],
    *,
    descriptions: Mapping[str, str],
    compared_with: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return a table per data set, with a row per system: scores on the main test, and the difference as a drawing."""
    tables = []
    for dataset in dict.fromkeys(group.dataset for group in groups):
        dataset_groups = [group for group in groups if group.dataset == dataset]
        split = tests.get(dataset, "test")
        intervals = [compared[group.origin].interval for group in dataset_groups if group.origin in compared]
        bounds = [0.0, *(bound for interval in intervals for bound in interval)]
        rows = []
        for group in dataset_groups:
            scores, difference = group.scores[group.scores.split == split], compared.get(group.origin)
            values = {measure: list(of_measure.value) for measure, of_measure in scores.groupby("measure")}
            cells = {name: SeedMean.over(values[name]) for name in SHOWN_SCORES if name in values}
            cells |= scores[["length_ratio", "empty_translations"]].mean().dropna()  # those of BLEU
            rows.append(
                {
                    "system": group.system,
                    "description": descriptions.get(group.system, ""),
                    "cells": {**cells, "seeds": len(group.runs), "difference": estimate_cell(difference).value},
                    "against": compared_with.get(group.system) if difference else None,
                    "difference": difference,
                    "drawing": difference and _whiskers(difference, bounds),
                }
            )
        # Systems without a difference come first, then the largest gain.
        rows.sort(key=lambda row: -math.inf if row["difference"] is None else -row["difference"].delta)
        columns = {key: column for key, column in COLUMNS.items() if any(row["cells"].get(key) for row in rows)}
        for row in rows:
            row["texts"] = [(column, column.shown(TableCell(row["cells"].get(key)))) for key, column in columns.items()]
        tables.append({"dataset": dataset, "split": split, "columns": list(columns.values()), "rows": rows})
    return tables


def difference_text(difference: Difference) -> str:
    """Write a difference ± half its interval."""
    return COLUMNS["difference"].shown(estimate_cell(difference))


def _whiskers(difference: Difference, bounds: Sequence[float]) -> Any:
    from markupsafe import Markup

    low, high = min(bounds), max(bounds)
    margin = 0.04 * (high - low) or 1.0
    left, scale = low - margin, 100 / (high - low + 2 * margin)
    zero, middle, *ends = (f"{(value - left) * scale:.1f}%" for value in (0, difference.delta, *difference.interval))
    return Markup(
        f'<svg class="whiskers" role="img"><title>{difference_text(difference)}</title>'
        f'<line class="zero" x1="{zero}" x2="{zero}" y2="18"/>'
        f'<line class="whisker" x1="{ends[0]}" x2="{ends[1]}" y1="9" y2="9"/>'
        f'<circle cx="{middle}" cy="9" r="4.5"/></svg>'
    )


def run_blocks(group: SystemRuns, baseline: SystemRuns | None) -> list[Block]:
    """Make the parts of a section: scores, cost, and the settings that differ from those of the other system."""
    sources = group.runs[0]["external"]
    blocks: list[Block] = [Paragraph(f"Not trained here; its translations: {sources}")] if sources else []
    if not group.scores.empty:
        blocks += score_blocks(group.scores)
    rows = [[run[key] if key != "seed" else str(run[key]) for key in COSTS] for run in group.runs]
    blocks += [Heading("Cost"), make_table(list(COSTS.values()), rows).for_readers()]
    return blocks if baseline is None else [*blocks, *_settings_blocks(group, baseline)]


def score_blocks(scores: "pd.DataFrame") -> list[Block]:
    """Make a table with a row per test and a column per score, and list the signatures."""
    labels = list(dict.fromkeys(scores.label))
    columns = [*text_columns("test"), *number_columns(*labels, content="mean", digits=2)]
    rows = []
    for split, split_scores in scores.groupby("split", sort=False):
        values = split_scores.groupby("label").value.agg(list)
        rows.append([split, *(SeedMean.over(values[label]) if label in values else None for label in labels)])
    signatures = scores.dropna(subset="signature").drop_duplicates(["label", "signature"])
    texts = [f"{row.label}: `{row.signature}`" for row in signatures.itertuples()]
    return [Heading("Scores"), make_table(columns, rows), *item_blocks(texts)]


def _settings_blocks(group: SystemRuns, baseline: SystemRuns) -> list[Block]:
    """Show the settings that differ from those of the other system; nothing of runs that were not trained."""
    settings, others = map(_recorded_settings, (group, baseline))
    if not (settings and others):
        return []
    rows = [
        [key, *(_shown(known.get(key)) for known in (settings, others))]
        for key in dict.fromkeys([*settings, *others])
        if settings.get(key) != others.get(key) and key not in RUN_KEYS
    ]
    table = make_table(text_columns("setting", "value", baseline.system), rows) if rows else Paragraph("None.")
    return [Heading(f"Settings that differ from those of {baseline.system}"), table]


def _shown(value: Any) -> str:
    """Write the value of a setting."""
    if value is None or value == []:
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _recorded_settings(group: SystemRuns) -> dict[str, Any]:
    """Return the settings that the first trained seed recorded, by dotted names; empty if no run was trained."""
    import pandas as pd

    recorded = next((run["settings"] for run in group.runs if run["settings"] is not None), None)
    return {} if recorded is None else pd.json_normalize(json.loads(recorded)).iloc[0].to_dict()


def run_curves(group: SystemRuns) -> str:
    """Draw the curves of the runs; empty if none has a log."""
    paths = {run["seed"]: Path(run["folder"]) / run_file("history") for run in group.runs}
    histories = {seed: path for seed, path in paths.items() if path.exists()}
    rows = system_curves(group.dataset, group.system, histories)
    if rows.empty:
        return ""
    figure = curve_chart(rows, columns=3)
    return chart_svg(figure, title=f"Curves of {group.system} on {group.dataset}", embedded=True)
