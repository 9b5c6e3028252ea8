"""Inputs of the tables and figures that compare systems with a baseline."""

import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.analysis import (
    analysed_tests,
    compared_baseline,
    construction_inputs,
    construction_results,
    example_inputs,
    validation_beams,
)
from nmtcore.planning.configured import configured_histories, configured_runs, left_out_systems

TAGGERS = {
    "tagger": {"tool": "spacy", "model": "xx_ccg", "tags": "ccg"},
    "parser": {"tool": "corenlp", "analysis": "constituents"},
}
TAGGED = little(annotators=TAGGERS, syntax={"target": {"ccg": "tagger"}, "source": {"constituency": "parser"}})


def refusal(function, *arguments, **options):
    with pytest.raises(UserError) as error:
        function(*arguments, **options)
    return str(error.value)


def test_the_baseline_is_the_transformer_or_the_first_system(make_project):
    for systems, baseline in (
        (["nmt", "transformer_base"], "transformer_base"),
        (["nmt", "pascal"], "nmt"),
        ([], "transformer_base"),
    ):
        assert compared_baseline(make_project({"systems": systems})) == baseline
    chosen = make_project({"systems": ["nmt", "transformer_base"], "baseline": "nmt"})
    assert compared_baseline(chosen) == "nmt"
    other = make_project({"systems": ["nmt", "pascal"], "baseline": "transformer_base"})
    assert refusal(compared_baseline, other) == (
        "config.yaml: baseline: transformer_base is none of the configured systems (nmt, pascal): add it to `systems`, "
        "or name another."
    )
    assert "baseline: unknown system 'nmtt'. Did you mean nmt" in refusal(make_project, {"baseline": "nmtt"})


def test_tests_are_described_by_their_annotations(make_project):
    project = make_project({"systems": ["transformer_base"]}, tagged=TAGGED, plain=little())
    folder = "results/tagged/annotation"
    assert analysed_tests(project) == {
        "tagged": {
            "split": "test",
            "evaluation": {"text": "tokens", "tokenize": "13a", "lowercase": False},
            "annotations": [
                ("target", "ccg", f"{folder}/tagger/test.target.parquet"),
                ("source", "constituency", f"{folder}/parser/test.source.parquet"),
            ],
        },
        "plain": {
            "split": "test",
            "evaluation": {"text": "tokens", "tokenize": "13a", "lowercase": False},
            "annotations": [],
        },
    }


def test_inputs_of_constructions_are_those_of_annotated_data_sets(make_project):
    systems = {"systems": ["transformer_base", "nmt"]}
    project = make_project(systems, tagged=TAGGED, plain=little())
    runs, _ = configured_runs(project)
    assert construction_inputs(project, runs=runs, file_type="hypotheses") == [
        f"results/smoke/tagged/{system}/seed{seed}/hypotheses" for system in systems["systems"] for seed in (1, 2)
    ]
    assert construction_inputs(project, runs=runs, file_type="annotation") == [
        "results/tagged/annotation/tagger/test.target.parquet",
        "results/tagged/annotation/parser/test.source.parquet",
    ]
    plain = make_project({**systems, "datasets": ["plain"]})
    runs, _ = configured_runs(plain)
    assert "needs `systems`, and `datasets` whose `syntax` names an annotator for ccg" in refusal(
        construction_inputs, plain, runs=runs, file_type="hypotheses"
    )


def test_a_figure_of_constructions_needs_two_systems(make_project):
    project = make_project({"systems": ["transformer_base", "nmt"]})
    assert construction_results(project, table="mine/") == "results/tables/mine/constructions.json"
    alone = make_project({"systems": ["nmt"]})
    assert refusal(construction_results, alone, table="").startswith("A figure of constructions compares a baseline")


def test_examples_are_from_the_lowest_seed(make_project):
    project = make_project({"systems": ["transformer_base", "nmt"], "seeds": [3, 2]}, tagged=TAGGED, plain=little())
    runs, _ = configured_runs(project)
    assert example_inputs(project, runs=runs, file_type="hypotheses") == [
        f"results/smoke/{dataset}/{system}/seed2/hypotheses"
        for dataset in ("tagged", "plain")
        for system in ("transformer_base", "nmt")
    ]
    assert example_inputs(project, runs=runs, file_type="pairs") == [
        "results/tagged/corpus/test.parquet", "results/plain/corpus/test.parquet",
    ]  # fmt: skip
    assert example_inputs(project, runs=runs, file_type="annotation") == [
        "results/tagged/annotation/tagger/test.target.parquet"
    ]
    alone = make_project({"systems": ["nmt"]})
    assert "A table of examples compares a baseline with other systems: name at least two" in refusal(
        example_inputs, alone, runs=configured_runs(alone)[0], file_type="pairs"
    )
    without = make_project({"systems": ["nmt", "pascal"], "datasets": []})
    assert "needs `datasets`" in refusal(example_inputs, without, runs=[], file_type="pairs")


def test_systems_that_patterns_leave_out_have_reasons(make_project):
    project = make_project({"systems": ["transformer_base", "depparse_*"]}, parsed=parsed(), plain=little())
    runs, sentences = configured_runs(project)
    left_out = left_out_systems(project)
    assert ("parsed", "depparse_gold", "no treebank to train on") in left_out
    plain = {system for dataset, system, _ in left_out if dataset == "plain"}
    assert plain >= {*(f"depparse_l{layer}" for layer in range(6)), "depparse_gold", "depparse_gold_only"}
    assert sentences
    assert not {(run.dataset, run.system) for run in runs} & {(dataset, system) for dataset, system, _ in left_out}


def test_the_beams_of_validation_are_collected(make_project):
    project = make_project(
        {"systems": ["transformer_base"]}, one=little(), two=little(training={"validation": {"beam": 3}})
    )
    assert validation_beams(runs=configured_runs(project)[0]) == {"one": [1], "two": [3]}


def test_a_figure_of_curves_needs_runs(make_project):
    sentence = refusal(configured_histories, make_project(), runs=[], subject="A figure of curves")
    assert sentence.startswith("A figure of curves needs `datasets` and `systems` in config.yaml")
