"""Scores of files of translations, compared with the first system's, as text for the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import (
    MEANING,
    SAMPLES,
    SystemScores,
    bootstrap_weights,
    compare_systems,
    expected_agreement,
    holm,
    paired_tests,
    randomisation_swaps,
)
from nmtcore.evaluation.counts import SentenceCounts, length_ratio
from nmtcore.evaluation.metrics import METRICS, count_translations
from nmtcore.evaluation.outputs import SplitOutputs
from nmtcore.reporting.empty_translations import mostly_empty
from nmtcore.reporting.seed_items import one_seed_sentence
from nmtcore.reporting.terminal_table import (
    difference_text,
    fill_terminal,
    fitting_table,
    spread_text,
    terminal_table,
    without_common_parts,
)

_NOTES = (
    "length: of the translations, divided by that of the references. difference: from {baseline}, ± half of its 95 % "
    f"interval, by the variance over seeds and over {SAMPLES:,} paired bootstrap samples of the sentences together."
)
_ALL_NOTES = (
    "detectable: the smallest difference that would be detected with a probability of 80 %. p: from the same "
    f"variances; Holm: corrected for the number of comparisons by this metric. judges: {MEANING}"
)
_TESTS = (
    "sacreBLEU's paired tests compare single runs, the first with the first of the baseline and so on: the difference "
    "of their scores, and the p-values of the paired bootstrap and of approximate randomisation. They say that a run "
    "is better, not that a system is."
)


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
    names = list(outputs.translations)
    sentences = len(outputs.references)
    if len(names) > 1 and sentences < 2:
        raise UserError("Systems cannot be compared on a single sentence: provide more, or score one system at a time.")
    empty = [
        warning
        for name, seeds in outputs.translations.items()
        for seed, lines in seeds.items()
        for warning in mostly_empty(f"{name}, file {seed}", lines)
    ]
    counted = {
        name: [count_translations(lines, outputs.references, evaluation, metrics) for lines in seeds.values()]
        for name, seeds in outputs.translations.items()
    }
    by_metric = {
        metric: {name: [own[metric] for own in seeds] for name, seeds in counted.items()} for metric in metrics
    }
    compared = {metric: compare_systems(counts, baseline=names[0]) for metric, counts in by_metric.items()}
    shown = dict(zip(names, without_common_parts(names), strict=True))
    blocks = [f"{sentences:,} sentence{'s' * (sentences > 1)}\n", *["".join(map(fill_terminal, empty))] * bool(empty)]
    if every:
        blocks += [_metric_table(metric, own, shown) for metric, own in compared.items()]
    else:
        blocks.append(_table(compared, by_metric["bleu"], shown))
    if tests and len(names) > 1:
        blocks += [_test_table(metric, counts, shown) for metric, counts in by_metric.items()]
    signatures = [f"{METRICS[metric].label}: {counts[names[0]][0].signature}\n" for metric, counts in by_metric.items()]
    notes = list(_notes(outputs, shown, tested=tests, every=every)) if len(names) > 1 else []
    return "\n".join([*blocks, "".join(signatures), *["".join(map(fill_terminal, notes))] * bool(notes)])


def _table(
    compared: Mapping[str, Mapping[str, SystemScores]],
    bleu: Mapping[str, Sequence[SentenceCounts]],
    shown: Mapping[str, str],
) -> str:
    """Tabulate the scores by all metrics, with the differences from the first system if there are others."""
    header = ["system"]
    for metric in compared:
        header += [METRICS[metric].label, *["length"] * (metric == "bleu"), *["difference"] * (len(shown) > 1)]
    rows = []
    for name, label in shown.items():
        row: list[str | None] = [label]
        for metric, scores in compared.items():
            row.append(spread_text(scores[name].scores))
            if metric == "bleu":
                row.append(f"{fmean(map(length_ratio, bleu[name])):.2f}")
            row += [difference_text(scores[name].difference)] * (len(shown) > 1)
        rows.append(row)
    return fitting_table(header, rows, dispensable=range(len(header) - 1, 3, -1))


def _metric_table(metric: str, compared: Mapping[str, SystemScores], shown: Mapping[str, str]) -> str:
    differences = {name: scores.difference for name, scores in compared.items() if scores.difference}
    corrected = holm({name: own.p for name, own in differences.items()})
    header = [METRICS[metric].label, "seeds", "score"]
    if differences:
        header += ["difference", "95 % interval", "detectable", "p", "Holm", "judges"]
    rows = []
    for name, scores in compared.items():
        row: list[str | None] = [shown[name], str(len(scores.scores)), spread_text(scores.scores, digits=2)]
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


def _test_table(metric: str, counts: Mapping[str, Sequence[SentenceCounts]], shown: Mapping[str, str]) -> str:
    """Test each seed of the systems against that of the first one; seeds that only one of them has are left out."""
    baseline, *systems = counts
    sentences = len(counts[baseline][0])
    draws = bootstrap_weights(sentences), randomisation_swaps(sentences)
    rows: list[list[str | None]] = []
    for name in systems:
        for seed, pair in enumerate(zip(counts[name], counts[baseline], strict=False), start=1):
            tested = paired_tests(*pair, *draws)
            row = [f"{tested.delta:+.2f}", _p_text(tested.bootstrap), _p_text(tested.randomisation)]
            rows.append([shown[name], str(seed), *row])
    return terminal_table([METRICS[metric].label, "seed", "difference", "bootstrap", "randomisation"], rows)


def _same_as_baseline(outputs: SplitOutputs) -> list[str]:
    """Name the systems with the baseline's translations."""
    baseline, *others = outputs.translations
    expected = list(outputs.translations[baseline].values())
    return [name for name in others if list(outputs.translations[name].values()) == expected]


def _p_text(p: float | None) -> str:
    return "n/a" if p is None else "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")


def _notes(outputs: SplitOutputs, shown: Mapping[str, str], *, tested: bool, every: bool) -> Iterator[str]:
    """Yield paragraphs that explain the columns, and what is special about these systems."""
    for name in _same_as_baseline(outputs):
        yield f"{shown[name]} has the same translations as the baseline."
    yield _NOTES.format(baseline=next(iter(shown.values())))
    if every:
        yield _ALL_NOTES
    if tested:
        yield _TESTS
    single = [shown[name] for name, seeds in outputs.translations.items() if len(seeds) == 1]
    if single:
        yield one_seed_sentence("all" if len(single) == len(shown) else ", ".join(single))
