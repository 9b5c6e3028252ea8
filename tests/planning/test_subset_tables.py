"""The files that tables of lengths, constructions and examples are made from."""

from nmtcore.planning.analysis import target_supertags
from nmtcore.planning.paper_tables import paper_table_inputs, paper_table_plan


def test_lengths_read_translations_and_pairs_each_once(make_project):
    files = paper_table_inputs(make_project({"seeds": [1]}), paper_table="bugliarello2020_figure_3")
    assert sorted(files) == [
        "results/demo_de2en/corpus/test.parquet",
        "results/demo_en2de/corpus/test.parquet",
        *(
            f"results/smoke/{dataset}/{system}/seed1/hypotheses"
            for dataset in ("demo_de2en", "demo_en2de")
            for system in ("pascal", "transformer_base", "transformer_base_pascal_rate")
        ),
    ]


def test_constructions_read_translations_and_the_supertags_of_the_target(make_project):
    project = make_project({"seeds": [1]})
    supertags = "results/demo_de2en/annotation/existing/test.target.parquet"
    assert paper_table_inputs(project, paper_table="aycock2021_table_5_8") == [supertags]
    files = paper_table_inputs(project, paper_table="aycock2021_figure_5_2")
    systems = ("tag_attention", "transformer_base", "tag_attention_random", "tag_attention_without_loss")
    assert files == [*(f"results/smoke/demo_de2en/{system}/seed1/hypotheses" for system in systems), supertags]
    plan = paper_table_plan(project, paper_table="aycock2021_table_5_8")
    assert plan["more"] == {"supertags": {"demo_de2en": {"test": supertags}}}


def test_tests_without_supertags_are_left_out(make_project):
    project = make_project({"seeds": [1]})
    assert target_supertags(project, [("demo_en2de", "test"), (None, "test"), ("demo_de2en", None)]) == {}


def test_examples_read_one_seed_with_pairs_and_supertags(make_project):
    project = make_project({"seeds": [3, 2]})
    assert paper_table_inputs(project, paper_table="aycock2021_table_5_9") == [
        *(f"results/smoke/demo_de2en/{system}/seed2/hypotheses" for system in ("transformer_base", "tag_attention")),
        "results/demo_de2en/corpus/test.parquet",
        "results/demo_de2en/annotation/existing/test.target.parquet",
    ]
    plan = paper_table_plan(project, paper_table="bugliarello2020_table_6")
    assert plan["more"] == {"supertags": {}, "sentence": "In a cooling experiment , only a tendency agreed"}
