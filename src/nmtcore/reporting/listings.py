"""Scores for the terminal, each system beside a baseline: of files of translations, and of a results folder."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import (
    MEANING,
    SAMPLES,
    Difference,
    SystemScores,
    bootstrap_weights,
    compare_systems,
    expected_agreement,
    holm,
    paired_tests,
    randomisation_swaps,
)
from nmtcore.evaluation.counts import SentenceCounts, empty_count, length_ratio
from nmtcore.evaluation.metrics import METRICS, count_translations
from nmtcore.evaluation.outputs import SplitOutputs
from nmtcore.layout import Layout
from nmtcore.reporting.run_index import labelled, read_scores, system_differences
from nmtcore.reporting.terminal_table import (
    difference_text,
    fill_terminal,
    fitting_table,
    spread_text,
    terminal_table,
    without_common_parts,
)
from nmtcore.tables.scores import UAS_NOTES
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
_TESTS = (
    "sacreBLEU's paired tests compare single runs, the first with the first of the baseline and so on: the difference "
    "of their scores, and the p-values of the paired bootstrap and of approximate randomisation. They say that a run "
    "is better, not that a system is."
)


class _Listed(NamedTuple):
    """The scores of a system by one metric."""

    scores: Sequence[float]
    length: float | None
    """Of BLEU: of the translations, divided by that of the references."""
    empty: float | None
    """Of BLEU: the number of empty translations, a mean over seeds."""
    difference: Difference | None


def _table(systems: Mapping[str, Mapping[str, _Listed]], *, compared: bool, seeds: bool = False) -> str:
    """Tabulate systems by all metrics; where the terminal is too narrow, without seeds, then without the last ones."""
    header = ["system", *["seeds"] * seeds]
    with_empty = any(listed.empty for own in systems.values() for listed in own.values())
    for metric in next(iter(systems.values())):
        of_bleu = ["length", *["empty"] * with_empty] * (metric == "bleu")
        header += [METRICS[metric].label, *of_bleu, *["difference"] * compared]
    rows = []
    for name, own in systems.items():
        row: list[str | None] = [name, *[str(len(listed.scores)) for listed in own.values()][:seeds]]
        for listed in own.values():
            row.append(spread_text(listed.scores))
            if listed.length is not None:
                row += [f"{listed.length:.2f}", *[None if listed.empty is None else f"{listed.empty:.1f}"] * with_empty]
            row += [difference_text(listed.difference)] * compared
        rows.append(row)
    return fitting_table(header, rows, dispensable=[*[1] * seeds, *range(len(header) - 1, 3 + seeds + with_empty, -1)])


def score_report(
    outputs: SplitOutputs,
    evaluation: EvaluationSettings,
    *,
    metrics: Sequence[str],
    tests: bool = False,
    every: bool = False,
) -> str:
    """Score all systems by each metric, compare them with the first one, and format a table, signatures and notes.

    With `every`, each metric has a table of its own with interval, p and more. With `tests`, each seed is also compared
    with that of the first system by sacreBLEU's paired tests. Raises `UserError` if systems are to be compared on a
    single sentence.
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
        metric: {name: [own[metric] for own in seeds] for name, seeds in counted.items()} for metric in metrics
    }
    baseline, *others = counted
    compared = {metric: compare_systems(counts, baseline=baseline) for metric, counts in by_metric.items()}
    empty = [
        fill_terminal(warning)
        for name, seeds in translations.items()
        for seed, lines in seeds.items()
        for warning in mostly_empty(f"{name}, file {seed}", sum(not line.strip() for line in lines), len(lines))
    ]
    blocks = [f"{sentences:,} sentence{'s' * (sentences > 1)}\n", *["".join(empty)] * bool(empty)]
    if every:
        blocks += [_metric_table(metric, own) for metric, own in compared.items()]
    else:
        of_bleu = {
            name: (fmean(map(length_ratio, counts)), fmean(map(empty_count, counts)))
            for name, counts in by_metric["bleu"].items()
        }
        systems = {
            name: {
                metric: _Listed(
                    own[name].scores, *(of_bleu[name] if metric == "bleu" else (None, None)), own[name].difference
                )
                for metric, own in compared.items()
            }
            for name in counted
        }
        blocks.append(_table(systems, compared=bool(others)))
    if tests and others:
        blocks += [_test_table(metric, counts) for metric, counts in by_metric.items()]
    blocks.append(
        "".join(f"{METRICS[metric].label}: {own[baseline][0].signature}\n" for metric, own in by_metric.items())
    )
    if others:
        notes = _notes(
            {shown[name]: list(own.values()) for name, own in translations.items()}, tests=tests, every=every
        )
        blocks.append("".join(map(fill_terminal, notes)))
    return "\n".join(blocks)


def _metric_table(metric: str, compared: Mapping[str, SystemScores]) -> str:
    differences = {name: scores.difference for name, scores in compared.items() if scores.difference}
    corrected = holm({name: own.p for name, own in differences.items()})
    header = [METRICS[metric].label, "seeds", "score"]
    if differences:
        header += ["difference", "95 % interval", "detectable", "p", "Holm", "judges"]
    rows = []
    for name, scores in compared.items():
        row: list[str | None] = [name, str(len(scores.scores)), spread_text(scores.scores, digits=2)]
        if name in differences:
            result = differences[name]
            agreement = expected_agreement(metric, result.delta)
            row += [
                f"{result.delta:+.2f}",
                f"{result.interval[0]:+.2f} to {result.interval[1]:+.2f}",
                f"{result.detectable:.2f}",
                _p_text(result.p),
                _p_text(corrected[name]),
                None if agreement is None else f"{agreement:.0f} %",
            ]
        rows.append(row + [None] * (len(header) - len(row)))
    return terminal_table(header, rows)


def _test_table(metric: str, counts: Mapping[str, Sequence[SentenceCounts]]) -> str:
    """Test each seed of the systems against that of the first one; seeds that only one of them has are left out."""
    baseline, *systems = counts
    sentences = len(counts[baseline][0])
    draws = bootstrap_weights(sentences), randomisation_swaps(sentences)
    rows: list[list[str | None]] = []
    for name in systems:
        for seed, pair in enumerate(zip(counts[name], counts[baseline], strict=False), start=1):
            tested = paired_tests(*pair, *draws)
            rows.append([name, str(seed), f"{tested.delta:+.2f}", *map(_p_text, tested[1:])])
    return terminal_table([METRICS[metric].label, "seed", "difference", "bootstrap", "randomisation"], rows)


def _p_text(p: float | None) -> str:
    return "n/a" if p is None else "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")


def _notes(translations: Mapping[str, Sequence[Sequence[str]]], *, tests: bool, every: bool) -> Iterator[str]:
    """Yield paragraphs that explain the columns, and what is special about these systems."""
    baseline, *others = translations
    for name in others:
        if translations[name] == translations[baseline]:
            yield f"{name} has the same translations as the baseline."
    yield f"{_DIFFERENCE.format(baseline=baseline)}, {_VARIANCES}"
    yield from [_DETAILS] * every
    yield from [_TESTS] * tests
    single = [name for name, seeds in translations.items() if len(seeds) == 1]
    if single:
        yield one_seed_sentence("all" if len(single) == len(translations) else ", ".join(single))


def results_listing(folder: Path, *, baseline: str = "transformer_base", every: bool = False) -> str:
    """Tabulate the scores of all runs in a results folder: BLEU, length and chrF of the first test of each data set.

    Systems are compared with the `baseline` where it has been run. `every` shows all splits and scores instead. Raises
    `UserError` if the folder has no scores, or is not a results folder.
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
    for test, own in scores[scores.measure.isin(("bleu", "chrf"))].merge(first).groupby(keys, sort=False):
        compared_with = dict.fromkeys({*own.system} - {baseline}, baseline)
        differences = {
            measure: system_differences(layout, part, compared_with=compared_with)
            for measure, part in own.groupby("measure")
        }
        names = sorted(own.system.unique(), key=lambda name: (name != baseline, name))
        systems: dict[str, dict[str, _Listed]] = {name: {} for name in names}
        for (system, measure), part in own.groupby(["system", "measure"]):
            empty = part.empty_translations.dropna()
            of_bleu = (part.length_ratio.mean(), empty.mean() if len(empty) else None)
            of_bleu = of_bleu if measure == "bleu" else (None, None)
            systems[system][measure] = _Listed(part.value.tolist(), *of_bleu, differences[measure].get(system))
        blocks.append(f"{', '.join(test)}\n{_table(systems, compared=True, seeds=True)}")
    note = f"{_MEANS} {_DIFFERENCE.format(baseline=baseline)}; with one seed this leaves training noise out."
    return "\n".join([*blocks, f"{fill_terminal(note)}More splits and scores: --all.\n"])


def _all_scores(scores: "pd.DataFrame") -> str:
    """Tabulate all scores: a row per scale, data set, system and split, a column per score."""
    keys = {"scale": "scale", "dataset": "data set", "system": "system", "split": "split"}
    labels = list(dict.fromkeys(scores.label))
    shown = [key for key in keys if scores[key].nunique() > 1 or key in ("system", "split")]
    common = [scores[key].iloc[0] for key in keys if key not in shown]
    rows = []
    for _, own in scores.groupby(list(keys), sort=False):
        values = own.groupby("label").value.agg(list)
        seeds = ", ".join(map(str, sorted(set(own.seed))))
        texts = [spread_text(values[label]) if label in values else None for label in labels]
        rows.append([*own[shown].iloc[0], seeds, *texts])
    table = terminal_table([*(keys[key] for key in shown), "seeds", *labels], rows, text=len(shown) + 1)
    note = f"{_MEANS} {UAS_NOTES} directed: accuracy of induced trees."
    return f"{', '.join(common)}\n" * bool(common) + f"{table}\n{fill_terminal(note)}"
