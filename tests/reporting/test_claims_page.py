"""The ledger of claims: a row for each, with our result or the reason why there is none."""

from dataclasses import replace
from pathlib import Path

import pytest
from published_claims import paper_claims
from reporting.planned import shown, unlinked

from nmtcore.config.project import Project
from nmtcore.config.published import paper_names, read_paper
from nmtcore.evaluation.compare import Difference
from nmtcore.evaluation.verdicts import judge_claim
from nmtcore.reporting.claims_page import claim_row, claims_page
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.table_html import page_html

PROJECT = Project.load(Path(__file__).resolve().parents[2] / "config")
CLAIMS = [claim for name in paper_names(PROJECT) for claim in paper_claims(read_paper(PROJECT, name))]
OURS = Difference(
    delta=1.25, seed_error=0.2, sentence_error=0.3, error=0.36, degrees=8.0,
    interval=(0.42, 2.08), detectable=1.16, p=0.008,
)  # fmt: skip


def column(table, name):
    """Return the cells of a column."""
    position = [own.name for own in table.columns].index(name)
    return [row[position] for row in table.rows]


def test_every_claim_has_a_row_and_nothing_was_run():
    judged = [claim_row(claim, judge_claim(claim, None, reason="no runs")) for claim in CLAIMS]
    page = claims_page(judged, scale="quick")
    (counts,) = page.tables
    assert [[cell.value for cell in row] for row in counts.rows] == [
        ["aycock2021", 25, 0, 0, 0, 25, 0, 0],
        ["bugliarello2020", 78, 0, 0, 0, 78, 0, 0],
        ["pham2018", 52, 0, 0, 0, 52, 0, 0],
        ["tran2018", 60, 0, 0, 0, 60, 0, 0],
    ]
    assert "215 comparisons were not run (no runs: 215)." in page_markdown(page)


def test_a_claim_has_one_row_and_its_comparisons_below():
    says = "Structured attention is not significantly better than flat attention"
    claims = [claim for claim in CLAIMS if claim.says == says]
    deltas = [replace(OURS, delta=delta, interval=(delta - 0.4, delta + 0.4)) for delta in (-1, 0.2, 2.0)]
    judged = [
        claim_row(claim, judge_claim(claim, ours), runs=f"d/{number}")
        for number, (claim, ours) in enumerate(zip(claims, deltas, strict=False))
    ]
    page = claims_page(judged, scale="quick")
    _, table, comparisons = page.tables
    (row,) = [[cell.value for cell in row] for row in table.rows]
    assert row[:6] == ["tran2018", "Table 2", says, "not better", "upheld 2, contradicted 1", 3]
    assert row[6:] == [pytest.approx(sum(claim.difference for claim in claims[:3]) / 3), -1, 2.0]
    assert len(list(comparisons.rows)) == 3
    assert page_html(page).count("<details><summary>3 rows</summary>") == 1


def test_rows_have_the_published_difference_ours_and_the_verdict():
    claim = next(claim for claim in CLAIMS if claim.system.system == "depparse_l1" and claim.level == 0.01)
    verdict = judge_claim(claim, OURS, controls={claim.controls[0]: OURS})
    runs = {"runs": "cs2en/depparse_l1", "baseline_runs": "cs2en/transformer_base"}
    page = claims_page([claim_row(claim, verdict, seeds=5, baseline_seeds=3, **runs)], scale="paper")
    assert unlinked(page.blocks) == []
    (row,) = page.tables[2].rows
    origins = {cell.value: cell.origin for cell in row if cell.value in ("depparse_l1", "transformer_base", 5, 3)}
    assert origins == {
        "depparse_l1": runs["runs"], 5: runs["runs"],
        "transformer_base": runs["baseline_runs"], 3: runs["baseline_runs"],
    }  # fmt: skip
    assert shown(page.tables[0]) == [["pham2018", "1", "1", "0", "0", "0", "1", "1"]]
    assert shown(page.tables[2])[0][3:] == [
        "better", "depparse_l1", "cs2en", "+1.35", "+1.25 ± 0.83", "upheld", "transformer_base",
        "diagonalparse_l1", "", "test", "", "bleu", "1.16", "5", "3", "paper",
    ]  # fmt: skip
    pascal = next(claim for claim in CLAIMS if claim.system == ("pascal", "nc11_en2de_filtered"))
    undecided = judge_claim(pascal, OURS, reason="the scale demo is too small for a verdict")
    table = claims_page([claim_row(pascal, undecided)], scale="demo").tables[2]
    assert column(table, "system")[0].value == "pascal on nc11_en2de_filtered"
    (answer,) = column(table, "verdict")
    assert (answer.value, answer.reason) == ("not decided", "the scale demo is too small for a verdict")


def test_one_seed_decides_nothing():
    claim = next(claim for claim in CLAIMS if claim.system.system == "depparse_l1" and claim.level == 0.01)
    one = replace(OURS, seed_error=None)
    around, below = replace(one, interval=(-1.0, 1.0)), replace(one, interval=(-2.0, -1.0))
    verdicts = [judge_claim(claim, ours) for ours in (OURS, one, around, below)]
    verdicts.append(judge_claim(claim, one, reason="too small"))
    page = claims_page([claim_row(claim, verdict) for verdict in verdicts], scale="quick")
    counts, _, table = page.tables
    assert [(cell.value, cell.reason) for cell in column(table, "verdict")] == [
        ("upheld", ""),
        *[("not decided", "one seed, so that training noise is unknown")] * 3,
        ("not decided", "too small"),
    ]
    assert [cell.value for row in counts.rows for cell in row] == ["pham2018", 5, 1, 0, 4, 0, 0, 1]
    assert (
        "An interval from one seed decides nothing: it leaves training noise out and excludes 0 wrongly in 45 of 100 "
        "simulated pairs of equal systems (seed noise .5, sentence noise .3)."
    ) in page_markdown(page).replace("\n", " ")


def test_claims_that_one_stand_in_serves_share_a_comparison():
    claims = [own for own in CLAIMS if own.system.system == "pascal" and own.paper == "bugliarello2020"][:3]
    verdicts = [judge_claim(claim, OURS) for claim in claims]
    names = {"baseline_runs": "d/base", "our_dataset": "d", "our_split": "test", "runs": "d/pascal"}
    judged = [
        claim_row(own, verdict, **names) | {"metric": "bleu"} for own, verdict in zip(claims, verdicts, strict=True)
    ]
    for changed, count in (({}, 1), ({"runs": "d/other"}, 2), ({"our_split": "dev"}, 2), ({"metric": "ribes"}, 2)):
        counts = claims_page([*judged[:2], judged[2] | changed], scale="quick").tables[0]
        assert [cell.value for cell in column(counts, "claims")] == [3]
        assert [cell.value for cell in column(counts, "comparisons")] == [count], changed


def test_the_margin_of_no_gain_is_shown():
    claim = next(claim for claim in CLAIMS if claim.direction == "no_gain")
    small, negative = replace(OURS, interval=(0.2, 0.6)), replace(OURS, interval=(-0.6, 0.6))
    judged = [
        claim_row(own, judge_claim(own, ours))
        for own, ours in (
            (claim, small), (claim, negative), (claim, OURS), (claim._replace(margin=2.5), OURS),
        )
    ]  # fmt: skip
    table = claims_page(judged, scale="quick").tables[2]
    assert [cell.value for cell in column(table, "verdict")] == [
        "upheld: a gain of less than 1", "upheld", "contradicted",
        "upheld: a gain of less than 2.5",
    ]  # fmt: skip
    assert [cell.value for cell in column(table, "claimed")] == [
        *["not better"] * 3, "not better (margin 2.5)",
    ]  # fmt: skip


def test_the_ledger_says_why_no_control_gains():
    claim = next(claim for claim in CLAIMS if claim.system == ("tag_attention", "wmt17_tr2en") and claim.controls)
    random, without_loss = claim.controls
    around = replace(OURS, interval=(-1.0, 1.0))
    loss = claim._replace(direction="loss", controls=())

    def judged(claim, ours=OURS, **controls):
        return claim_row(claim, judge_claim(claim, ours, **controls))

    table = claims_page(
        [
            judged(claim, controls={random: OURS, without_loss: around}),
            judged(claim, controls={random: "no tags"}),
            judged(claim, controls={random: replace(OURS, seed_error=None), without_loss: around}),
            judged(claim._replace(controls=())),
            judged(loss),
            judged(claim, around, controls={random: OURS}),
        ],
        scale="quick",
    ).tables[2]
    assert [cell.value for cell in column(table, "also by")] == [
        "tag_attention_random; not by tag_attention_without_loss",
        "not known of tag_attention_random: no tags; not known of tag_attention_without_loss: not run",
        "not known of tag_attention_random: one seed, so that training noise is unknown; "
        "not by tag_attention_without_loss",
        "no control named",
        "no gain claimed",
        "no gain to explain",
    ]


def test_stand_ins_are_named_above_and_in_each_row():
    claim = next(claim for claim in CLAIMS if claim.system == ("pascal", "nc11_en2de_filtered"))
    own = claim_row(claim, judge_claim(claim, OURS), our_dataset="nc11_en2de_filtered", our_split="test")
    small = own | {"our_dataset": "small_filtered", "our_split": "flickr", "baseline_runs": "small/transformer_base"}
    other = next(claim for claim in CLAIMS if claim.system == ("depparse_l1", "cs2en"))
    same = claim_row(other, judge_claim(other, OURS), our_dataset="small", our_split="test")
    page = claims_page([own, small, same], scale="quick")
    text = page_markdown(page)
    assert text.startswith(
        "Scale quick; data sets that stand in for the papers': small_filtered for nc11_en2de_filtered, "
        "small for nc11_en2de, small for cs2en.\n"
    )
    assert [cell.value for cell in column(page.tables[2], "ours on")] == ["", "small_filtered, flickr", "small, test"]
