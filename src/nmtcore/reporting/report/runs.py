"""The runs of a system on a data set: their scores, their difference from the baseline, and the parts of a section."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import Difference, bootstrap_weights, difference_of, sampled_scores
from nmtcore.evaluation.counts import SentenceCounts, length_ratio, read_counts
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.outputs import read_outputs
from nmtcore.files import read_json
from nmtcore.layout import Layout, file_name
from nmtcore.reporting.curves_figure import curves_svg, system_curves
from nmtcore.reporting.empty_translations import empty_folder
from nmtcore.reporting.manifest import FINISHED
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

_NAMES = ("dataset", "system", "scale", "seed")


class SystemRuns(NamedTuple):
    """The runs of a system on a data set, at one scale."""

    dataset: str
    system: str
    manifests: Sequence[Mapping[str, Any]]
    """One per seed, sorted."""

    @property
    def origin(self) -> str:
        """The name of the runs in tables."""
        return f"{self.dataset}/{self.system}"

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return [manifest["seed"] for manifest in self.manifests]

    def counts(self, layout: Layout, split: str) -> list[SentenceCounts]:
        """Read what BLEU counts in the sentences of a split, of each finished run."""
        finished = [run for run in self.manifests if run["state"] == FINISHED]
        folders = [Path(layout.path("counts", **{key: run[key] for key in _NAMES})) for run in finished]
        paths = [folder / file_name("split_counts", split=split) for folder in folders]
        return [read_counts(path, "bleu", METRICS["bleu"].score) for path in paths if path.exists()]

    def mean(self, split: str, label: str) -> SeedMean | None:
        """Return the mean score over the seeds that have it; None if none has."""
        values = [value for run in self.manifests if (value := _score(run, split, label)) is not None]
        return SeedMean.over(values) if values else None


def group_runs(manifests: Iterable[Mapping[str, Any]]) -> list[SystemRuns]:
    """Group manifests of one scale by system and data set, sorted by these."""
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for manifest in manifests:
        groups.setdefault((manifest["system"], manifest["dataset"]), []).append(manifest)
    return [
        SystemRuns(dataset, system, sorted(runs, key=lambda run: run["seed"]))
        for (system, dataset), runs in sorted(groups.items())
    ]


def run_differences(
    layout: Layout, groups: Sequence[SystemRuns], tests: Mapping[str, Mapping[str, Any]], *, baseline: str
) -> dict[str, Difference]:
    """Compare the BLEU of runs with that of the baseline on the main test of their data set, by DATASET/SYSTEM.

    Runs of other sentences than the baseline's are not compared.
    """
    compared = {}
    for dataset, test in tests.items():
        own = {group.system: group for group in groups if group.dataset == dataset}
        base = own.pop(baseline).counts(layout, test["split"]) if baseline in own else []
        if not base:
            continue
        weights_AB = bootstrap_weights(len(base[0]))
        sampled = sampled_scores(base, weights_AB)
        for group in own.values():
            counts = group.counts(layout, test["split"])
            if counts and {seed.test for seed in (*counts, *base)} == {base[0].test}:
                compared[group.origin] = difference_of(sampled_scores(counts, weights_AB), sampled)
    return compared


def mean_length_ratio(layout: Layout, group: SystemRuns, split: str) -> float | None:
    """Return the mean length of the translations of a test relative to the references; None without translations."""
    ratios = [length_ratio(seed) for seed in group.counts(layout, split)]
    return sum(ratios) / len(ratios) if ratios else None


def _score(manifest: Mapping[str, Any], split: str, label: str) -> float | None:
    return (manifest.get("scores") or {}).get(split, {}).get(label)


def run_blocks(
    group: SystemRuns,
    settings: Mapping[str, Any] | None,
    baseline: Mapping[str, Any] | None = None,
    *,
    baseline_name: str = "",
) -> list[Block]:
    """Make the tables of a section; `settings` are those of the first seed (`flat_settings`) and of the baseline."""
    blocks: list[Block] = []
    if sources := group.manifests[0].get("external"):
        blocks.append(Paragraph(f"Not trained here; its translations: {sources}"))
    if names := _score_names(group):
        blocks += [Heading("Scores"), _scores_table(group, names)]
    blocks += [Heading("Cost"), _cost_table(group)]
    if settings is not None:
        heading = "Settings" if baseline is None else f"Settings that differ from those of {baseline_name}"
        blocks += [Heading(heading), *_settings_blocks(settings, baseline, baseline_name)]
    return blocks


def _score_names(group: SystemRuns) -> list[tuple[str, str]]:
    """List the tests and scores that some seed has."""
    names = (
        (split, label)
        for run in group.manifests
        for split, scores in (run.get("scores") or {}).items()
        for label in scores
    )
    return list(dict.fromkeys(names))


def _scores_table(group: SystemRuns, names: Sequence[tuple[str, str]]) -> Table:
    """Make a row per test and score, with the mean and each of several seeds."""
    columns = [*text_columns("test", "score"), *number_columns("mean", content="mean", digits=2)]
    runs = group.manifests if len(group.manifests) > 1 else []
    columns += number_columns(*(f"seed {run['seed']}" for run in runs), digits=2)
    rows = [[*name, group.mean(*name), *(_score(manifest, *name) for manifest in runs)] for name in names]
    return make_table(columns, rows)


def _cost_table(group: SystemRuns) -> Table:
    columns = [
        *number_columns("seed"),
        *text_columns("status"),
        *number_columns("parameters", "updates"),
        Column(name="training", content="duration"),
        *number_columns("target tokens/s"),
        Column(name="translation", content="duration"),
        *number_columns("words/s"),
        *number_columns("energy, GPU, kJ", digits=1),
        *text_columns("device", "code"),
    ]
    return make_table(columns, [_cost_row(manifest) for manifest in group.manifests])


def _cost_row(manifest: Mapping[str, Any]) -> list[Any]:
    training = manifest.get("training") or {}
    translation = ((manifest.get("stages") or {}).get("jobs") or {}).get("translate_tests") or {}
    energy = manifest.get("energy_joules") or {}
    code = (manifest.get("code") or {}).get("training") or {}
    return [
        manifest["seed"],
        manifest["state"],
        manifest.get("parameters"),
        *(training.get(key) for key in ("updates", "seconds", "tokens_per_second")),
        *(translation.get(key) for key in ("seconds", "words_per_second")),
        None if energy.get("gpu") is None else energy["gpu"] / 1000,
        (manifest.get("device") or {}).get("name"),
        (code.get("commit") or code.get("version") or "")[:12] or None,
    ]


def _settings_blocks(
    settings: Mapping[str, Any], baseline: Mapping[str, Any] | None, baseline_name: str
) -> list[Block]:
    """Show all settings, or those that differ from the baseline's."""
    if baseline is None:
        return [Paragraph("; ".join(f"{key}: {value}" for key, value in settings.items()))]
    names = dict.fromkeys([*settings, *baseline])
    rows = [[key, settings.get(key), baseline.get(key)] for key in names if settings.get(key) != baseline.get(key)]
    if not rows:
        return [Paragraph("None.")]
    return [make_table(text_columns("setting", "value", baseline_name), rows)]


def read_settings(layout: Layout, group: SystemRuns) -> dict[str, str] | None:
    """Read the settings that the first trained seed recorded, by dotted names; None if none of the runs was trained."""
    for manifest in group.manifests:
        path = Path(layout.path("model", **{key: manifest[key] for key in _NAMES})) / "run.json"
        if path.exists():
            return flat_settings({key: value for key, value in read_json(path).items() if key not in _NAMES})
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
    for manifest in group.manifests:
        path = Path(layout.path("history", **{key: manifest[key] for key in _NAMES}))
        if path.exists():
            histories[manifest["seed"]] = path
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
        for run in group.manifests
        for sentence in empty_folder(
            Path(layout.path("hypotheses", **{key: run[key] for key in _NAMES})),
            run.get("scores") or (),
            f"{group.origin}, seed {run['seed']}",
        )
    ]


def run_examples(
    layout: Layout, group: SystemRuns, test: Mapping[str, Any], examples: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the examples as the first complete seed translates them; an empty list if it has other sentences."""
    complete = [manifest for manifest in group.manifests if manifest["state"] == FINISHED]
    if not complete or not examples:
        return []
    names = {key: complete[0][key] for key in _NAMES}
    folder = Path(layout.path("hypotheses", **names))
    outputs = read_outputs({group.system: {names["seed"]: folder}}, test["split"])
    if examples[-1]["row"] >= len(outputs.references):
        raise UserError(f"{folder} has fewer translations than another system of {group.dataset}.")
    evaluation = build(EvaluationSettings, test["evaluation"], where=group.dataset)
    (translations,) = outputs.translations[group.system].values()
    return translated_examples(examples, translations, outputs.references, evaluation)
