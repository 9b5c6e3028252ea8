"""The runs of a system on a data set: their scores, their difference from the baseline, and the parts of a section."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.outputs import read_outputs
from nmtcore.layout import Layout
from nmtcore.reporting.curves_figure import curves_svg, system_curves
from nmtcore.reporting.empty_translations import empty_folder
from nmtcore.reporting.manifest import FINISHED, RUN_KEYS
from nmtcore.reporting.report.examples import translated_examples
from nmtcore.reporting.table import (
    Block,
    Column,
    Heading,
    Paragraph,
    SeedMean,
    Table,
    make_table,
    number_columns,
    text_columns,
)

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

    def of(self, split: str, measure: str) -> "pd.DataFrame":
        """Return the scores of a split by a measure."""
        return self.scores[(self.scores.split == split) & (self.scores.measure == measure)]

    def mean(self, split: str, measure: str) -> SeedMean | None:
        """Return the mean score over the seeds that have it; None if none has."""
        values = self.of(split, measure).value.tolist()
        return SeedMean.over(values) if values else None

    def length_ratio(self, split: str) -> float | None:
        """Return the mean length of the translations of a split relative to the references; None if it has none."""
        ratios = self.of(split, "bleu").length_ratio.dropna()
        return None if ratios.empty else float(ratios.mean())


def group_runs(runs: Iterable[Mapping[str, Any]], scores: "pd.DataFrame") -> list[SystemRuns]:
    """Group the rows of runs of one scale, sorted by seed, and their scores by system and data set."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for run in runs:
        groups.setdefault((run["system"], run["dataset"]), []).append(run)
    scored = dict(list(scores.groupby(["system", "dataset"])))
    return [
        SystemRuns(dataset, system, own, scored.get((system, dataset), scores.iloc[:0]))
        for (system, dataset), own in sorted(groups.items())
    ]


def run_blocks(group: SystemRuns, baseline: SystemRuns | None = None) -> list[Block]:
    """Make the tables of a section: scores, cost, and settings, or those that differ from the baseline's."""
    blocks: list[Block] = []
    if sources := group.runs[0]["external"]:
        blocks.append(Paragraph(f"Not trained here; its translations: {sources}"))
    if not group.scores.empty:
        blocks += [Heading("Scores"), scores_table(group)]
    return [*blocks, Heading("Cost"), _cost_table(group), *_settings_blocks(group, baseline)]


def scores_table(group: SystemRuns) -> Table:
    """Make a row per test and score, with the mean, each of several seeds, and the signature."""
    columns = [*text_columns("test", "score"), *number_columns("mean", content="mean", digits=2)]
    seeds = group.seeds if len(group.seeds) > 1 else []
    columns += number_columns(*(f"seed {seed}" for seed in seeds), digits=2)
    columns.append(Column(name="signature", content="code"))
    rows = []
    for split, scores in group.scores.groupby("split", sort=False):
        for label, own in scores.groupby("label", sort=False):
            values = dict(zip(own.seed, own.value, strict=True))
            signature = next(iter(own.signature.dropna()), None)  # heads that are compared with trees have none
            rows.append([split, label, SeedMean.over([*values.values()]), *map(values.get, seeds), signature])
    return make_table(columns, rows)


def _cost_table(group: SystemRuns) -> Table:
    columns = [
        *number_columns("seed"),
        *text_columns("state"),
        *number_columns("parameters", "updates"),
        Column(name="training", content="duration"),
        *number_columns("target tokens/s"),
        Column(name="translation", content="duration"),
        *number_columns("words/s"),
        *number_columns("energy, GPU, kJ", digits=1),
        *text_columns("device", "code"),
    ]
    rows = [
        [
            *(run[key] for key in ("seed", "state", "parameters", "updates", "training_seconds", "tokens_per_second")),
            *(run[key] for key in ("translation_seconds", "words_per_second")),
            None if run["gpu_joules"] is None else run["gpu_joules"] / 1000,
            *(run["device"], (run["commit"] or run["version"] or "")[:12] or None),
        ]
        for run in group.runs
    ]
    return make_table(columns, rows)


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
            values = json.loads(run["settings"])
            return flat_settings({key: value for key, value in values.items() if key not in RUN_KEYS})
    return None


def flat_settings(values: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Flatten settings: {model: {width: 64}} becomes {model.width: 64}, with values as text."""
    flat: dict[str, str] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flat_settings(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            flat[f"{prefix}{key}"] = ", ".join(map(str, value)) or "none"
        else:
            flat[f"{prefix}{key}"] = "none" if value is None else str(value)
    return flat


def run_curves(layout: Layout, group: SystemRuns, *, with_loss: bool = True) -> str:
    """Draw the curves of the runs, with or without the training loss; empty if none has a log."""
    histories = {}
    for run in group.runs:
        path = Path(layout.path("history", **{key: run[key] for key in RUN_KEYS}))
        if path.exists():
            histories[run["seed"]] = path
    if not histories:
        return ""
    entry = system_curves(group.dataset, group.system, histories)
    if not with_loss and len(entry["curves"]) > 1:
        entry["curves"].pop("loss", None)
    return curves_svg([entry], title=f"Curves of {group.system} on {group.dataset}") if entry["curves"] else ""


def empty_seeds(layout: Layout, group: SystemRuns) -> list[str]:
    """Write a sentence for each seed and scored test whose translations are mostly empty."""
    return [
        sentence
        for run in group.runs
        for sentence in empty_folder(
            Path(layout.path("hypotheses", **{key: run[key] for key in RUN_KEYS})),
            group.scores[group.scores.seed == run["seed"]].split.unique(),
            f"{group.origin}, seed {run['seed']}",
        )
    ]


def run_examples(
    layout: Layout, group: SystemRuns, test: Mapping[str, Any], examples: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the examples as the first complete seed translates them; an empty list if it has other sentences."""
    complete = [run for run in group.runs if run["state"] == FINISHED]
    if not complete or not examples:
        return []
    names = {key: complete[0][key] for key in RUN_KEYS}
    folder = Path(layout.path("hypotheses", **names))
    outputs = read_outputs({group.system: {names["seed"]: folder}}, test["split"])
    if examples[-1]["row"] >= len(outputs.references):
        raise UserError(f"{folder} has fewer translations than another system of {group.dataset}.")
    evaluation = build(EvaluationSettings, test["evaluation"], where=group.dataset)
    (translations,) = outputs.translations[group.system].values()
    return translated_examples(examples, translations, outputs.references, evaluation)
