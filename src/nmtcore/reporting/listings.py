"""Scores for the terminal, each system beside a baseline: of files of translations, a results folder, or the demo."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from textwrap import fill
from typing import TYPE_CHECKING, Any

from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import MEANING, SAMPLES, Difference, compare_systems, expected_agreement, holm
from nmtcore.evaluation.counts import SentenceCounts, empty_count, length_ratio, read_counts
from nmtcore.evaluation.metrics import METRICS, count_translations, score_of
from nmtcore.evaluation.outputs import SplitOutputs
from nmtcore.files import write_text
from nmtcore.layout import Layout, file_name
from nmtcore.reporting.run_index import labelled, read_scores, read_system_counts
from nmtcore.tables.blocks import (
    Column,
    Interval,
    SeedMean,
    estimate_cell,
    estimate_column,
    make_table,
    number_columns,
    text_columns,
)
from nmtcore.tables.measures import measure_named
from nmtcore.tables.pages import fill_terminal, table_text, without_common_parts
from nmtcore.tables.runs import UAS_NOTES
from nmtcore.tables.sheets import mostly_empty, one_seed_sentence

if TYPE_CHECKING:
    import pandas as pd

_DIFFERENCE = (
    "length: of the translations, divided by that of the references. difference: from {baseline}, ± half of its 95 % "
    "interval"
)
_VARIANCES = f"by the variance over seeds and over {SAMPLES:,} paired bootstrap samples of the sentences together."
_MEANS = "Means over seeds, ± the standard deviation."
_DETAILS = (
    "detectable: the smallest difference that would be detected with a probability of 80 %. p: from the same "
    f"variances; Holm: corrected for the number of comparisons by this metric. judges: {MEANING}"
)

_COMMANDS = """\
To go on, type for example (translate a sentence; draw its tree and the
attention; train a control of the head that parses):

source .venv/bin/activate
MODEL={folder}/{scale}/{dataset}/{parser}/seed{seed}/model
echo "The teacher says that the child sleeps." | nmtcore translate $MODEL
echo "The teacher says that the child sleeps." | nmtcore show $MODEL > page.html
snakemake --cores 2 {folder}/{scale}/{dataset}/{parser_control}.bleu
"""

Counts = Mapping[str, Mapping[str, Sequence[SentenceCounts]]]
"""The counts of each seed by metric and by system."""

Differences = Mapping[str, Mapping[str, Difference]]
"""How systems differ from what they are compared with, by metric and by system."""


def systems_text(
    counts: Counts, differences: Differences, *, compared_with: Mapping[str, str | None] | None = None
) -> str:
    """Tabulate systems by all metrics, those that are compared with nothing first.

    Given `compared_with`, there are columns for what a system is compared with, and for the number of seeds. Where the
    terminal is too narrow, seeds are left out, then the last columns up to the difference in BLEU, then lengths.
    """
    pairs = compared_with or {}
    columns = [
        Column(name="system"),
        Column(name="compared with", detail=compared_with is None),
        Column(name="seeds", content="number", detail=compared_with is None),
    ]
    has_empty = any(empty_count(seed) for seeds in counts["bleu"].values() for seed in seeds)
    for metric in counts:
        columns += number_columns(METRICS[metric].label, content="mean", digits=1)
        if metric == "bleu":
            columns += number_columns("length", digits=2)
            columns.append(Column(name="empty", content="number", digits=1, detail=not has_empty))
        columns.append(estimate_column(digits=1))
    rows = []
    for name in sorted(counts["bleu"], key=lambda name: name in differences["bleu"]):
        other = pairs.get(name) if name in differences["bleu"] else None
        row: list[Any] = [name, other, len(counts["bleu"][name])]
        for metric, systems in counts.items():
            seeds = systems[name]
            row.append(SeedMean.over([seed.corpus_score() for seed in seeds]))
            row += [fmean(map(length_ratio, seeds)), fmean(map(empty_count, seeds))] if metric == "bleu" else []
            row.append(estimate_cell(differences[metric].get(name)))
        rows.append(row)
    table = make_table(columns, rows).for_readers()
    names = [column.name for column in table.columns]
    last = range(names.index("length") + has_empty + 2, len(names))
    first, lengths = (
        [i for i, name in enumerate(names) if name in group] for group in (("seeds",), ("length", "empty"))
    )
    return table_text(table, dispensable=[*first, *reversed(last), *lengths])


def score_report(
    outputs: SplitOutputs,
    evaluation: EvaluationSettings,
    *,
    metrics: Sequence[str],
    every: bool = False,
) -> str:
    """Score all systems by each metric, compare them with the first one, and format a table, signatures and notes.

    With `every`, each metric has a table of its own with interval, p and more. Raises `UserError` if systems are to be
    compared on a single sentence.
    """
    translations, sentences = outputs.translations, len(outputs.references)
    if len(translations) > 1 and sentences < 2:
        raise UserError("Systems cannot be compared on a single sentence: provide more, or score one system at a time.")
    shown = dict(zip(translations, without_common_parts(list(translations)), strict=True))
    counted = {
        shown[name]: [count_translations(lines, outputs.references, evaluation, metrics) for lines in seeds.values()]
        for name, seeds in translations.items()
    }
    by_metric = {
        metric: {name: [seed[metric] for seed in seeds] for name, seeds in counted.items()} for metric in metrics
    }
    baseline, *others = counted
    compared_with = dict.fromkeys(others, baseline)
    differences = {metric: compare_systems(counts, compared_with) for metric, counts in by_metric.items()}
    empty = [
        fill_terminal(warning)
        for name, seeds in translations.items()
        for seed, lines in seeds.items()
        for warning in mostly_empty(f"{name}, file {seed}", sum(not line.strip() for line in lines), len(lines))
    ]
    blocks = [f"{sentences:,} sentence{'s' * (sentences > 1)}\n", *["".join(empty)] * bool(empty)]
    if every:
        blocks += [_metric_table(metric, counts, differences[metric]) for metric, counts in by_metric.items()]
    else:
        blocks.append(systems_text(by_metric, differences))
    blocks.append(
        "".join(f"{METRICS[metric].label}: {counts[baseline][0].signature}\n" for metric, counts in by_metric.items())
    )
    if others:
        notes = _notes({shown[name]: list(seeds.values()) for name, seeds in translations.items()}, every=every)
        blocks.append("".join(map(fill_terminal, notes)))
    return "\n".join(blocks)


def _metric_table(
    metric: str, counts: Mapping[str, Sequence[SentenceCounts]], differences: Mapping[str, Difference]
) -> str:
    corrected = holm({name: difference.p for name, difference in differences.items()})
    columns = [
        *text_columns(METRICS[metric].label),
        *number_columns("seeds"),
        *number_columns("score", content="mean", digits=measure_named(metric).digits),
        Column(name="difference", content="number", digits=2, signed=True),
        Column(name="95 % interval", content="interval", digits=2, signed=True),
        *number_columns("detectable", digits=2),
        *number_columns("p", "Holm", content="p_value"),
        *number_columns("judges, %"),
    ]
    rows: list[list[Any]] = []
    for name, seeds in counts.items():
        scores, difference = SeedMean.over([seed.corpus_score() for seed in seeds]), differences.get(name)
        judges = difference and expected_agreement(metric, difference.delta)
        more = difference and [
            difference.delta,
            Interval(*difference.interval),
            difference.detectable,
            difference.p,
            corrected[name],
            judges,
        ]
        rows.append([name, len(seeds), scores, *(more or [None] * 6)])
    return table_text(make_table(columns, rows).for_readers())


def _notes(translations: Mapping[str, Sequence[Sequence[str]]], *, every: bool) -> Iterator[str]:
    """Yield paragraphs that explain the columns, and what is special about these systems."""
    baseline, *others = translations
    for name in others:
        if translations[name] == translations[baseline]:
            yield f"{name} has the same translations as the baseline."
    yield f"{_DIFFERENCE.format(baseline=baseline)}, {_VARIANCES}"
    yield from [_DETAILS] * every
    single = [name for name, seeds in translations.items() if len(seeds) == 1]
    if single:
        yield one_seed_sentence("all" if len(single) == len(translations) else ", ".join(single))


def results_listing(folder: Path, *, compared_with: Callable[[str], str | None], every: bool = False) -> str:
    """Tabulate the scores of all runs in a results folder: BLEU, length and chrF of the first test of each data set.

    `compared_with` names the system that another is compared with, where both have been run. `every` shows all splits
    and scores instead. Raises `UserError` if the folder has no scores, or is not a results folder.
    """
    layout = Layout(results=str(folder))
    scores = read_scores(layout) if folder.is_dir() else None
    if scores is None or scores.empty:
        raise UserError(f"There are no scores in {folder}: name a results folder in which a run has been scored.")
    scores = labelled(scores)
    if every:
        return _all_scores(scores)
    keys = ["scale", "dataset", "split"]
    first = scores[scores.measure == "bleu"].groupby(keys[:2], sort=False).split.first().reset_index()
    blocks = []
    for test, test_scores in scores[scores.measure.isin(("bleu", "chrf"))].merge(first).groupby(keys, sort=False):
        pairs = {name: compared_with(name) for name in sorted(test_scores.system.unique())}
        counts = {measure: read_system_counts(layout, part) for measure, part in test_scores.groupby("measure")}
        differences = {measure: compare_systems(systems, pairs) for measure, systems in counts.items()}
        blocks.append(f"{', '.join(test)}\n{systems_text(counts, differences, compared_with=pairs)}")
    difference = _DIFFERENCE.format(baseline="the system that it is compared with")
    note = f"{_MEANS} {difference}; with one seed this leaves training noise out."
    return "\n".join([*blocks, f"{fill_terminal(note)}More splits and scores: --all.\n"])


def _all_scores(scores: "pd.DataFrame") -> str:
    """Tabulate all scores: a row per scale, data set, system and split, a column per score."""
    keys = {"scale": "scale", "dataset": "data set", "system": "system", "split": "split"}
    labels = list(dict.fromkeys(scores.label))
    shown = [key for key in keys if scores[key].nunique() > 1 or key in ("system", "split")]
    common = [scores[key].iloc[0] for key in keys if key not in shown]
    columns = [
        *text_columns(*(keys[key] for key in shown), "seeds"),
        *number_columns(*labels, content="mean", digits=1),
    ]
    rows = []
    for _, system_scores in scores.groupby(list(keys), sort=False):
        values = system_scores.groupby("label").value.agg(list)
        seeds = ", ".join(map(str, sorted(set(system_scores.seed))))
        means = [SeedMean.over(values[label]) if label in values else None for label in labels]
        rows.append([*system_scores[shown].iloc[0], seeds, *means])
    note = f"{_MEANS} {UAS_NOTES} directed: accuracy of induced trees."
    table = table_text(make_table(columns, rows))
    return f"{', '.join(common)}\n" * bool(common) + f"{table}\n{fill_terminal(note)}"


def write_demo(output: Path, *, counts: Sequence[Path], comparison: Mapping[str, Any], layout: Layout) -> None:
    """Score the demo's systems on a test, each beside what it is compared with, and say so for the terminal.

    Args:
        output: the text.
        counts: the folder of counts of every system and seed.
        comparison: the test (`split`), what each system is `compared_with`, and the systems in the commands.
        layout: names the system and the seed of each folder.
    """
    compared_with = comparison["compared_with"]
    systems: dict[str, list[SentenceCounts]] = {name: [] for name in compared_with}
    for folder in counts:
        path = folder / file_name("split_counts", split=comparison["split"])
        systems[layout.names(folder, "counts")["system"]].append(read_counts(path, "bleu", score_of("bleu")))
    differences = compare_systems(systems, compared_with)
    first_seeds = next(iter(systems.values()))
    pairs = {(name, compared_with[name]): difference for name, difference in differences.items()}
    evidence = meaning(pairs, sentences=len(first_seeds[0]), seeds=len(first_seeds))
    table = systems_text({"bleu": systems}, {"bleu": differences}, compared_with=compared_with)
    commands = _COMMANDS.format(folder=layout.results, **layout.names(counts[0], "counts"), **comparison)
    said = fill(f"After a difference, ± is half of its 95 % interval. {evidence}", 80)
    write_text(output, f"{table}\n{said}\n\n{commands}")


def meaning(differences: Mapping[tuple[str, str], Difference], *, sentences: int, seeds: int) -> str:
    """Say in a sentence how systems differ from what they are compared with, and what limits the evidence."""
    clauses = []
    for (system, other), difference in differences.items():
        low, high = difference.interval
        differs = f"scores {abs(difference.delta):.1f} points of BLEU {'more' if difference.delta > 0 else 'less'} than"
        clauses.append(f"{system} {'does not clearly differ from' if low <= 0 <= high else differs} {other}")
    noise = f"with {seeds} seeds" if seeds > 1 else "with one seed, which leaves out the noise of training"
    return f"On {sentences:,} sentences and {noise}, {', '.join(clauses[:-1])}, and {clauses[-1]}."
