"""The ledger of claims: a row for each, with our result or the reason why there is none."""

from dataclasses import replace
from pathlib import Path

import pytest
from published_claims import paper_claims, trained
from reporting.planned import shown, unlinked

from nmtcore.config.project import Project
from nmtcore.evaluation.compare import Difference
from nmtcore.reporting.claims_page import claim_row, claims_page
from nmtcore.tables.papers import paper_files, read_paper
from nmtcore.tables.render import page_markdown
from nmtcore.tables.verdicts import judge_claim

PROJECT = Project.load(Path(__file__).resolve().parents[2] / "config")
CLAIMS = [claim for name in sorted(paper_files(PROJECT)) for claim in paper_claims(read_paper(PROJECT, name))]
OURS = Difference(
    delta=1.25, seed_error=0.2, sentence_error=0.3, error=0.36, degrees=8.0,
    interval=(0.42, 2.08), detectable=1.16, p=0.008,
)  # fmt: skip


CLAIM = next(claim for claim in CLAIMS if claim.system.system == "depparse_l1" and claim.level == 0.01)


def of_system(name, dataset):
    """Return the first claim about a system."""
    return next(claim for claim in CLAIMS if trained(claim.system) == [(name, dataset)])


PASCAL = of_system("pascal", "nc11_en2de_filtered")
ONE_SEED = "one seed, so that training noise is unknown"


def judged(claim, ours=OURS, *, controls=None, reason="", **names):
    """Judge a claim; what `controls` do not say about a control is that it has no parser."""
    compared = controls or ["no parser"] * len(claim.controls)
    return claim_row(claim, judge_claim(claim, ours, controls=compared, reason=reason), **names)


def tables_of(*rows, scale="quick"):
    return claims_page(rows, scale=scale).tables


def column(table, name):
    """Return the values of a column."""
    position = [own.name for own in table.columns].index(name)
    return [row[position].value for row in table.rows]


def test_every_claim_has_a_row_and_nothing_was_run():
    page = claims_page([judged(claim, None, reason="no runs") for claim in CLAIMS], scale="quick")
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
    claims = [claim for claim in CLAIMS if claim.says == says][:3]
    deltas = [replace(OURS, delta=delta, interval=(delta - 0.4, delta + 0.4)) for delta in (-1, 0.2, 2.0)]
    rows = [judged(*own, runs=f"d/{own[1].delta}") for own in zip(claims, deltas, strict=True)]
    page = claims_page(rows, scale="quick")
    _, table, comparisons = page.tables
    (row,) = [[cell.value for cell in row] for row in table.rows]
    assert row[:6] == ["tran2018", "Table 2", says, "not better", "upheld 2, contradicted 1", 3]
    assert row[6:] == [pytest.approx(sum(claim.difference for claim in claims) / 3), -1, 2.0]
    assert len(list(comparisons.rows)) == 3


def test_rows_have_the_published_difference_ours_and_the_verdict():
    runs = {"runs": "cs2en/depparse_l1", "baseline_runs": "cs2en/transformer_base"}
    row = judged(CLAIM, controls=[OURS], seeds=5, baseline_seeds=3, **runs)
    page = claims_page([row], scale="paper")
    assert unlinked(page.blocks) == []
    (cells,) = page.tables[2].rows
    origins = {cell.value: cell.origin for cell in cells if cell.value in ("depparse_l1", "transformer_base", 5, 3)}
    own, base = runs.values()
    assert origins == {"depparse_l1": own, 5: own, "transformer_base": base, 3: base}
    assert shown(page.tables[0]) == [["pham2018", "1", "1", "0", "0", "0", "1", "1"]]
    assert shown(page.tables[2])[0][3:] == [
        "better", "depparse_l1", "cs2en", "+1.35", "+1.25 ± 0.83", "upheld", "transformer_base",
        "diagonalparse_l1", "", "test", "", "bleu", "1.16", "5", "3", "paper",
    ]  # fmt: skip
    assert column(tables_of(judged(PASCAL))[2], "system") == ["pascal on nc11_en2de_filtered"]


def test_one_seed_decides_nothing():
    one = replace(OURS, seed_error=None)
    rows = [judged(CLAIM), judged(CLAIM, one), judged(CLAIM, replace(one, interval=(-2.0, -1.0)))]
    page = claims_page([*rows, judged(CLAIM, one, reason="too small")], scale="quick")
    counts, _, table = page.tables
    assert column(table, "verdict") == ["upheld", *["not decided"] * 3]
    assert list(table.letters) == [ONE_SEED, "too small"]
    assert [cell.value for row in counts.rows for cell in row] == ["pham2018", 4, 1, 0, 3, 0, 0, 1]
    assert (
        "An interval from one seed decides nothing: it leaves training noise out and excludes 0 wrongly in 45 of 100 "
        "simulated pairs of equal systems (seed noise .5, sentence noise .3)."
    ) in page_markdown(page).replace("\n", " ")


def test_claims_that_one_stand_in_serves_share_a_comparison():
    claims = [own for own in CLAIMS if own.system.system == "pascal" and own.paper == "bugliarello2020"][:3]
    names = {"baseline_runs": "d/base", "our_dataset": "d", "our_split": "test", "runs": "d/pascal"}
    rows = [judged(own, **names) | {"metric": "bleu"} for own in claims]
    for changed, count in (({}, 1), ({"runs": "d/other"}, 2), ({"our_split": "dev"}, 2), ({"metric": "ribes"}, 2)):
        counts = tables_of(*rows[:2], rows[2] | changed)[0]
        assert [column(counts, name) for name in ("claims", "comparisons")] == [[3], [count]], changed


def test_the_margin_of_no_gain_is_shown():
    claim = next(claim for claim in CLAIMS if claim.direction == "no_gain")
    small, negative = replace(OURS, interval=(0.2, 0.6)), replace(OURS, interval=(-0.6, 0.6))
    table = tables_of(
        judged(claim, small), judged(claim, negative), judged(claim), judged(replace(claim, margin=2.5)),
    )[2]  # fmt: skip
    verdicts = ["upheld: a gain of less than 1", "upheld", "contradicted", "upheld: a gain of less than 2.5"]
    assert column(table, "verdict") == verdicts
    assert column(table, "claimed") == [*["not better"] * 3, "not better (margin 2.5)"]


def test_the_ledger_says_why_no_control_gains():
    of_tags = [("tag_attention", "wmt17_tr2en")]
    claim = next(claim for claim in CLAIMS if trained(claim.system) == of_tags and claim.controls)
    around = replace(OURS, interval=(-1.0, 1.0))
    table = tables_of(
        judged(claim, controls=[OURS, around]),
        judged(claim, controls=["no tags", "not run"]),
        judged(replace(claim, controls=())),
        judged(replace(claim, direction="loss", controls=())),
        judged(claim, around, controls=[OURS, OURS]),
    )[2]
    assert column(table, "also by") == [
        "tag_attention_random; not by tag_attention_without_loss",
        "not known of tag_attention_random: no tags; not known of tag_attention_without_loss: not run",
        "no control named",
        "no gain claimed",
        "no gain to explain",
    ]


def test_stand_ins_are_named_above_and_in_each_row():
    own = judged(PASCAL, our_dataset="nc11_en2de_filtered", our_split="test")
    small = own | {"our_dataset": "small_filtered", "our_split": "flickr", "baseline_runs": "small/transformer_base"}
    other = of_system("depparse_l1", "cs2en")
    page = claims_page([own, small, judged(other, our_dataset="small", our_split="test")], scale="quick")
    assert page_markdown(page).startswith(
        "Scale quick; data sets that stand in for the papers': small_filtered for nc11_en2de_filtered, "
        "small for nc11_en2de, small for cs2en.\n"
    )
    assert column(page.tables[2], "ours on") == ["", "small_filtered, flickr", "small, test"]
