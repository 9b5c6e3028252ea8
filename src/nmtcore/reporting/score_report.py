"""Scores of files of translations, compared with the first system's, as text for the terminal."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.agreement import MEANING, expected_agreement
from nmtcore.evaluation.compare import (
    SAMPLES,
    SystemScores,
    bootstrap_weights,
    compare_systems,
    holm,
    paired_tests,
    randomisation_swaps,
)
from nmtcore.evaluation.counts import SentenceCounts
from nmtcore.evaluation.metrics import METRICS
from nmtcore.evaluation.outputs import SplitOutputs
from nmtcore.evaluation.seeds import summarise_seeds
from nmtcore.reporting.empty_translations import mostly_empty
from nmtcore.reporting.seed_items import one_seed_sentence
from nmtcore.reporting.terminal_table import terminal_table

_NOTES = f"""
The baseline is {{baseline}}. Scores are means over seeds, ± their standard deviation if there are several.
difference: from the baseline's mean. 95 % interval: of the difference, by the variance over seeds and over {SAMPLES:,}
paired bootstrap samples of the sentences together. detectable: the smallest difference that would be detected with a
probability of 80 %. p: from the same variances; Holm: corrected for the number of comparisons by this metric.
judges: {MEANING}
"""
_TESTS = (
    "sacreBLEU's paired tests compare single runs, the first with the first of the baseline and so on: the difference "
    "of their scores, and the p-values of the paired bootstrap and of approximate randomisation. They say that a run "
    "is better, not that a system is."
)


def score_report(
    outputs: SplitOutputs, evaluation: EvaluationSettings, *, metrics: Sequence[str], tests: bool = False
) -> str:
    """Score all systems by each metric, compare them with the first one, and format tables, signatures and notes.

    With `tests`, each seed is also compared with that of the first system by sacreBLEU's paired tests. Raises
    `UserError` if systems are to be compared on a single sentence.
    """
    names = list(outputs.translations)
    sentences = len(outputs.references)
    if len(names) > 1 and sentences < 2:
        raise UserError("Systems cannot be compared on a single sentence: provide more, or score one system at a time.")
    blocks = [f"{sentences:,} sentence{'s' * (sentences > 1)}\n"]
    empty = [
        warning
        for name, seeds in outputs.translations.items()
        for seed, lines in seeds.items()
        for warning in mostly_empty(f"{name}, file {seed}", lines)
    ]
    if empty:
        blocks.append("".join(f"{textwrap.fill(warning, 120)}\n" for warning in empty))
    compared: dict[str, SystemScores] = {}
    tests = tests and len(names) > 1
    for metric in metrics:
        counts = {
            name: [METRICS[metric].count(lines, outputs.references, evaluation) for lines in seeds.values()]
            for name, seeds in outputs.translations.items()
        }
        compared = compare_systems(counts, baseline=names[0])
        blocks.append(f"{counts[names[0]][0].signature}\n{_metric_table(metric, compared)}")
        if tests:
            blocks.append(_test_table(metric, counts))
    notes = list(_notes(outputs, compared, tested=tests))
    return "\n".join(blocks) + ("\n" + "".join(f"{textwrap.fill(note, 120)}\n" for note in notes) if notes else "")


def _metric_table(metric: str, compared: Mapping[str, SystemScores]) -> str:
    differences = {name: scores.difference for name, scores in compared.items() if scores.difference}
    corrected = holm({name: own.p for name, own in differences.items()})
    header = [METRICS[metric].label, "seeds", "score"]
    if differences:
        header += ["difference", "95 % interval", "detectable", "p", "Holm", "judges"]
    rows = []
    for name, scores in compared.items():
        score = summarise_seeds([{"score": value} for value in scores.scores])["score"]
        stdev = "" if score["stdev"] is None else f" ± {score['stdev']:.2f}"
        row: list[str | None] = [name, str(len(scores.scores)), f"{score['mean']:.2f}{stdev}"]
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
            row = [f"{tested.delta:+.2f}", _p_text(tested.bootstrap), _p_text(tested.randomisation)]
            rows.append([name, str(seed), *row])
    return terminal_table([METRICS[metric].label, "seed", "difference", "bootstrap", "randomisation"], rows)


def _same_as_baseline(outputs: SplitOutputs) -> list[str]:
    """Name the systems with the baseline's translations."""
    baseline, *others = outputs.translations
    expected = list(outputs.translations[baseline].values())
    return [name for name in others if list(outputs.translations[name].values()) == expected]


def _p_text(p: float | None) -> str:
    return "n/a" if p is None else "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0")


def _notes(outputs: SplitOutputs, compared: Mapping[str, SystemScores], *, tested: bool) -> Iterator[str]:
    """Yield paragraphs that explain the columns, and what is special about these systems."""
    differences = {name: scores.difference for name, scores in compared.items() if scores.difference}
    if not differences:
        return
    for name in _same_as_baseline(outputs):
        yield f"{name} has the same translations as the baseline."
    yield " ".join(_NOTES.format(baseline=next(iter(compared))).split())
    if tested:
        yield _TESTS
    single = [name for name, seeds in outputs.translations.items() if len(seeds) == 1]
    if single:
        yield one_seed_sentence("all" if len(single) == len(compared) else ", ".join(single))
