"""Inputs of tables of gates and attention: what is measured of which runs on which test."""

import pytest

from nmtcore.planning.paper_tables import paper_table_inputs, paper_table_plan

RUN = "results/smoke/demo_en2de"


@pytest.fixture
def project(make_project, tmp_path):
    (tmp_path / "config/tables").mkdir(parents=True)
    table = "{kind: KIND, rows: [nmt, sa_nmt_shared, transformer_base], columns: [wmt17dev15_en2de/test_wmt16/shown]}"
    table_kinds = ("gates", "attention", "sharpness")
    tables = "".join(f"  {name}: {table.replace('KIND', name)}\n" for name in table_kinds)
    (tmp_path / "config/tables/mine.yaml").write_text(f"tables:\n{tables}")
    return make_project()


def test_gates_are_measured_of_all_seeds_of_systems_with_a_gate(project):
    files = [f"{RUN}/sa_nmt_shared/seed{seed}/gates/test.parquet" for seed in (1, 2)]
    for table in ("mine_gates", "tran2018_figure_6", "tran2018_gate_argmax_upos"):
        assert paper_table_inputs(project, paper_table=table) == files
        facts = paper_table_plan(project, paper_table=table)["more"]["gates"]
        assert facts == [{"runs": "demo_en2de/sa_nmt_shared", "split": "test", "files": files}]


def test_attention_of_the_first_seed_with_the_trees_of_parsers(project):
    pairs = "results/demo_en2de/corpus/test.parquet"
    assert paper_table_inputs(project, paper_table="mine_attention") == [
        f"{RUN}/nmt/seed1/attention/test.parquet",
        pairs,
        f"{RUN}/sa_nmt_shared/seed1/attention/test.parquet",
        "results/demo_en2de/annotation/existing/test.source.parquet",
        f"{RUN}/transformer_base/seed1/attention/test.parquet",
    ]
    (facts,) = paper_table_plan(project, paper_table="pham2018_figure_6_3")["more"]["attention"]
    assert facts == {
        "runs": "demo_en2de/depparse_l4",
        "split": "test",
        "encoder_heads": True,
        "claimed": facts["claimed"],
        "file": f"{RUN}/depparse_l4/seed1/attention/test.parquet",
        "pairs": pairs,
        "trees": "results/demo_en2de/annotation/existing/test.source.parquet",
    }
    assert [name.split(".")[0] for name in facts["claimed"]] == ["4"]


def test_sharpness_of_all_seeds_of_transformers(project):
    files = [f"{RUN}/transformer_base/seed{seed}/attention/test.parquet" for seed in (1, 2)]
    assert paper_table_inputs(project, paper_table="mine_sharpness") == files
    of_pham = paper_table_inputs(project, paper_table="pham2018_figure_6_2")
    assert of_pham == [
        f"{RUN}/{system}/seed{seed}/attention/test.parquet"
        for system in ("depparse_l4", "diagonalparse_l4")
        for seed in (1, 2)
    ]
