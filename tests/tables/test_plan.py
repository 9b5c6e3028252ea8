"""Plans of the papers' tables, of one's own and of the report: every cell says where ours comes from."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
import yaml

from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.files import write_json, write_text
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.measures import SETTINGS
from nmtcore.tables.papers import read_paper
from nmtcore.tables.plan import (
    all_figures,
    all_paper_results,
    all_papers,
    all_tables,
    claimed_table_frames,
    main_tests,
    our_split,
    paper_and_table,
    planned_table,
    report_runs,
    report_scores,
    table_frames,
    table_inputs,
    table_plan,
)
from nmtcore.tables.settings import TableKind

PAPERS = ["aycock2021", "bugliarello2020", "factors", "pham2018", "strong_base", "tran2018"]
"""The files of tables; `factors` and `strong_base` are of no paper, and their data sets are those that they name."""


@pytest.fixture
def project(make_project):
    return make_project({"scale": "smoke", "seeds": [1], "datasets": ["demo_en2de"]})


def test_every_cell_of_a_system_has_runs_or_a_reason(project):
    for name in all_tables(project):
        plan = planned_table(project, name)
        rows = {row.name: row for row in plan.rows}
        others = {*read_paper(project, plan.paper).settings.others, "random"}
        assert [(cell.row, cell.column) for cell in plan.cells] == [
            (row.name, column.name) for row in plan.rows for column in plan.columns
        ]
        for cell in plan.cells:
            assert not (cell.source and cell.reason), (name, cell)
            ours = cell.system not in others and not rows[cell.row].elsewhere
            if cell.system is not None and cell.ours is not None:
                assert bool(cell.runs or cell.reason) == ours, (name, cell)
            if cell.runs:
                assert plan.runs[cell.runs].seeds == (1,)
                assert cell.test is None or cell.test in project.dataset(cell.ours).splits


def test_a_plan_survives_json(project):
    for name in ("tran2018_table_3", "aycock2021_figure_5_2"):
        values = table_plan(project, table=name)
        plan = planned_table(project, name)
        assert build(PlannedTable, yaml.safe_load(yaml.safe_dump(values)), where="plan") == plan


def test_small_scales_use_stand_ins_and_the_paper_scale_uses_none(make_project):
    for settings, stand_ins in (
        ({"scale": "smoke"}, {"cs2en": "demo_en2de"}),
        ({"scale": "quick", "stand_ins": "rehearsal"}, {"cs2en": "rehearsal_cs2en"}),
        ({"scale": "paper"}, {}),
        ({"scale": "quick", "stand_ins": None}, {}),
    ):
        plan = planned_table(make_project(settings), "pham2018_table_6_3")
        assert plan.stand_ins == stand_ins
        ours = stand_ins.get("cs2en", "cs2en")
        assert {(cell.ours, cell.test) for cell in plan.cells} == {(ours, "dev"), (ours, "test")}
    small = planned_table(make_project({"scale": "quick", "stand_ins": "multi30k"}), "bugliarello2020_table_4b")
    assert {cell.reason for cell in small.cells} == {"", "no data set stands in for wat_en2ja (stand_ins: multi30k)"}
    assert all(claim.reason for claim in small.claims)


FOLDERS = {"corpus", "annotation", "segmentation", "features"}
"""Folders of data sets, beside those of their runs."""


def test_each_table_names_the_data_sets_that_stand_in(project):
    """By its input files and numbers; a stand-in may also be named for cells that are empty for a reason."""
    kinds = set()
    for name in all_tables(project):
        plan = planned_table(project, name)
        parts = [Path(path).parts for path in table_inputs(project, table=name)]
        read = {own[1] if own[2] in FOLDERS else own[2] for own in parts}
        assert plan.paper in ("factors", "strong_base") or read <= set(plan.stand_ins.values()), name
        if any(cell.measure in SETTINGS for cell in plan.cells):
            assert plan.stand_ins == {}
        kinds.add(plan.table_kind)
    assert kinds | {"differences", "sweep"} == set(get_args(TableKind)), "those are for tables of one's own"


def test_a_split_that_a_stand_in_lacks_is_the_main_test_or_the_first_treebank(project):
    demo, small = project.dataset("demo_de2en"), project.dataset("rehearsal_wat_en2ja")
    assert our_split(demo, "dev") == ("dev", "")
    assert our_split(demo, "test_wmt17") == ("test", "")
    assert our_split(demo, "gold_ud_german") == ("gold_demo", "")
    assert our_split(small, "gold_pud") == (None, "rehearsal_wat_en2ja has no treebank of the source side")


TOO_SMALL = "the scale tiny is too small for a verdict"
TOO_SHORT = (
    "a system has a second loss, which slows the start, and training at the scale tiny ends before the baseline has "
    "stopped improving"
)


@pytest.mark.parametrize(
    ("values", "with_one_loss", "with_two"),
    [
        ({}, "", ""),
        ({"converges": False}, "", TOO_SHORT),
        ({"verdicts": False}, TOO_SMALL, TOO_SMALL),
        ({"verdicts": False, "converges": False}, TOO_SMALL, TOO_SMALL),
    ],
)
def test_a_scale_of_ones_own_says_whether_it_decides_claims(make_project, values, with_one_loss, with_two):
    """Only there have headline systems more seeds."""
    scale = {"description": "Tiny."} | values
    project = make_project({"scale": "tiny", "seeds": [1]}, {"scales/tiny": scale})
    plan = planned_table(project, "pham2018_table_6_3")
    seeds = (1, 2, 3, 4, 5) if values.get("verdicts", True) else (1,)
    runs = [plan.runs[f"demo_en2de/{name}"].seeds for name in ("transformer_base", "depparse_l2")]
    assert runs == [seeds, (1,)]
    assert {claim.undecided for claim in plan.claims} == {with_two}
    trees = planned_table(project, "pham2018_table_6_1")
    assert {claim.undecided for claim in trees.claims} == {with_one_loss}


def test_unfinished_runs_can_be_left_out(make_project):
    settings = {"scale": "smoke", "seeds": [1, 2], "unfinished_runs": "leave_out"}
    project = make_project(settings)
    names = {"scale": "smoke", "dataset": "demo_en2de", "system": "depparse_l1", "seed": 2}
    Path(project.layout.path("hypotheses", **names, split="test")).mkdir(parents=True)
    plan = planned_table(project, "pham2018_table_6_4")
    assert (plan.runs["demo_en2de/depparse_l1"].seeds, plan.runs["demo_en2de/depparse_l1"].unfinished) == ((2,), (1,))
    cell = plan.cell("transformer_base", "cs2en/test/bleu")
    assert cell.runs is None
    assert cell.reason == "transformer_base on demo_en2de has no finished run (unfinished_runs: leave_out)"
    assert table_inputs(project, table="pham2018_table_6_4") == [project.layout.path("counts", **names)]
    sharpness = lambda: planned_table(make_project(settings), "pham2018_sharpness").cell(
        "depparse_l1", "layer 1/sharpness"
    )
    gone = "neither its model nor what is measured of it was kept (unfinished_runs: leave_out)"
    assert (sharpness().source, sharpness().reason) == ({}, gone)
    Path(project.layout.path("model", **names)).mkdir()
    assert (bool(sharpness().source), sharpness().reason) == (True, "")


def test_claims_know_their_runs_and_why_they_cannot_be_decided(project):
    (mark, *_) = planned_table(project, "pham2018_table_6_4").claims
    assert (mark.system.runs, mark.baseline.runs) == ("demo_de2en/depparse_l1", "demo_de2en/transformer_base")
    ((control, against),) = mark.controls
    assert (control.runs, against, control.reason) == ("demo_de2en/diagonalparse_l1", mark.baseline, "")
    table = planned_table(project, "bugliarello2020_table_3")
    pascal = next(claim for claim in table.claims if not claim.reason)
    (first, _), (second, _) = pascal.controls
    assert (first.source, first.reason) == ({}, "on demo_en2de it is the baseline itself")
    assert second.runs == "demo_en2de/transformer_base_pascal_rate"
    filtered = [own for own in table.claims if own.reason and own.controls]
    assert filtered
    assert not any(cell.source for own in filtered for cell in own.cells()), "what decides nothing needs no control"
    reasons = Counter(claim.reason for name in all_tables(project) for claim in planned_table(project, name).claims)
    assert sum(reasons.values()) == 429
    stands_in = "{} stands in for both data sets, {} and {}"
    quoted = [reason for reason in reasons if reason.endswith(" is a result that the paper quotes from others")]
    assert (len(quoted), sum(reasons[reason] for reason in quoted)) == (13, 30)
    assert set(reasons) - set(quoted) == {
        "",
        "demo_de2en has no annotator for constituency on the source side",
        stands_in.format("demo_de2en", "nc11_de2en_filtered", "nc11_de2en"),
        stands_in.format("demo_en2de", "nc11_en2de_filtered", "nc11_en2de"),
        stands_in.format("demo_en2de", "wmt16_en2de_filtered", "wmt16_en2de"),
        stands_in.format("demo_en2de", "wmt17_en2ru", "wmt17dev15_en2de"),
        stands_in.format("demo_de2en", "wmt17_tr2en_mono", "wmt17_tr2en"),
        stands_in.format("demo_de2en", "wmt17_tr2en_30k", "wmt17_tr2en"),
        *(
            stands_in.format("demo_en2de", name, "wmt17_en2de")
            for name in ("nc11_en2de_filtered", "wmt16_en2de_filtered", "wmt18_en2tr")
        ),
        stands_in.format("demo_en2de", "wmt17_en2de", "wmt18_en2tr"),
    }


def test_a_claim_about_the_target_language_plans_each_system_twice(make_project):
    table = planned_table(make_project({"scale": "quick", "stand_ins": "rehearsal"}), "tran2018_table_3")
    claims = [own for own in table.claims if own.system.system == own.baseline.system]
    assert [own.reason for own in claims] == [""] * 6
    assert {(own.system.runs, own.baseline.runs) for own in claims} == {
        (f"rehearsal_wmt17_en2ru/{name}", f"rehearsal_wmt17dev15_en2de/{name}")
        for name in ("fa_nmt_separate", "fa_nmt_shared", "sa_nmt_shared")
    }
    assert set(table.runs) == {cell.runs for cell in table.cells if cell.runs}
    assert {own.system.test for own in claims} == {"gold_ud_english"}


def test_all_results_are_the_ledger_the_pages_the_tables_and_the_figures(project):
    results, frames = all_paper_results(project), table_frames(project)
    assert all_papers(project) == PAPERS
    assert len(frames) == len(all_tables(project)) > len(all_figures(project)) > 5
    assert results[0] == "results/tables/claims.md"
    assert set(results[1:]) == {
        *(f"results/tables/{paper}.md" for paper in PAPERS),
        *(path.replace(".parquet", ".md") for path in frames),
        *all_figures(project),
    }
    assert "results/figures/pham2018_figure_6_1.svg" in all_figures(project)
    paths = [f"results/tables/pham2018_{name}.parquet" for name in ("dataset_sizes", "table_6_3")]
    assert [path in claimed_table_frames(project) for path in paths] == [False, True]
    first, *_ = table_frames(project, paper="pham2018", folder="mine/")
    assert first == "results/tables/mine/pham2018_dataset_sizes.parquet"
    assert paper_and_table(project, "pham2018_table_6_3") == ("pham2018", "table_6_3")
    with pytest.raises(UserError, match=r"unknown table 'pham2018_table_9'\. Did you mean"):
        paper_and_table(project, "pham2018_table_9")


OWN = {
    "kind": "scores", "place": "Table 1", "rows": ["transformer_base", "depparse_l1"],
    "columns": ["demo_en2de/test/bleu"], "baselines": ["transformer_base"],
    "claims": [{"says": "Parsing helps", "systems": ["depparse_l1"]}],
}  # fmt: skip


def test_a_user_has_tables_of_her_own(make_project):
    values = {"title": "Mine", "seeds": {"transformer_base": [1, 2]}, "tables": {"headline": OWN}}
    project = make_project({"scale": "quick", "seeds": [1]}, {"tables/mine": values})
    assert all_papers(project) == sorted([*PAPERS, "mine"])
    plan = planned_table(project, "mine_headline")
    assert (plan.title, plan.place, plan.baselines) == ("Mine", "Table 1", ("transformer_base",))
    assert [claim.system.runs for claim in plan.claims] == ["demo_en2de/depparse_l1"]
    # A data set that no file of stand-ins names, such as a stand-in or the user's own, stands for itself.
    assert plan.stand_ins == {}
    assert plan.runs["demo_en2de/transformer_base"].seeds == (1, 2)


def test_her_table_without_baselines_compares_systems_with_what_their_entries_say(make_project):
    rows = ["transformer_base", "depparse_l1", "transformer_relative", "tree_traversal", "nmt", "fa_nmt_shared"]
    table = OWN | {"rows": rows, "baselines": [], "claims": []}
    times = table | {"kind": "time", "columns": ["demo_en2de/train/relative_time"]}
    project = make_project({"scale": "quick"}, {"tables/mine": {"tables": {"headline": table, "times": times}}})
    compared = dict.fromkeys(rows[1:4], "transformer_base") | {"fa_nmt_shared": "nmt"}
    plan = planned_table(project, "mine_headline")
    assert (plan.compared_with, plan.baselines) == (compared, ("transformer_base", "nmt"))
    assert planned_table(project, "mine_times").baselines == ()
    assert planned_table(project, "pham2018_table_6_5").compared_with == {}


def test_a_control_takes_the_place_of_a_baseline_that_is_the_system_itself(make_project):
    columns = ["demo_de2en/test/bleu", "demo_en2de/test/bleu"]
    says = {"says": "So", "systems": ["depparse_l1"], "columns": columns[:1], "baseline_columns": columns[1:]}
    tables = {"t": OWN | {"columns": columns, "claims": [says]}}
    values = {"controls": {"depparse_l1": ["diagonalparse_l1"]}, "tables": tables}
    (planned,) = planned_table(make_project({"scale": "smoke"}, {"tables/mine": values}), "mine_t").claims
    ((control, against),) = planned.controls
    assert (control.runs, against.runs) == ("demo_de2en/diagonalparse_l1", "demo_en2de/diagonalparse_l1")


SEGMENTS = [f"results/smoke/demo_de2en/{system}/seed1/metrics/comet" for system in ("transformer_base", "depparse_l1")]


@pytest.mark.parametrize(
    ("table_kind", "metric", "measures", "segments"),
    [
        ("scores", "comet", {}, SEGMENTS),
        ("scores", "bleu", {"bleu": "multi_bleu"}, []),
        ("scores", "bleu", {"bleu": "comet"}, SEGMENTS),
        ("lengths", "bleu", {"bleu": "comet"}, SEGMENTS),
        ("constructions", "bleu_gain", {"bleu": "comet"}, SEGMENTS),
    ],
)
def test_comet_is_planned_where_a_table_asks_for_it(make_project, table_kind, metric, measures, segments):
    """All kinds that score translations then need the scores of segments, on the data sets whose cells have them."""
    table = OWN | {"kind": table_kind, "columns": [f"demo_de2en/test/{metric}", "demo_en2de/test/chrf"], "claims": []}
    files = {"tables/mine": {"measures": measures, "tables": {"t": table}}}
    paths = table_inputs(make_project({"scale": "smoke", "seeds": [1]}, files), table="mine_t")
    assert [path for path in paths if path.endswith("/metrics/comet")] == segments


def test_the_main_test_of_each_data_set_with_runs(make_project):
    project = make_project({"unfinished_runs": "leave_out"})
    assert main_tests(project) == {}
    for scale, dataset in (("smoke", "demo_en2de"), ("smoke", "no_longer_there"), ("demo", "demo_de2en")):
        write_json(Path(project.layout.path("scores", scale=scale, dataset=dataset, system="nmt", seed=1)), {})
    assert main_tests(project) == {"demo_en2de": "test"}


def test_the_runs_of_tables_are_scored_and_those_of_the_folder_are_shown_too(project):
    scores = report_scores(project)
    assert "results/smoke/demo_en2de/pascal/seed1/scores.json" in scores
    assert len(scores) == len(set(scores))
    assert report_runs(project) == {}
    own = project.layout.path("history", scale="smoke", dataset="demo_en2de", system="source_ccg", seed=7)
    write_text(own, "")
    before = report_runs(project)
    assert before.keys() == {own}
    write_json(Path(scores[0]), {})
    assert report_runs(project) == before, "the run of a table was scored, which changes nothing"
    write_json(Path("results/smoke/demo_en2de/source_ccg/seed7/scores.json"), {})
    assert report_runs(project) != before
