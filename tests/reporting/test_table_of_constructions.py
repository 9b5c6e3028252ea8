"""Tables of the kind constructions: counts of sentences and gains by construction, and their figure."""

import re
from dataclasses import replace
from statistics import variance

import numpy as np
import pytest
from evaluation.test_metrics import own_bleu
from reporting.planned import plan_cell, plan_claim, plan_translations, planned, shown, unlinked
from reporting.runs import EVALUATION, Results

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.planned_tables import ComparedRuns, PlannedMinus, PlannedRuns
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import SEED, Difference, bootstrap_weights
from nmtcore.reporting.constructions_figure import count_bars, gain_points
from nmtcore.reporting.measurements import Measurements
from nmtcore.reporting.table import Page
from nmtcore.reporting.table_content import Undecided
from nmtcore.reporting.table_kinds.constructions import constructions_content, draw_constructions

WORDS = ["the cat sees a dog .", "does he see it ?", "a cat and a dog", "he tries to sleep .", "who is it now ?"]
QUESTION, CONJUNCTION, CONTROL = ["S[q]/NP", "NP"], ["NP", "conj", "NP"], [r"(S\NP)/(S[to]\NP)"]
SUPERTAGS = [["NP"], QUESTION, CONJUNCTION, CONTROL, QUESTION] * 16
ROWS = {"question": [1, 4], "conjunction": [2], "control": [3]}
GAINS = {"question": 1.44, "conjunction": 1.0, "control": 0.1}


def translate(step):
    """Replace every `step`-th word of the references."""
    words = [line.split() for line in WORDS * 16]
    return [
        " ".join("xyz" if (i + k) % step == 0 else word for k, word in enumerate(line)) for i, line in enumerate(words)
    ]


@pytest.fixture
def results(tmp_path):
    results = Results(tmp_path, [f"source {i}" for i in range(80)], WORDS * 16)
    results.write_run("base", 1, translate(3))
    results.write_run("better", 1, translate(9))
    return results


@pytest.fixture
def supertags(results):
    _, _, path = results.write_annotation("target", "ccg", SUPERTAGS)
    return {"supertags": {"d": {"test": path}}}


def gains(more, **changes):
    names = {"system": "better", "metric": "bleu_gain", "baseline_runs": "d/base", **changes}
    cells = [plan_cell(row, "bleu_gain", item=row, published=value, **names) for row, value in GAINS.items()]
    return plan_translations("constructions", cells, {"base": [1], "better": [1]}, baselines=("base",), more=more)


def counts(more, **changes):
    published = {"question": 112, "control": 479, "total": 3007}
    cells = [
        {"row": row, "column": "sentences", "metric": "sentences", "item": row, "split": "test", "published": value}
        | changes
        for row, value in published.items()
    ]
    return planned("constructions", cells, more=more)


def tables(content):
    return Page(title="", blocks=tuple(content.blocks)).tables


def test_gains_stand_beside_the_published_ones(results, supertags):
    content = constructions_content(gains(supertags), results.layout)
    (table,) = tables(content)
    assert unlinked([table]) == []
    rows = shown(table)
    assert [row[:3] + row[5:6] for row in rows] == [
        ["question", "32", "40.0", "+1.44"],
        ["conjunction", "16 (few)", "20.0", "+1.00"],
        ["control", "16 (few)", "20.0", "+0.10"],
        ["all sentences", "80", "100.0", ""],
        ["prepositional", "0 (none)", "0.0", ""],
        ["relative_subordinate", "0 (none)", "0.0", ""],
    ]
    assert [row[6] for row in rows[4:]] == ["(no sentences)"] * 2
    evaluation = build(EvaluationSettings, EVALUATION, where="test")
    for row, places in zip(rows, ROWS.values(), strict=False):
        positions = [i for i in range(80) if i % 5 in places]
        base, better = (
            own_bleu([translate(step)[i] for i in positions], [(WORDS * 16)[i] for i in positions], evaluation)
            for step in (3, 9)
        )
        assert row[3:5] + row[6:7] == [f"{base:.1f}", f"{better:.1f}", f"{better - base:+.2f}"]


def test_claims_about_constructions_are_compared_on_their_sentences(results, supertags):
    content = constructions_content(gains(supertags), results.layout)

    def compare(item, metric="bleu_gain"):
        return content.compare(plan_claim(item, claim={"metric": metric}), ComparedRuns("d/better", "d/base"))

    question = compare("question")
    assert isinstance(question, Difference)
    assert question.delta == content.data["gains"][0]["difference"]["delta"]
    control = compare("control")
    assert isinstance(control, Undecided)
    assert control.difference.delta > 0
    assert control.reason == (
        "the subset (control_raising) has 16 of the test's sentences, and fewer than 30 are too few"
    )
    assert compare("passive") == "passive is no construction"
    assert isinstance(compare(None), Difference)
    assert compare("question", "sentences") == "there is no score to compare"
    without = constructions_content(gains({"supertags": {}}), results.layout)
    assert without.compare(plan_claim("question"), ComparedRuns("d/better", "d/base")) == (
        "d names no annotator for ccg of the target side"
    )


@pytest.fixture
def overlapping(tmp_path):
    """Runs of two seeds on a test with sentences that are both a question and a conjunction."""
    results = Results(tmp_path, [f"source {i}" for i in range(80)], WORDS * 16)
    for name, steps in (("base", (3, 4)), ("better", (9, 6))):
        for seed, step in enumerate(steps, start=1):
            results.write_run(name, seed, translate(step))
    both = [QUESTION[0], "conj"]
    _, _, path = results.write_annotation("target", "ccg", [["NP"], both, CONJUNCTION, CONTROL, QUESTION] * 16)
    return results, replace(gains({"supertags": {"d": {"test": path}}}), runs={
        f"d/{name}": PlannedRuns(dataset="d", system=name, seeds=(1, 2)) for name in ("base", "better")
    })  # fmt: skip


def test_a_gain_is_compared_with_that_on_other_sentences(overlapping):
    """The whole test is sampled; each sample and each seed has a score on the one subset and on the other."""
    results, table = overlapping
    minus = PlannedMinus(system="d/better", baseline="d/base", dataset="d", split="test", item="conjunction")
    claim = plan_claim("question", minus=minus, claim={"metric": "bleu_gain"})
    ours = constructions_content(table, results.layout).compare(claim, claim.compared())
    evaluation = build(EvaluationSettings, EVALUATION, where="test")
    references = WORDS * 16

    def gap(step, rows):
        scores = []
        for places in ((1, 4), (1, 2)):
            chosen = [i for i in rows if i % 5 in places]
            lines = translate(step)
            scores.append(own_bleu([lines[i] for i in chosen], [references[i] for i in chosen], evaluation))
        return scores[0] - scores[1]

    base, better = ([gap(step, range(80)) for step in steps] for steps in ((3, 4), (9, 6)))
    delta = sum(better) / 2 - sum(base) / 2
    assert ours.delta == pytest.approx(delta)
    assert ours.seed_error == pytest.approx(((variance(base) + variance(better)) / 2) ** 0.5)
    draw, gaps = np.random.default_rng(SEED), []
    for _ in range(60):
        rows = draw.choice(80, size=80)
        gaps.append(sum(gap(s, rows) for s in (9, 6)) / 2 - sum(gap(s, rows) for s in (3, 4)) / 2)
    weights = bootstrap_weights(80)[:60]
    measured = Measurements(table, results.layout)
    subsets = [np.array([i for i in range(80) if i % 5 in places]) for places in ((1, 4), (1, 2))]
    assert ours == measured.compare_gains("d/better", "d/base", "test", "bleu", *subsets)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmtcore.reporting.measurements.bootstrap_weights", lambda *args, **kwargs: weights)
        few = Measurements(table, results.layout).compare_gains("d/better", "d/base", "test", "bleu", *subsets)
    assert few.sentence_error == pytest.approx(np.std(gaps, ddof=1))


def test_a_gain_is_not_compared_with_that_on_few_sentences(results, supertags):
    content = constructions_content(gains(supertags), results.layout)

    def compare(item):
        minus = PlannedMinus(system="d/better", baseline="d/base", dataset="d", split="test", item=item)
        claim = plan_claim("question", minus=minus, claim={"metric": "bleu_gain"})
        return content.compare(claim, claim.compared())

    few = compare("conjunction")
    assert isinstance(few, Undecided)
    assert few.reason.startswith("the subset (conjunction) has 16 of the test's sentences, and fewer than 30 are too")
    assert compare("prepositional").startswith("the subset (prepositional) has 0 of the test's sentences")
    assert compare("passive") == "passive is no construction"


def test_counts_stand_beside_the_published_ones(results, supertags):
    content = constructions_content(counts(supertags), results.layout)
    (table,) = tables(content)
    assert unlinked([table]) == []
    assert shown(table) == [
        ["question", "112", "3.7", "32", "40.0"],
        ["control", "479", "15.9", "16 (few)", "20.0"],
        ["total", "3,007", "100.0", "80", "100.0"],
    ]
    bars = list(count_bars(content.data["counts"]))
    assert [(bar["of"], bar["label"]) for bar in bars[:2]] == [("published", "112"), ("d, test", "32")]


@pytest.mark.parametrize("plan", [gains, counts])
def test_without_supertags_all_cells_of_ours_have_the_reason(results, tmp_path, plan):
    content = constructions_content(plan({"supertags": {}}), results.layout)
    (table,) = tables(content)
    assert list(table.reasons) == ["d names no annotator for ccg of the target side"]
    assert len(list(table.rows)) == 3
    assert list(gain_points(content.data["gains"])) == []
    draw_constructions(content.data, tmp_path / "drawn.svg", title="Figure 5.2")
    svg = (tmp_path / "drawn.svg").read_text()
    assert ("has supertags" in svg) == (plan is gains)


def test_a_system_that_is_not_run_has_empty_cells_with_the_reason(results, supertags):
    content = constructions_content(gains(supertags, runs=None, reason="no tags"), results.layout)
    (table,) = tables(content)
    assert [row[6] for row in shown(table)] == ["(no tags)"] * 3
    content = constructions_content(gains(supertags, baseline_runs=None), results.layout)
    assert [row[6] for row in shown(tables(content)[0])][:4] == ["(the baseline is not run)"] * 4


def test_too_few_supertags_are_refused(results):
    _, _, path = results.write_annotation("target", "ccg", SUPERTAGS[:7])
    with pytest.raises(UserError, match=r"parquet has 7 sentences, but 80 were translated: delete the older"):
        constructions_content(gains({"supertags": {"d": {"test": path}}}), results.layout)


def test_the_figure_shows_published_and_own_gains(results, supertags, tmp_path):
    content = constructions_content(gains(supertags), results.layout)
    draw_constructions(content.data, tmp_path / "gains.svg", title="Figure 5.2: gains. Scale quick.")
    texts = re.findall(r"<(?:text|tspan)[^>]*>([^<]+)", (tmp_path / "gains.svg").read_text())
    assert {"question: 32 (40.0 %)", "control: 16 (20.0 %)", "better", "better, published"} <= set(texts)
    assert {"difference from base", "with 95 % interval without training noise"} <= set(texts)
    points = list(gain_points(content.data["gains"]))
    assert [point["difference"] for point in points if "published" in point["system"]] == list(GAINS.values())
    content = constructions_content(counts(supertags), results.layout)
    draw_constructions(content.data, tmp_path / "counts.svg", title="Table 5.8")
    texts = re.findall(r"<(?:text|tspan)[^>]*>([^<]+)", (tmp_path / "counts.svg").read_text())
    assert {"3,007", "80", "question", "published", "d, test"} <= set(texts)
