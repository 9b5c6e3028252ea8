"""The runs of a system on a data set: their scores, and the parts of their section."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmtcore.layout import run_file
from nmtcore.reporting.manifest import RUN_KEYS
from nmtcore.tables.blocks import (
    Block,
    Heading,
    Items,
    Paragraph,
    SeedMean,
    item_blocks,
    make_table,
    number_columns,
    text_columns,
)
from nmtcore.tables.charts import chart_svg
from nmtcore.tables.curves import curve_chart, system_curves
from nmtcore.tables.sheets import mostly_empty
from nmtcore.training.log import duration

if TYPE_CHECKING:
    import pandas as pd


class SystemRuns(NamedTuple):
    """The runs of a system on a data set, at one scale."""

    dataset: str
    system: str
    runs: Sequence[Mapping[str, Any]]
    """Their rows in `runs.parquet`, one per seed, sorted."""
    scores: "pd.DataFrame"
    """Their scores of whole splits, as in `scores.parquet`, with their `label`."""

    @property
    def origin(self) -> str:
        """The name of the runs in tables."""
        return f"{self.dataset}/{self.system}"

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return [run["seed"] for run in self.runs]


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


def run_blocks(group: SystemRuns, baseline: SystemRuns | None = None) -> list[Block]:
    """Make the parts of a section: scores, cost, and settings, or those that differ from the baseline's."""
    blocks: list[Block] = []
    if sources := group.runs[0]["external"]:
        blocks.append(Paragraph(f"Not trained here; its translations: {sources}"))
    if not group.scores.empty:
        blocks += score_blocks(group, baseline)
    return [*blocks, Heading("Cost"), Items(tuple(map(cost_text, group.runs))), *_settings_blocks(group, baseline)]


def score_blocks(group: SystemRuns, baseline: SystemRuns | None = None) -> list[Block]:
    """Make a table with a row per test and a column per score, and list signatures that the baseline does not have."""
    labels = list(dict.fromkeys(group.scores.label))
    columns = [*text_columns("test"), *number_columns(*labels, content="mean", digits=2)]
    rows = []
    for split, scores in group.scores.groupby("split", sort=False):
        values = scores.groupby("label").value.agg(list)
        rows.append([split, *(SeedMean.over(values[label]) if label in values else None for label in labels)])
    signatures = group.scores.dropna(subset="signature").drop_duplicates(["label", "signature"])
    known = set() if baseline is None else set(baseline.scores.signature)
    texts = [f"{row.label}: `{row.signature}`" for row in signatures.itertuples() if row.signature not in known]
    return [Heading("Scores"), make_table(columns, rows), *item_blocks(texts)]


def cost_text(run: Mapping[str, Any]) -> str:
    """Say what a run took: its size, times, energy, device and code, as far as they are known."""
    known = {key: value for key, value in run.items() if value is not None}
    known |= {"percent": 100 * known["share_of_peak"]} if "share_of_peak" in known else {}
    known |= {"gigabytes": known["peak_memory_bytes"] / 1e9} if "peak_memory_bytes" in known else {}
    known |= {"kilojoules": known["gpu_joules"] / 1000} if "gpu_joules" in known else {}
    known["sharing"] = f", shared by up to {jobs} jobs" if (jobs := known.get("jobs_on_gpu", 1)) > 1 else ""
    if "commit" in known:
        known["commit"] = re.sub(r"(?<=^\w{12})\w+", "", known["commit"])  # it may end in "-dirty"
    known |= {key: duration(known[key]) for key in ("training_seconds", "translation_seconds") if key in known}
    texts = {
        "parameters": "{parameters:,} parameters",
        "updates": "{updates:,} updates",
        "training_seconds": "training {training_seconds}",
        "tokens_per_second": "{tokens_per_second:,.0f} target tokens/s",
        "percent": "{percent:.0f} % of the GPU's peak",
        "gigabytes": "{gigabytes:,.1f} GB of memory",
        "translation_seconds": "translation {translation_seconds} ({words_per_second:,.0f} words/s)",
        "kilojoules": "{kilojoules:,.1f} kJ (GPU{sharing})",
        "device": "{device}",
        "commit": "commit {commit}",
        "sources_sha256": "sources {sources_sha256:.12}",
    }
    said = [text.format(**known) for key, text in texts.items() if key in known]
    return "; ".join([f"seed {run['seed']}: {run['state']}", *said])


def _settings_blocks(group: SystemRuns, baseline: SystemRuns | None) -> list[Block]:
    """Show all settings, or those that differ from the baseline's; nothing of runs that were not trained."""
    settings, others = recorded_settings(group), recorded_settings(baseline) if baseline else None
    if settings is None:
        return []
    if baseline is None or others is None:
        return [Heading("Settings"), Paragraph("; ".join(f"{key}: {value}" for key, value in settings.items()))]
    names = dict.fromkeys([*settings, *others])
    rows = [[key, settings.get(key), others.get(key)] for key in names if settings.get(key) != others.get(key)]
    table = make_table(text_columns("setting", "value", baseline.system), rows) if rows else Paragraph("None.")
    return [Heading(f"Settings that differ from those of {baseline.system}"), table]


def recorded_settings(group: SystemRuns) -> dict[str, str] | None:
    """Return the settings that the first trained seed recorded, by dotted names; None if no run was trained."""
    for run in group.runs:
        if run["settings"] is not None:
            return {
                key: value for key, value in flat_settings(json.loads(run["settings"])).items() if key not in RUN_KEYS
            }
    return None


def flat_settings(values: Mapping[str, Any]) -> dict[str, str]:
    """Flatten settings: {model: {width: 64}} becomes {model.width: 64}, with values as text."""
    import pandas as pd

    flat = {key: value for key, (value,) in pd.json_normalize(dict(values)).items() if value != {}}
    return {
        key: "none"
        if value is None or value == []
        else ", ".join(map(str, value))
        if isinstance(value, list)
        else str(value)
        for key, value in flat.items()
    }


def run_path(run: Mapping[str, Any], file_type: str, **names: str) -> Path:
    """Return the path of a file or folder of a run."""
    return Path(run["folder"]) / run_file(file_type, **names)


def run_curves(group: SystemRuns) -> str:
    """Draw the curves of the runs; empty if none has a log."""
    paths = {run["seed"]: run_path(run, "history") for run in group.runs}
    histories = {seed: path for seed, path in paths.items() if path.exists()}
    rows = system_curves(group.dataset, group.system, histories)
    if rows.empty:
        return ""
    figure = curve_chart(rows, columns=3)
    return chart_svg(figure, title=f"Curves of {group.system} on {group.dataset}", embedded=True)


def empty_seeds(group: SystemRuns) -> list[str]:
    """Write a sentence for each seed and scored test whose translations are mostly empty."""
    scores = group.scores[group.scores.empty_translations.notna()]
    return [
        sentence
        for row in scores.itertuples()
        for sentence in mostly_empty(
            f"{group.origin}, seed {row.seed}, {row.split}", int(row.empty_translations), row.sentences
        )
    ]
