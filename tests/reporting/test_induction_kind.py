"""Tables of the accuracy of induced trees: cells, reasons, and differences by the bootstrap."""

from dataclasses import replace
from pathlib import Path
from statistics import stdev

import numpy as np
import pytest
from reporting.planned import unlinked
from reporting.treebank_tables import HARD, SHARED, TREES, UNTRAINED, TreebankTable

from nmtcore.config.claims import Claim, ClaimedGain, TrainedSystem, claim_from_json, claim_to_json
from nmtcore.config.planned_tables import ComparedRuns, PlannedClaim, PlannedMinus, PlannedRuns
from nmtcore.errors import UserError
from nmtcore.evaluation.compare import OTHER_SEED, SEED, Difference, bootstrap_weights, holm
from nmtcore.evaluation.induction import score_induction
from nmtcore.evaluation.scores import read_gold_trees
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.table import Page, SeedMean, Table
from nmtcore.reporting.table_kinds.induction import induction_content

METRICS = ("directed", "undirected")


@pytest.fixture
def treebank(tmp_path):
    made = TreebankTable(tmp_path)
    made.write_run("shared", SHARED, UNTRAINED)
    made.write_run("hard", HARD)
    return made


def claim(system, baseline, *, metric="directed", elsewhere=False):
    values = Claim(
        paper="p", place="Table 1", says="better", system=TrainedSystem(system, "d"),
        baseline=TrainedSystem(baseline, "d"), baseline_from_elsewhere=elsewhere, dataset="d", split="gold_bank",
        metric=metric, item=None, direction="gain", difference=1.0, level=None, controls=(),
    )  # fmt: skip
    runs = None if elsewhere else f"d/{baseline}"
    return PlannedClaim(
        claim=claim_to_json(values), system=f"d/{system}", baseline=runs, dataset="d", split="gold_bank"
    )


def cells_of(treebank, rows=("shared", "hard", "left", "right")):
    return [
        treebank.cell(row, f"d/gold_bank/{metric}", metric=metric, published=10.0 + i)
        for row in rows
        for i, metric in enumerate(METRICS)
    ]


def content_of(treebank, cells=None, claims=()):
    table = treebank.plan("induction", cells or cells_of(treebank), claims)
    return induction_content(table, treebank.layout)


def rows_of(content, position=0):
    table = [block for block in content.blocks if isinstance(block, Table)][position]
    return [column.name for column in table.columns], {row[0].value: row[1:] for row in table.rows}


def test_every_cell_equals_the_scores_of_the_summaries(treebank):
    columns, rows = rows_of(content_of(treebank))
    assert columns == [
        "trees",
        "d/gold_bank/directed, published", "d/gold_bank/directed",
        "d/gold_bank/undirected, published", "d/gold_bank/undirected",
        "d/gold_bank/undirected, undirected over predicted edges",
    ]  # fmt: skip
    gold = read_gold_trees(treebank.pairs, treebank.trees, len(TREES))
    scores = score_induction(gold, {"shared": SHARED, "untrained": UNTRAINED, "hard": HARD})
    measures = ("directed", "undirected_gold_edges", "undirected_predicted_edges")
    for name in ("hard", "left", "right"):
        values = [cell.value for cell in rows[name]]
        assert (values[0], values[2]) == (10.0, 11.0)
        expected = [scores[name][measure] for measure in measures]
        assert [values[1].mean, values[3].mean, values[4].mean] == pytest.approx(expected)
    # 8 words are scored: left branching joins 6 with their gold heads, and gold trees 4 with the next word.
    assert [rows["left"][column].value.mean for column in (3, 4)] == [75, 50]
    random = [rows["random (added)"][column].value for column in (1, 3, 4)]
    assert [mean.mean for mean in random] == pytest.approx([scores["random"][measure] for measure in measures])
    # The second seed of `shared` has the trees of the untrained model.
    both = [scores[name]["directed"] for name in ("shared", "untrained")]
    assert rows["shared"][1].value == pytest.approx(SeedMean(np.mean(both), np.std(both, ddof=1)))
    assert rows["hard, untrained (added)"][1].value.mean == pytest.approx(scores["untrained"]["directed"])
    assert list(rows)[:2] == ["shared", "shared, untrained (added)"]


def test_differences_of_runs_are_those_of_resampled_sentences(treebank):
    content = content_of(treebank, claims=(claim("hard", "shared"), claim("hard", "left", elsewhere=True)))
    gold = read_gold_trees(treebank.pairs, treebank.trees, len(TREES))
    counts = {
        name: [(np.sum((heads == tree.heads_W) & tree.scored_W), tree.scored_W.sum()) if tree else (0, 0)
               for heads, tree in zip(map(np.array, trees), gold, strict=True)]
        for name, trees in {"hard": HARD, "shared": SHARED, "untrained": UNTRAINED}.items()
    }  # fmt: skip
    sampled = {name: [] for name in counts}
    for weights in bootstrap_weights(len(TREES)):
        for name, rows in counts.items():
            words = sum(w * n for w, (_, n) in zip(weights, rows, strict=True))
            right = sum(w * c for w, (c, _) in zip(weights, rows, strict=True))
            sampled[name].append(100 * right / words if words else 0.0)
    own, result = np.array(sampled["hard"]), content.data["differences"][0]["result"]
    other = (np.array(sampled["shared"]) + np.array(sampled["untrained"])) / 2
    assert result["sentence_error"] == pytest.approx(np.std(own - other, ddof=1))
    _, rows = rows_of(content)
    assert result["delta"] == pytest.approx(rows["hard"][1].value.mean - rows["shared"][1].value.mean)
    left = content.data["differences"][1]["result"]
    assert left["delta"] == pytest.approx(rows["hard"][1].value.mean - rows["left"][1].value.mean)
    assert left["seed_error"] is None
    assert unlinked(content.blocks) == []
    differences = [block for block in content.blocks if isinstance(block, Table)][1]
    names = [column.name for column in differences.columns]
    linked = {name: [row[names.index(name)].origin for row in differences.rows] for name in ("baseline", "p", "Holm")}
    assert linked == {"baseline": ["d/shared", "d"], "p": ["d/hard"] * 2, "Holm": ["d/hard"] * 2}


def test_a_comparison_that_two_claims_are_about_counts_once(treebank):
    """Another claim may say the same, or be about a data set that the same one stands in for."""
    first, other = claim("hard", "shared"), claim("shared", "left", elsewhere=True)
    again = replace(first, claim=first.claim | {"says": "as good", "direction": "no_gain", "dataset": "e"})
    treebank.write_run("shared", SHARED, UNTRAINED, HARD)
    content = content_of(treebank, claims=(first, again, other))
    entries = content.data["differences"]
    p_values = [entry["result"]["p"] for entry in entries]
    assert p_values[0] == p_values[1]
    corrected = holm({"first": p_values[0], "other": p_values[2]})
    assert [entry["holm"] for entry in entries] == [corrected["first"], corrected["first"], corrected["other"]]
    assert corrected["first"] < holm(dict(enumerate(p_values)))[0]


def test_a_baseline_that_is_not_trained_has_no_variance_over_seeds(treebank):
    planned = claim("shared", "right", metric="undirected", elsewhere=True)
    content = content_of(treebank, claims=(planned,))
    result = content.compare(planned, ComparedRuns("d/shared", None))
    assert isinstance(result, Difference)
    (scores,) = {tuple(e["scores"]["undirected_gold_edges"]) for e in content.data["scores"] if e["runs"] == "d/shared"}
    assert result.seed_error == pytest.approx(stdev(scores) / 2**0.5)


def test_what_cannot_be_measured_has_its_reason(treebank):
    treebank.runs["d/nmt"] = PlannedRuns(dataset="d", system="nmt", seeds=(1,))
    table = treebank.plan(
        "induction",
        [
            treebank.cell("nmt", "c", metric="directed", published=1.5),
            treebank.cell("hard", "c", metric="directed", split="test"),
            treebank.cell("other", "c", metric="directed", dataset=None, split=None, reason="no data set"),
            treebank.cell("gold", "c", metric="directed"),
            treebank.cell("left", "c", metric="uas"),
        ],
    )
    del table.more["parsed"]["d/nmt"]
    content = induction_content(table, treebank.layout)
    _, rows = rows_of(content)
    assert [rows[name][1].reason for name in ("nmt", "hard", "other", "gold", "left")] == [
        "nmt does not parse",
        "test is no treebank with gold trees of the source side",
        "no data set",
        "gold has no trees",
        "uas is no measure of induced trees",
    ]
    assert rows["nmt"][0].value == 1.5
    assert all(row[1].value is None for name, row in rows.items() if "added" not in name)


def test_claims_without_parses_have_reasons(treebank):
    treebank.runs["d/nmt"] = PlannedRuns(dataset="d", system="nmt", seeds=(1,))
    table = treebank.plan(
        "induction", cells_of(treebank, ("hard",)), (claim("hard", "nmt"), claim("hard", "gold", elsewhere=True))
    )
    del table.more["parsed"]["d/nmt"]
    content = induction_content(table, treebank.layout)
    assert [entry["reason"] for entry in content.data["differences"]] == [
        "nmt does not parse", "gold has no trees to compare",
    ]  # fmt: skip


def test_runs_that_parsed_different_sentences_are_refused(treebank):
    treebank.write_run("few", SHARED[:2], untrained=UNTRAINED[:2])
    with pytest.raises(UserError, match="d/shared and d/few parsed different sentences of gold_bank"):
        content_of(treebank, claims=[claim("shared", "few")])


def test_the_page_says_what_is_measured(treebank):
    content = content_of(treebank, claims=(claim("hard", "shared"),))
    text = page_markdown(Page(title="Induction", blocks=tuple(content.blocks)))
    assert "| better | d | gold_bank | directed | hard | shared | 1 | +1.0 |" in text
    assert "One seed (hard on d): an interval from one seed leaves training noise out" in text


def sampled_by_hand(seeds, gold, weights_AB):
    """Count right words of resampled sentences with plain loops: scores of the seeds, and the mean of each sample."""
    counts = [
        [(int(np.sum((np.array(heads) == tree.heads_W) & tree.scored_W)), int(tree.scored_W.sum())) if tree else (0, 0)
         for heads, tree in zip(trees, gold, strict=True)]
        for trees in seeds
    ]  # fmt: skip
    samples = []
    for weights in weights_AB:
        scores = []
        for rows in counts:
            words = sum(w * n for w, (_, n) in zip(weights, rows, strict=True))
            scores.append(100 * sum(w * c for w, (c, _) in zip(weights, rows, strict=True)) / words if words else 0.0)
        samples.append(np.mean(scores))
    return [100 * sum(c for c, _ in rows) / sum(n for _, n in rows) for rows in counts], np.array(samples)


def across(system, minus=None):
    """Plan a claim that a system has better trees if it is trained on `d` instead of `e`."""
    planned = claim(system, "shared")
    values = planned.claim | {"baseline": [system, "e"]}
    return replace(planned, claim=values, baseline=f"e/{system}", minus=minus)


def test_a_system_trained_on_two_data_sets_is_compared_on_one_treebank(treebank):
    treebank.write_treebank("e")
    treebank.write_run("shared", HARD, SHARED, dataset="e")
    content = content_of(treebank, claims=(across("shared"),))
    gold = read_gold_trees(treebank.pairs, treebank.trees, len(TREES))
    weights = bootstrap_weights(len(TREES))
    own, other = (sampled_by_hand(seeds, gold, weights) for seeds in ((SHARED, UNTRAINED), (HARD, SHARED)))
    result = content.data["differences"][0]["result"]
    assert result["delta"] == pytest.approx(np.mean(own[0]) - np.mean(other[0]))
    assert result["sentence_error"] == pytest.approx(np.std(own[1] - other[1], ddof=1))
    assert result["seed_error"] ** 2 == pytest.approx((np.var(own[0], ddof=1) + np.var(other[0], ddof=1)) / 2)
    text = page_markdown(Page(title="Induction", blocks=tuple(content.blocks)))
    assert "| better | d | gold_bank | directed | shared | shared on e | 2 | +1.0 |" in text


def test_treebanks_with_other_trees_are_not_compared(treebank):
    treebank.write_treebank("e", [TREES[0], None, [0], [0, *TREES[3][1:]]])
    treebank.write_run("shared", HARD, dataset="e")
    content = content_of(treebank, claims=(across("shared"),))
    assert content.data["differences"][0]["reason"] == "d/shared and e/shared are not tested on the same trees"


@pytest.mark.parametrize("same", [True, False])
def test_the_difference_of_two_gains_pairs_the_same_treebank(treebank, same):
    trees = TREES if same else [TREES[0], [0, 1], [0], TREES[3]]
    treebank.write_treebank("e", trees)
    treebank.write_run("shared", SHARED, HARD, dataset="e")
    treebank.write_run("hard", UNTRAINED, SHARED, dataset="e")
    minus = PlannedMinus(system="e/hard", baseline="e/shared", dataset="e", split="gold_bank")
    both = replace(claim("hard", "shared"), minus=minus)
    other = ClaimedGain(TrainedSystem("hard", "e"), TrainedSystem("shared", "e"), "e", "gold_bank")
    both = replace(both, claim=claim_to_json(claim_from_json(both.claim)._replace(minus=other)))
    content = content_of(treebank, claims=(both,))
    files = [(treebank.pairs, treebank.trees)] * 2
    files[1] = tuple(Path(path) for path in treebank.facts["treebanks"]["e"]["gold_bank"].values())
    gold = [read_gold_trees(*own, len(TREES)) for own in files]
    weights = [bootstrap_weights(len(TREES)), bootstrap_weights(len(TREES), seed=SEED if same else OTHER_SEED)]
    terms = [
        sampled_by_hand(seeds, gold[bank], weights[bank])
        for seeds, bank in (((HARD,), 0), ((SHARED, UNTRAINED), 0), ((UNTRAINED, SHARED), 1), ((SHARED, HARD), 1))
    ]
    factors = (1, -1, -1, 1)
    result = content.data["differences"][0]["result"]
    assert result["delta"] == pytest.approx(sum(f * np.mean(own[0]) for f, own in zip(factors, terms, strict=True)))
    samples = sum(f * own[1] for f, own in zip(factors, terms, strict=True))
    assert result["sentence_error"] == pytest.approx(np.std(samples, ddof=1))
    text = page_markdown(Page(title="Induction", blocks=tuple(content.blocks)))
    assert "| better (gains more than hard over shared on e, gold_bank) | d |" in text
