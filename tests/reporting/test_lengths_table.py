"""Tables of the kind lengths: scores by the length of the source sentence, and their figure."""

import re

import numpy as np
import pytest
from evaluation.test_metrics import own_bleu
from reporting.planned import plan_cell, plan_claim, plan_translations, unlinked
from reporting.runs import EVALUATION, Results, write_comet_scores

from nmtcore.config.datasets import EvaluationSettings
from nmtcore.config.planned_tables import ComparedRuns
from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import Difference
from nmtcore.reporting.lengths_figure import length_points
from nmtcore.reporting.table import Items, Page, SeedMean
from nmtcore.reporting.table_content import Undecided, judged_claims
from nmtcore.reporting.table_kinds.lengths import LONG, draw_lengths, lengths_content

BOTH = ComparedRuns("d/better", "d/base")
LENGTHS = [4, 10, 11, 15, 20, 25, 25, 70] * 10
SOURCES = [" ".join(["w"] * length) for length in LENGTHS]
REFERENCES = [f"the cat number {row} sees a dog in the park ." for row in range(len(LENGTHS))]
FACTS = {"share_of_long_sentences": 0.3}


def translate(step):
    """Replace every `step`-th word of the references."""
    words = [line.split() for line in REFERENCES]
    return [
        " ".join("xyz" if (row + k) % step == 0 else word for k, word in enumerate(line))
        for row, line in enumerate(words)
    ]


def cells(column="ours", **changes):
    return [plan_cell("base", column), plan_cell("better", column, baseline_runs="d/base", **changes)]


@pytest.fixture
def results(tmp_path):
    results = Results(tmp_path, SOURCES, REFERENCES)
    for system, step in (("base", 2), ("better", 5)):
        for seed in (1, 2):
            results.write_run(system, seed, translate(step + seed))
    return results


def planned(*columns, **changes):
    values = {"baselines": ("base",), "facts": FACTS, "claims": (plan_claim(LONG, difference=2),)}
    systems = {"base": [1, 2], "better": [1, 2]}
    return plan_translations(
        "lengths", [cell for column in columns or (cells(),) for cell in column], systems, **values | changes
    )


def tables(content):
    return Page(title="", blocks=tuple(content.blocks)).tables


def test_mostly_empty_translations_are_named_on_top(results):
    results.write_run("better", 2, [""] * 60 + REFERENCES[60:])
    content = lengths_content(planned(), results.layout)
    assert content.blocks[0] == Items(("d/better, seed 2, test: 60 of 80 translations are empty.",))


def test_comet_of_each_bin_is_the_mean_over_its_sentences(results):
    scores = {}
    for system in ("base", "better"):
        for seed in (1, 2):
            scores[system, seed] = np.random.default_rng(seed + len(system)).random(len(LENGTHS))
            write_comet_scores(results.layout, system, seed, list(scores[system, seed]), REFERENCES)
    content = lengths_content(planned(measures={"bleu": "comet"}), results.layout)
    entry = next(own for own in content.data["entries"] if (own["subset"], own["row"]) == ("11 to 20", "better"))
    rows = [i for i, length in enumerate(LENGTHS) if 11 <= length <= 20]
    assert entry["scores"] == pytest.approx([100 * scores["better", seed][rows].mean() for seed in (1, 2)])


def test_each_bin_has_the_scores_of_its_sentences(results):
    content = lengths_content(planned(), results.layout)
    evaluation = build(EvaluationSettings, EVALUATION, where="test")
    entries = {(entry["subset"], entry["row"]): entry for entry in content.data["entries"]}
    names = {"at least 25 words": range(25, 99), "1 to 10": range(1, 11), "11 to 20": range(11, 21)}
    names |= {"21 to 30": range(21, 31), "over 60": range(61, 99)}
    assert list(entries) == [(name, row) for name in names for row in ("base", "better")]
    for (name, row), entry in entries.items():
        rows = [i for i, length in enumerate(LENGTHS) if length in names[name]]
        steps = [(2 if row == "base" else 5) + seed for seed in (1, 2)]
        own = [
            own_bleu([translate(step)[i] for i in rows], [REFERENCES[i] for i in rows], evaluation) for step in steps
        ]
        assert entry["scores"] == pytest.approx(own)
        assert entry["sentences"] == len(rows)
        low, high = entry["interval"]
        assert low < sum(own) / 2 < high
    assert entries["1 to 10", "base"]["difference"] is None
    difference = entries["1 to 10", "better"]["difference"]
    means = [sum(entries["1 to 10", row]["scores"]) / 2 for row in ("better", "base")]
    assert difference["delta"] == pytest.approx(means[0] - means[1])
    _, bins = tables(content)
    rows = [[cell.value for cell in row] for row in bins.rows]
    assert rows[2][:5] == ["d, test", "1 to 10", "base", 20, 25.0]
    assert isinstance(rows[2][5], SeedMean)
    assert [row[3].mark for row in bins.rows] == [
        "",
        "",
        " (few)",
        " (few)",
        "",
        "",
        " (few)",
        " (few)",
        " (few)",
        " (few)",
    ]


def test_published_gains_on_long_sentences_stand_beside_ours(results):
    content = lengths_content(planned(), results.layout)
    long, _ = tables(content)
    assert unlinked(content.blocks) == []
    ((column, system, baseline, words, sentences, published, gain, interval),) = long.rows
    assert (baseline.value, baseline.origin, gain.origin, sentences.origin) == ("base", "d/base", "d/better", "d")
    assert (column.value, system.value, words.value) == ("ours", "better", "at least 25 words")
    assert (sentences.value, published.value) == (30, 2)
    compared = content.compare(plan_claim(LONG), BOTH)
    assert isinstance(compared, Difference)
    assert (gain.value, tuple(interval.value)) == (compared.delta, compared.interval)


def test_claims_about_few_sentences_or_other_subsets_get_a_reason(results):
    content = lengths_content(planned(facts={}), results.layout)
    few = content.compare(plan_claim(LONG), BOTH)
    assert isinstance(few, Undecided)
    assert few.reason == "the subset (at least 70 words) has 10 of the test's sentences, and fewer than 30 are too few"
    (judged,) = judged_claims(planned(facts={}, claims=(plan_claim(LONG),)), content.compare)
    assert (judged.verdict.answer, judged.verdict.reason) == ("not decided", few.reason)
    assert judged.verdict.difference == few.difference
    assert content.compare(plan_claim("questions"), BOTH) == "questions is no subset by length"
    assert content.compare(plan_claim(LONG), ComparedRuns("d/better", None)) == "there is no score to compare"
    assert isinstance(content.compare(plan_claim(None), BOTH), Difference)


def test_a_data_set_that_stands_in_for_several_is_measured_once(results):
    content = lengths_content(planned(cells("one"), cells("two")), results.layout)
    once = lengths_content(planned(cells("one")), results.layout)
    assert len(content.data["entries"]) == len(once.data["entries"])
    long, _ = tables(content)
    assert [row[0].value for row in long.rows] == ["one", "two"]
    (items,) = (block for block in content.blocks if isinstance(block, Items))
    assert "d, test: the same for the columns one, two." in items.texts


def test_a_system_that_is_not_run_has_empty_cells_with_the_reason(results, tmp_path):
    missing = plan_cell("better", runs=None, reason="d names no parser")
    table = planned([plan_cell("base"), missing])
    content = lengths_content(table, results.layout)
    for shown in tables(content):
        assert list(shown.reasons) == ["d names no parser"]
    assert {point["system"] for point in length_points(content.data["entries"])} == {"base"}
    nothing = plan_cell("base", runs=None, reason="no data set")
    content = lengths_content(planned([nothing, missing]), results.layout)
    assert list(tables(content)[1].reasons) == ["no data set", "d names no parser"]
    draw_lengths(content.data, tmp_path / "nothing.svg", title="Figure 1")
    assert "No system of this figure has scores." in (tmp_path / "nothing.svg").read_text()


def test_a_single_sentence_has_a_score_but_no_intervals(tmp_path):
    results = Results(tmp_path, ["a b"] + ["a"] * 4, ["a b c d e"] * 5)
    results.write_run("base", 1, ["a b c d f"] * 5)
    results.write_run("better", 1, ["a b c d e"] * 5)
    table = plan_translations("lengths", cells(), {"base": [1], "better": [1]}, baselines=("base",))
    content = lengths_content(table, results.layout)
    assert [(entry["sentences"], entry["interval"]) for entry in content.data["entries"][:2]] == [(1, None)] * 2
    (gain,) = tables(content)[0].rows
    assert gain[6].value > 0
    assert gain[7].value is None


def test_too_few_pairs_are_refused(results, tmp_path):
    Results(tmp_path, SOURCES[:5], REFERENCES[:5])
    with pytest.raises(UserError, match=r"test.parquet has 5 sentences, but 80 were translated: delete the older"):
        lengths_content(planned(), results.layout)


def test_the_figure_has_a_panel_per_test_with_all_systems_and_bins(results, tmp_path):
    content = lengths_content(planned(), results.layout)
    draw_lengths(content.data, tmp_path / "lengths.svg", title="Figure 3: scores. Scale quick.")
    svg = (tmp_path / "lengths.svg").read_text()
    texts = re.findall(r"<(?:text|tspan)[^>]*>([^<]+)", svg)
    assert {"1 to 10 (20)", "11 to 20 (30)", "21 to 30 (20)", "over 60 (10)", "base", "better"} <= set(texts)
    assert {"BLEU, d, test", "with 95 % interval", "source words (sentences; hollow: fewer than 30)"} <= set(texts)
    points = list(length_points(content.data["entries"]))
    assert all(point["low"] <= point["score"] <= point["high"] for point in points)
    assert len(points) == 8
