"""Inputs of the jobs of a run."""

from dataclasses import replace

import pytest
from planning.conftest import parsed

from nmtcore.planning.evaluation import pair_files, seed_scores, tree_files
from nmtcore.planning.inference import gold_trees, target_tags
from nmtcore.planning.training import (
    label_files,
    label_paths,
    segmentation_of_run,
    split_features,
    start_model,
    training_features,
)


@pytest.fixture
def project(make_project):
    return make_project(parsed=parsed())


def test_input_files_of_a_parsing_run(project):
    run = project.run("parsed", "depparse_l1", "smoke", 1)
    folder = f"results/parsed/features/{run.segmentation.name}"
    assert segmentation_of_run(project, run=run) == f"results/parsed/segmentation/{run.segmentation.name}"
    features = training_features(project, run=run)
    assert {f"{folder}/train.source.parquet", f"{folder}/dev.source.trees.parquet"} <= set(features)
    assert split_features(project, run=run, split="gold_bank") == [f"{folder}/gold_bank.source.parquet"]
    assert pair_files(project, run=run, splits="gold") == ["results/parsed/corpus/gold_bank.parquet"]
    labels = "results/parsed/annotation/trees/source.labels.json"
    assert label_files(project, run=run) == {"source": {"trees": labels}}
    assert label_paths(project, run=run) == [labels]


def test_trees_are_compared_with_the_parser_and_with_the_treebank(project):
    folder = "results/parsed/annotation"
    gold = f"{folder}/gold/gold_bank.source.parquet"
    parsed_tests = [f"{folder}/trees/{split}.source.parquet" for split in ("test", "dev")]
    for system, tests, treebanks in (
        ("depparse_l1", parsed_tests, [gold]),
        ("sa_nmt_shared", parsed_tests, [gold]),
        ("diagonalparse_l0", [], []),
        ("transformer_base", [], []),
    ):
        run = project.run("parsed", system, "smoke", 1)
        assert tree_files(project, run=run, splits="parsed_tests") == tests
        assert tree_files(project, run=run, splits="gold") == treebanks
    assert gold_trees(project, dataset="parsed", split="gold_bank") == gold


def test_a_run_starts_from_the_model_with_the_same_seed(make_project):
    project = make_project()
    fine_tuned = project.run("demo_en2de", "depparse_gold", "smoke", 2)
    model = f"results/smoke/demo_en2de/{fine_tuned.start_from}/seed2/model"
    assert start_model(project, run=fine_tuned) == [model]
    assert start_model(project, run=project.run("demo_en2de", "depparse_l1", "smoke", 2)) == []
    elsewhere = replace(fine_tuned, dataset="other", start_from="demo_en2de/depparse_l1")
    assert start_model(project, run=elsewhere) == ["results/smoke/demo_en2de/depparse_l1/seed2/model"]


@pytest.mark.parametrize("folder", ["results", "results/smoke"])
def test_a_summary_reads_the_scores_of_all_configured_seeds(project, folder):
    names = {"bleu": "scores", "uas": "scores", "gold.uas": "gold", "comet": "comet"}
    for score, name in names.items():
        files = seed_scores(project, root=folder, dataset="parsed", system="depparse_l1", score=score)
        assert files == [f"{folder}/parsed/depparse_l1/seed{seed}/{name}.json" for seed in (1, 2)]


def test_gates_read_the_tags_of_the_targets_if_there_are_any(make_project, project):
    run = make_project().run("demo_en2de", "sa_nmt_shared", "smoke", 1)
    assert target_tags(project, run=run, split="dev") == ["results/demo_en2de/annotation/existing/dev.target.parquet"]
    assert target_tags(project, run=project.run("parsed", "sa_nmt_shared", "smoke", 1), split="test") == []
