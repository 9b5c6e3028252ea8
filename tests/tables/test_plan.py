"""Plans of the papers' tables: every published number has a cell, and every cell says where ours comes from."""

from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
import yaml

from nmtcore.config.typed import build
from nmtcore.errors import UserError
from nmtcore.tables.cells import PlannedTable
from nmtcore.tables.measures import SETTINGS
from nmtcore.tables.papers import read_paper
from nmtcore.tables.plan import (
    all_paper_results,
    all_papers,
    all_tables,
    claimed_table_frames,
    our_split,
    paper_and_table,
    planned_table,
    table_frames,
    table_inputs,
    table_plan,
    tables_of,
)
from nmtcore.tables.settings import TableKind

PAPERS = ["aycock2021", "bugliarello2020", "pham2018", "tran2018"]


@pytest.fixture
def project(make_project):
    return make_project({"scale": "smoke", "seeds": [1], "datasets": ["demo_en2de"]})


def refusal(function, *arguments, **options):
    with pytest.raises(UserError) as error:
        function(*arguments, **options)
    return str(error.value)


def test_every_published_number_has_a_cell(project):
    """The number of cells per paper is printed; facts are no cells."""
    assert all_papers(project) == PAPERS
    counts = {}
    for paper in PAPERS:
        published = read_paper(project, paper)
        assert [f"{paper}_{name}" for name in published.tables] == tables_of(project, paper)
        for name, table in published.tables.items():
            plan = planned_table(project, f"{paper}_{name}")
            values = Counter((c.row, c.column, c.published, c.marks) for c in plan.cells if c.published is not None)
            of_paper = [(c.row, c.column, c.published, c.marks) for c in table.cells if c.published is not None]
            assert values == Counter(of_paper), name
            assert plan.facts.items() >= published.settings.tables[name].facts.items()
            counts[paper] = counts.get(paper, 0) + sum(values.values())
    print(f"{sum(counts.values())} published numbers in cells: {counts}")
    assert counts == {"aycock2021": 71, "bugliarello2020": 200, "pham2018": 104, "tran2018": 179}


def test_every_cell_of_a_system_has_runs_or_a_reason(project):
    for name in all_tables(project):
        plan = planned_table(project, name)
        rows = {row.name: row for row in plan.rows}
        others = {*read_paper(project, plan.paper).settings.others, "random"}
        assert len(plan.cells) == len(plan.rows) * len(plan.columns)
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
    demo = planned_table(make_project({"scale": "smoke"}), "pham2018_table_6_3")
    assert demo.stand_ins == {"cs2en": "demo_en2de"}
    assert {(cell.ours, cell.test) for cell in demo.cells} == {("demo_en2de", "dev"), ("demo_en2de", "test")}
    rehearsal = planned_table(make_project({"scale": "quick", "stand_ins": "rehearsal"}), "pham2018_table_6_3")
    assert rehearsal.stand_ins == {"cs2en": "rehearsal_cs2en"}
    for settings in ({"scale": "paper"}, {"scale": "quick", "stand_ins": None}):
        plan = planned_table(make_project(settings), "pham2018_table_6_3")
        assert plan.stand_ins == {}
        assert {cell.ours for cell in plan.cells} == {"cs2en"}
    small = planned_table(make_project({"scale": "quick", "stand_ins": "multi30k"}), "bugliarello2020_table_4b")
    assert {cell.reason for cell in small.cells} == {"", "no data set stands in for wat_en2ja (stand_ins: multi30k)"}
    assert all(claim.reason for claim in small.claims)


FOLDERS = {"corpus", "annotation", "segmentation", "features"}
"""Folders of data sets, beside those of their runs."""


def test_each_table_names_the_data_sets_that_stand_in(make_project):
    """By its input files and numbers; a stand-in may also be named for cells that are empty for a reason."""
    project = make_project({"scale": "smoke", "seeds": [1]})
    kinds = set()
    for name in all_tables(project):
        plan = planned_table(project, name)
        parts = [Path(path).parts for path in table_inputs(project, table=name)]
        read = {own[1] if own[2] in FOLDERS else own[2] for own in parts}
        assert read <= set(plan.stand_ins.values()), name
        if any(cell.measure in SETTINGS for cell in plan.cells):
            assert plan.stand_ins == {}
        assert table_plan(project, table=name).get("stand_ins", {}) == plan.stand_ins
        kinds.add(plan.table_kind)
    assert kinds | {"differences"} == set(get_args(TableKind)), "that is for tables of one's own"
    facts = planned_table(project, "bugliarello2020_facts")
    assert facts.stand_ins == {"wmt16_en2de": "demo_en2de", "wat_en2ja": "demo_en2de"}


def test_a_split_that_a_stand_in_lacks_is_the_main_test_or_the_first_treebank(project):
    demo, small = project.dataset("demo_de2en"), project.dataset("rehearsal_wat_en2ja")
    assert our_split(demo, "dev") == ("dev", "")
    assert our_split(demo, "test_wmt17") == ("test", "")
    assert our_split(demo, "gold_ud_german") == ("gold_demo", "")
    assert our_split(small, "gold_pud") == (None, "rehearsal_wat_en2ja has no treebank of the source side")


def test_only_headline_systems_have_more_seeds(make_project):
    runs = planned_table(make_project({"scale": "quick", "seeds": [1]}), "pham2018_table_6_3").runs
    systems = ("transformer_base", "depparse_l2")
    assert [runs[f"demo_en2de/{name}"].seeds for name in systems] == [(1, 2, 3, 4, 5), (1,)]


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
    scale = {"description": "Tiny."} | values
    project = make_project({"scale": "tiny", "seeds": [1]}, {"scales/tiny": scale})
    plan = planned_table(project, "pham2018_table_6_3")
    seeds = (1, 2, 3, 4, 5) if values.get("verdicts", True) else (1,)
    assert plan.runs["demo_en2de/transformer_base"].seeds == seeds
    assert {claim.undecided for claim in plan.claims} == {with_two}
    trees = planned_table(project, "pham2018_table_6_1")
    assert {claim.undecided for claim in trees.claims} == {with_one_loss}


def test_systems_that_learn_more_than_to_translate_are_not_judged_at_quick(make_project):
    """Also if such a system is the baseline; what is not run has its own reason."""
    project = make_project({"scale": "quick", "stand_ins": None, "seeds": [1]})
    claims = [own for name in all_tables(project) for own in planned_table(project, name).claims]
    second = ("depparse", "diagonalparse", "tag_attention", "multitask", "sisa", "currey_heafield")
    for own in claims:
        trained = (own.system.system, own.baseline.system)
        learns_more = any(system.startswith(second) for system in trained)
        assert bool(own.undecided) == (learns_more and not own.reason), own
    print(f"{sum(bool(own.undecided) for own in claims)} of {len(claims)} claims are not decided at quick")
    decided = {own.system.system for own in claims if not own.undecided}
    assert {"sa_nmt_hard", "pascal", "tree_traversal", "interleaved"} <= decided


def test_runs_know_whether_they_have_a_second_loss(make_project):
    project = make_project()
    others = {"pascal": False, "base_specdep": False, "depparse_l1_light": True, "depparse_gold": True}
    tags = {"tag_attention_random": True, "tag_attention_without_loss": False, "interleaved": False}
    for dataset, systems in (("demo_en2de", others), ("demo_de2en", tags)):
        runs = {name: project.run(dataset, name, "smoke", 1) for name in systems}
        assert {name: run.has_second_loss for name, run in runs.items()} == systems


def test_lighter_parser_heads_stand_beside_those_of_the_paper(make_project):
    project = make_project({"scale": "paper"})
    light = {"depparse_l1_light", "diagonalparse_l1_light"}
    for table, expected in (("6_3", light), ("6_4", light), ("6_5", {"depparse_l1_light"})):
        rows = planned_table(project, f"pham2018_table_{table}").rows
        assert {row.name for row in rows if row.added} & light == expected
    for name, weight in (("depparse_l1", 1), ("depparse_l1_light", 0.1), ("diagonalparse_l1_light", 0.1)):
        assert [own.weight for own in project.run("demo_en2de", name, "demo", 1).components.values()] == [weight]
    assert read_paper(project, "pham2018").settings.controls["depparse_l1_light"] == ("diagonalparse_l1_light",)


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
    counts = project.layout.path("counts", **names)
    assert table_inputs(project, table="pham2018_table_6_4") == [counts]


def test_a_system_that_a_data_set_cannot_train_gives_a_reason(make_project):
    table = {"kind": "scores", "rows": ["transformer_base", "tag_attention"], "columns": ["demo_en2de/test/bleu"]}
    project = make_project({"scale": "smoke"}, {"tables/mine": {"tables": {"t": table}}})
    plan = planned_table(project, "mine_t")
    cells = [plan.cell(name, "demo_en2de/test/bleu") for name in ("transformer_base", "tag_attention")]
    assert [cell.reason for cell in cells] == ["", "demo_en2de has no annotator for ccg on the target side"]
    assert [cell.runs for cell in cells] == ["demo_en2de/transformer_base", None]


def test_claims_know_their_runs_and_why_they_cannot_be_decided(project):
    (mark, *_) = planned_table(project, "pham2018_table_6_4").claims
    assert (mark.system.runs, mark.baseline.runs) == ("demo_de2en/depparse_l1", "demo_de2en/transformer_base")
    ((control, against),) = mark.controls
    assert (control.runs, against, control.reason) == ("demo_de2en/diagonalparse_l1", mark.baseline, "")
    pascal = next(claim for claim in planned_table(project, "bugliarello2020_table_3").claims if not claim.reason)
    (first, _), (second, _) = pascal.controls
    assert (first.source, first.reason) == ({}, "on demo_en2de it is the baseline itself")
    assert second.runs == "demo_en2de/transformer_base_pascal_rate"
    reasons = Counter(
        claim.reason for name in all_tables(project) for claim in planned_table(project, name).claims
    )  # fmt: skip
    assert sum(reasons.values()) == 215
    assert set(reasons) == {
        "",
        "UDPipe 1.2 is a result that the paper quotes from others",
        "Nakagawa (2007) is a result that the paper quotes from others",
        "demo_de2en has no annotator for constituency on the source side",
        "demo_de2en stands in for both data sets, nc11_de2en_filtered and nc11_de2en",
        "demo_en2de stands in for both data sets, nc11_en2de_filtered and nc11_en2de",
        "demo_en2de stands in for both data sets, wmt16_en2de_filtered and wmt16_en2de",
        "demo_en2de stands in for both data sets, wmt17_en2ru and wmt17dev15_en2de",
    }


def test_what_decides_nothing_needs_no_control(project):
    table = planned_table(project, "bugliarello2020_table_3")
    filtered = [own for own in table.claims if own.reason and own.controls]
    assert filtered
    assert not any(cell.source for own in filtered for cell in own.cells())


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


def test_a_control_takes_the_place_of_a_baseline_that_is_the_system_itself(make_project):
    columns = ["demo_de2en/test/bleu", "demo_en2de/test/bleu"]
    own = {"says": "So", "systems": ["depparse_l1"], "columns": columns[:1], "baseline_columns": columns[1:]}
    table = {
        "kind": "scores", "rows": ["transformer_base", "depparse_l1"], "columns": columns,
        "baselines": ["transformer_base"], "claims": [own],
    }  # fmt: skip
    values = {"title": "Mine", "controls": {"depparse_l1": ["diagonalparse_l1"]}, "tables": {"t": table}}
    (planned,) = planned_table(make_project({"scale": "smoke"}, {"tables/mine": values}), "mine_t").claims
    ((control, against),) = planned.controls
    runs = (control.runs, against.runs)
    assert runs == ("demo_de2en/diagonalparse_l1", "demo_en2de/diagonalparse_l1")


def test_an_unknown_table_is_named(project):
    assert paper_and_table(project, "pham2018_table_6_3") == ("pham2018", "table_6_3")
    assert "unknown table 'pham2018_table_9'. Did you mean" in refusal(paper_and_table, project, "pham2018_table_9")


def test_all_results_are_the_ledger_the_pages_the_tables_and_the_figures(project):
    results = all_paper_results(project)
    tables = len(all_tables(project))
    figures = [path for path in results if path.endswith(".svg")]
    assert results[0] == "results/tables/claims.md"
    assert len(results) == len(set(results)) == 1 + len(PAPERS) + tables + len(figures)
    own = [f"results/tables/pham2018_{name}.parquet" for name in ("dataset_sizes", "table_6_3")]
    assert [path in claimed_table_frames(project) for path in own] == [False, True]
    first, *_ = table_frames(project, paper="pham2018", folder="mine/")
    assert first == "results/tables/mine/pham2018_dataset_sizes.parquet"


OWN = {
    "title": "Mine",
    "seeds": {"transformer_base": [1, 2]},
    "tables": {
        "headline": {
            "kind": "scores", "place": "Table 1", "rows": ["transformer_base", "depparse_l1"],
            "columns": ["demo_en2de/test/bleu"], "baselines": ["transformer_base"],
            "claims": [{"says": "Parsing helps", "systems": ["depparse_l1"]}],
        }
    },
}  # fmt: skip


def test_a_user_has_tables_of_her_own(make_project):
    project = make_project({"scale": "quick", "seeds": [1]}, {"tables/mine": OWN})
    assert all_papers(project) == ["aycock2021", "bugliarello2020", "mine", "pham2018", "tran2018"]
    plan = planned_table(project, "mine_headline")
    assert (plan.title, plan.place, plan.baselines) == ("Mine", "Table 1", ("transformer_base",))
    assert [claim.system.runs for claim in plan.claims] == ["demo_en2de/depparse_l1"]
    # A data set that no file of stand-ins names, such as a stand-in or the user's own, stands for itself.
    assert plan.stand_ins == {}
    assert plan.runs["demo_en2de/transformer_base"].seeds == (1, 2)


def test_her_table_without_baselines_compares_systems_with_what_their_entries_say(make_project):
    rows = ["transformer_base", "depparse_l1", "transformer_relative", "tree_traversal", "nmt", "fa_nmt_shared"]
    table = OWN["tables"]["headline"] | {"rows": rows, "baselines": [], "claims": []}
    times = table | {"kind": "time", "columns": ["demo_en2de/train/relative_time"]}
    project = make_project({"scale": "quick"}, {"tables/mine": OWN | {"tables": {"headline": table, "times": times}}})
    compared = dict.fromkeys(rows[1:4], "transformer_base") | {"fa_nmt_shared": "nmt"}
    plan = planned_table(project, "mine_headline")
    assert (plan.compared_with, plan.baselines) == (compared, ("transformer_base", "nmt"))
    assert planned_table(project, "mine_times").baselines == ()
    assert planned_table(project, "pham2018_table_6_5").compared_with == {}


SEGMENTS = [f"results/smoke/demo_de2en/{system}/seed1/comet" for system in ("transformer_base", "depparse_l1")]


@pytest.mark.parametrize(
    ("table_kind", "metric", "measures", "segments"),
    [
        ("scores", "bleu", {}, []),
        ("scores", "comet", {}, SEGMENTS),
        ("scores", "bleu", {"bleu": "multi_bleu"}, []),
        ("scores", "bleu", {"bleu": "comet"}, SEGMENTS),
        ("lengths", "bleu", {"bleu": "comet"}, SEGMENTS),
        ("constructions", "bleu_gain", {"bleu": "comet"}, SEGMENTS),
    ],
)
def test_comet_is_planned_where_a_table_asks_for_it(make_project, table_kind, metric, measures, segments):
    """All kinds that score translations then need the scores of segments, on the data sets whose cells have them."""
    own = {"kind": table_kind, "rows": ["transformer_base", "depparse_l1"], "baselines": ["transformer_base"],
           "columns": [f"demo_de2en/test/{metric}", "demo_en2de/test/chrf"]}  # fmt: skip
    files = {"tables/mine": {"measures": measures, "tables": {"t": own}}}
    paths = table_inputs(make_project({"scale": "smoke", "seeds": [1]}, files), table="mine_t")
    assert [path for path in paths if path.endswith("/comet")] == segments


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seeds": {"pascal": [1]}}, "unknown system of its tables 'pascal'"),
        ({"seeds": {"transformer_base": []}}, "seeds.transformer_base must be a list of different numbers"),
        ({"tables": {"Table-1": OWN["tables"]["headline"]}}, "tables: 'Table-1': a name has small letters, digits and"),
        ({"measures": {"bleu": "multi-bleu"}}, "measures.bleu: unknown measure 'multi-bleu'. Did you mean multi_bleu"),
    ],
)
def test_mistakes_in_a_file_of_tables_are_sentences(make_project, change, message):
    sentence = refusal(read_paper, make_project(files={"tables/mine": OWN | change}), "mine")
    assert message in sentence
    assert "config/tables/mine.yaml" in sentence


CLAIM = {"says": "x", "systems": ["depparse_l1"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": ["demo_en2de/test/bleuu"]}, "columns: demo_en2de/test/bleuu: unknown metric 'bleuu'. Did you"),
        ({"columns": []}, "tables.headline: name the `columns` that the rows have, DATASET/SPLIT/METRIC."),
        ({"columns": ["demo_en2d/test/bleu"]}, "unknown data set 'demo_en2d'. Did you mean demo_en2de"),
        ({"columns": ["demo_en2de/tests/bleu"]}, "demo_en2de: unknown split 'tests'. Did you mean test"),
        ({"columns": ["demo_en2de/test"]}, "'demo_en2de/test' does not have the form dataset/split/metric."),
        ({"rows": ["transformer_bas"]}, "headline: rows: unknown system 'transformer_bas'. Did you mean transformer_b"),
        ({"baselines": ["nmt"]}, "headline: baselines: unknown row 'nmt'. Valid are: depparse_l1, transformer_base."),
        ({"claims": [CLAIM | {"systems": ["depparse_l2"]}]}, "headline: claims: unknown row 'depparse_l2'. Did you m"),
        ({"added": ["nmtt"]}, "unknown system 'nmtt'. Did you mean nmt"),
    ],
)
def test_mistakes_in_an_own_table_are_sentences(make_project, tmp_path, change, message):
    table = OWN["tables"]["headline"] | change
    files = {"tables/mine": OWN | {"tables": {"headline": table}}}
    sentence = refusal(read_paper, make_project(files=files), "mine")
    assert message in sentence
    assert sentence.startswith(str(tmp_path / "config/tables/mine.yaml"))


def test_rows_of_a_published_table_are_not_given_twice(make_project):
    tables = {table: {"kind": "scores"} for table in read_paper(make_project(), "pham2018").tables}
    tables["table_6_1"]["rows"] = ["nmt"]
    for values, sentence in (
        ({"tables": tables}, "table_6_1: the published table has rows and columns: leave them out here."),
        ({"tables": {}}, "tables lacks"),
    ):
        project = make_project(files={"tables/pham2018": values})
        assert sentence in refusal(read_paper, project, "pham2018")


def test_added_systems_count_as_systems_of_the_paper(project):
    assert "transformer_base_pascal_rate" in read_paper(project, "bugliarello2020").systems
