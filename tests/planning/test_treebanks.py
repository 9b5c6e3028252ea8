"""Inputs of tables of trees: treebanks, and parses of runs."""

import pytest

from nmtcore.planning.paper_tables import paper_table_inputs, paper_table_plan

TREEBANK = [
    "results/demo_en2de/corpus/gold_demo.parquet",
    "results/demo_en2de/annotation/existing/gold_demo.source.parquet",
]


@pytest.fixture
def project(make_project):
    return make_project()


def parses(*systems, seeds=(1, 2), dataset="demo_en2de"):
    return {f"results/smoke/{dataset}/{system}/seed{seed}/gold" for system in systems for seed in seeds}


def test_induction_reads_the_treebanks_and_all_parses(project):
    files = paper_table_inputs(project, paper_table="tran2018_table_3")
    systems = ["fa_nmt_separate", "fa_nmt_shared", "sa_nmt_separate", "sa_nmt_shared", "sa_nmt_hard"]
    other = [path.replace("en2de", "de2en") for path in TREEBANK]
    assert set(files) == {*TREEBANK, *other, *parses(*systems), *parses(*systems, dataset="demo_de2en")}
    facts = paper_table_plan(project, paper_table="tran2018_table_3")["more"]
    assert facts["treebanks"]["demo_en2de"] == {"gold_demo": dict(zip(("pairs", "trees"), TREEBANK, strict=True))}
    assert facts["parsed"]["demo_en2de/sa_nmt_hard"] == ["gold_demo"]
    assert set(facts["induced"]) == set(facts["parsed"])


def test_productions_read_the_parses_of_their_columns(project):
    files = paper_table_inputs(project, paper_table="tran2018_table_4")
    systems = ("sa_nmt_shared", "sa_nmt_hard")
    assert {path for path in files if path.endswith("/gold")} == {
        *parses(*systems), *parses(*systems, dataset="demo_de2en"),
    }  # fmt: skip


def test_a_figure_of_trees_reads_the_first_seed(project):
    files = paper_table_inputs(project, paper_table="tran2018_figure_5")
    assert set(files) == {*TREEBANK, *parses("sa_nmt_shared", "sa_nmt_hard", seeds=(1,))}


def test_systems_that_do_not_parse_have_no_parses(make_project, tmp_path):
    (tmp_path / "config/tables").mkdir(parents=True)
    (tmp_path / "config/tables/mine.yaml").write_text(
        "tables: {trees: {kind: trees, rows: [nmt, depparse_l1], columns: [wmt17dev15_en2de/gold_ud_english/trees]}}\n"
    )
    project = make_project()
    assert set(paper_table_inputs(project, paper_table="mine_trees")) == {*TREEBANK, *parses("depparse_l1", seeds=(1,))}
    facts = paper_table_plan(project, paper_table="mine_trees")["more"]
    assert (list(facts["parsed"]), facts["induced"]) == (["demo_en2de/depparse_l1"], [])
