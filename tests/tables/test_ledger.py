"""The ledger of claims: verdicts by the place of our interval, and a row for each claim, with why there is none."""

from dataclasses import replace
from pathlib import Path

import pytest
from published_claims import paper_claims, trained
from tables.planned import claim as make_claim
from tables.planned import control, planned, shown, unlinked

from nmtcore.config.project import Project
from nmtcore.tables.cells import PlannedRuns, trained_name
from nmtcore.tables.ledger import judge, ledger_page
from nmtcore.tables.papers import paper_files, read_paper
from nmtcore.tables.query import plain_row
from nmtcore.tables.render import page_markdown

PROJECT = Project.load(Path(__file__).resolve().parents[2] / "config")
CLAIMS = [claim for name in sorted(paper_files(PROJECT)) for claim in paper_claims(read_paper(PROJECT, name))]
OURS = {"delta": 1.25, "low": 0.42, "high": 2.08, "detectable": 1.16, "training_noise": True, "reason": ""}
AROUND, BELOW = OURS | {"low": -1.0, "high": 1.0}, OURS | {"delta": -1.5, "low": -2.0, "high": -1.0}
SINGLE = OURS | {"training_noise": False}
ONE_SEED = "one seed, so that training noise is unknown"


CLAIM = next(claim for claim in CLAIMS if claim.system.system == "depparse_l1" and claim.level == 0.01)


def of_system(name, dataset):
    """Return the first claim about a system."""
    return next(claim for claim in CLAIMS if trained(claim.system) == [(name, dataset)])


PASCAL = of_system("pascal", "nc11_en2de_filtered")


def judged(claim, ours=OURS, /, *, controls=None, baseline_runs=None, **system):
    """Judge a claim by our difference, or by the reason why there is none; a control has no parser, if none is given.

    `system` are values of the system's cell.
    """
    cells = {"system": replace(claim.system, **system), "baseline": replace(claim.baseline, runs=baseline_runs)}
    claim, test = replace(claim, **cells), claim.system.tested
    numbers = {cells["system"].runs: 5, baseline_runs: 3}
    runs = {key: PlannedRuns(dataset="d", system="s", seeds=tuple(range(own))) for key, own in numbers.items() if key}
    rows = [
        plain_row(cell) | {"row": trained_name(cell, test)} | (own if isinstance(own, dict) else {"reason": own})
        for cell, own in zip(
            (cells["system"], *(cell for cell, _ in claim.controls)),
            (ours, *(controls or ["no parser"] * len(claim.controls))),
            strict=True,
        )
    ]
    rows[0]["baseline"] = trained_name(claim.baseline, test)
    return judge(replace(planned("scores", []), runs=runs), claim, *rows)


def answers(direction, *intervals, **values):
    claim = make_claim(direction=direction, **values)
    return [judged(claim, OURS | {"low": low, "high": high})["answer"] for low, high in intervals]


def test_the_interval_decides():
    intervals = ((1, 3), (-3, -1), (-1, 1))
    assert answers("gain", *intervals) == ["upheld", "contradicted", "not decided"]
    assert answers("loss", *intervals) == ["contradicted", "upheld", "not decided"]
    assert answers("no_gain", *intervals) == ["contradicted", "upheld", "not decided"]


def test_of_a_metric_whose_lower_scores_are_better_a_fall_is_a_gain(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config/metrics").mkdir(parents=True)
    (tmp_path / "config/metrics/errors.yaml").write_text("{command: cat, higher_is_better: false}")
    intervals, cell = ((1, 3), (-3, -1), (-1, 1)), {"system": "new", "metric": "errors", "runs": "d/new"}
    for direction, expected in (("gain", ["contradicted", "upheld"]), ("loss", ["upheld", "contradicted"])):
        claim = make_claim(cell, direction=direction)
        judgements = [judged(claim, OURS | {"low": low, "high": high}) for low, high in intervals]
        assert [own["answer"] for own in judgements] == [*expected, "not decided"]
        assert [own["ours"][1:] for own in judgements] == [list(pair) for pair in intervals], "shown as it is"


def test_no_gain_is_upheld_below_a_margin():
    intervals = ((-0.5, 0.5), (0.2, 0.6), (0.2, 1.0), (-0.5, 1.5), (-0.5, 2.0), (0.2, 2.5))
    expected = {
        1.0: ["upheld", "upheld", "contradicted", "not decided", "not decided", "contradicted"],
        2.0: ["upheld", "upheld", "upheld", "upheld", "not decided", "contradicted"],
    }
    for margin, own in expected.items():
        assert answers("no_gain", *intervals, margin=margin) == own


@pytest.mark.parametrize("direction", ["gain", "loss", "no_gain"])
def test_one_seed_decides_nothing_nor_does_a_difference_with_a_reason(direction):
    claim = make_claim(direction=direction)
    for ours in (SINGLE, SINGLE | {"low": -2.0, "high": -1.0}):
        own = judged(claim, ours)
        assert (own["answer"], own["reason"]) == ("not decided", ONE_SEED)
        few = judged(claim, ours | {"reason": "too few sentences"})
        assert (few["answer"], few["reason"]) == ("not decided", "too few sentences")
    small = judged(replace(claim, undecided="too small"), OURS | {"reason": "too few sentences"})
    assert (small["answer"], small["reason"]) == ("not decided", "too small")
    nothing = judged(claim, "no corpus")
    assert (nothing["answer"], nothing["reason"], nothing["ours"]) == ("not run", "no corpus", None)


def test_a_gain_of_a_control_is_named_and_those_that_were_not_run_are_told_apart():
    claim = make_claim(controls=(control("control"),))
    for compared, also_by, said in (
        (OURS, ["control"], "control"),
        (AROUND, [], "not by control"),
        (BELOW, [], "not by control"),
        ("no parser", [], "not known of control: no parser"),
        (SINGLE, [], f"not known of control: {ONE_SEED}"),
    ):
        own = judged(claim, controls=[compared])
        assert (own["also_by"], own["controls"]) == (also_by, said)
        assert judged(claim, AROUND, controls=[compared])["controls"] == "no gain to explain"
        assert judged(replace(claim, direction="loss"), BELOW, controls=[compared])["controls"] == "no gain claimed"
    assert judged(make_claim())["controls"] == "no control named"


def tables_of(*rows, scale="quick"):
    return ledger_page(rows, scale=scale).tables


def column(table, name):
    """Return the values of a column."""
    position = [own.name for own in table.columns].index(name)
    return [row[position].value for row in table.rows]


def test_every_claim_has_a_row_and_nothing_was_run():
    page = ledger_page([judged(claim, "no runs") for claim in CLAIMS], scale="quick")
    (counts,) = page.tables
    assert [[cell.value for cell in row] for row in counts.rows] == [
        ["aycock2021", 45, 0, 0, 0, 45, 0, 0],
        ["bugliarello2020", 135, 0, 0, 0, 135, 0, 0],
        ["pham2018", 108, 0, 0, 0, 108, 0, 0],
        ["tran2018", 141, 0, 0, 0, 141, 0, 0],
    ]
    assert "429 comparisons were not run (no runs: 429)." in page_markdown(page)


def test_a_claim_has_one_row_and_its_comparisons_below():
    says = "Structured attention is not significantly better than flat attention"
    claims = [claim for claim in CLAIMS if claim.says == says][:3]
    deltas = [OURS | {"delta": delta, "low": delta - 0.4, "high": delta + 0.4} for delta in (-1, 0.2, 2.0)]
    rows = [judged(*own, runs=f"d/{own[1]['delta']}") for own in zip(claims, deltas, strict=True)]
    _, table, comparisons = tables_of(*rows)
    (row,) = [[cell.value for cell in row] for row in table.rows]
    assert row[:6] == ["tran2018", "Table 2", says, "not better", "upheld 2, contradicted 1", 3]
    assert row[6:] == [pytest.approx(sum(claim.difference for claim in claims) / 3), -1, 2.0]
    assert len(list(comparisons.rows)) == 3


def test_rows_have_the_published_difference_ours_and_the_verdict():
    own, base = "cs2en/depparse_l1", "cs2en/transformer_base"
    row = judged(CLAIM, controls=[OURS], runs=own, baseline_runs=base)
    page = ledger_page([row], scale="paper")
    assert unlinked(page.blocks) == []
    (cells,) = page.tables[2].rows
    origins = {cell.value: cell.origin for cell in cells if cell.value in ("depparse_l1", "transformer_base", 5, 3)}
    assert origins == {"depparse_l1": own, 5: own, "transformer_base": base, 3: base}
    assert shown(page.tables[0]) == [["pham2018", "1", "1", "0", "0", "0", "1", "1"]]
    assert shown(page.tables[2])[0][3:] == [
        "better", "depparse_l1", "cs2en", "+1.35", "+1.25 ± 0.83", "upheld", "", "transformer_base",
        "diagonalparse_l1", "", "test", "", "bleu", "1.16", "5", "3", "paper",
    ]  # fmt: skip
    assert column(tables_of(judged(PASCAL))[2], "system") == ["pascal on nc11_en2de_filtered"]


def test_claims_that_one_stand_in_serves_share_a_comparison():
    claims = [own for own in CLAIMS if own.system.system == "pascal" and own.paper == "bugliarello2020"][:3]
    names = {"baseline_runs": "d/base", "ours": "d", "test": "test", "runs": "d/pascal", "metric": "bleu"}
    for changed, count in (({}, 1), ({"runs": "d/other"}, 2), ({"test": "dev"}, 2), ({"metric": "ribes"}, 2)):
        rows = [judged(own, **{**names, **(changed if own is claims[2] else {})}) for own in claims]
        counts = tables_of(*rows)[0]
        assert [column(counts, name) for name in ("claims", "comparisons")] == [[3], [count]], changed


def test_the_margin_of_no_gain_is_shown():
    claim = next(claim for claim in CLAIMS if claim.direction == "no_gain")
    small, negative = OURS | {"low": 0.2, "high": 0.6}, OURS | {"low": -0.6, "high": 0.6}
    table = tables_of(
        judged(claim, small), judged(claim, negative), judged(claim), judged(replace(claim, margin=2.5)),
    )[2]  # fmt: skip
    verdicts = ["upheld: a gain of less than 1", "upheld", "contradicted", "upheld: a gain of less than 2.5"]
    assert column(table, "verdict") == verdicts
    assert column(table, "claimed") == [*["not better"] * 3, "not better (margin 2.5)"]


def test_times_are_more_or_less_not_better_or_worse():
    claims = [own for own in CLAIMS if own.place == "Figure 6.4"]
    table = tables_of(*(judged(own, OURS | {"delta": 0.05, "low": 0.02, "high": 0.09}) for own in claims))[2]
    claimed = ["no more (margin 0.25)", "as much (margin 0.1)", "more"]
    assert list(dict.fromkeys(column(table, "claimed"))) == claimed
    assert set(column(table, "verdict")) == {"upheld: less than 0.25 more", "upheld"}
