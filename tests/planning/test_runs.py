"""Inputs of the jobs of a run."""

from dataclasses import replace

import pytest
from planning.conftest import parsed

from nmtcore.planning.runs import (
    feature_files,
    gold_trees,
    label_files,
    label_paths,
    pair_files,
    seed_scores,
    segmentation_of_run,
    split_features,
    start_model,
    target_tags,
    tree_files,
)


@pytest.fixture
def project(make_project):
    return make_project(parsed=parsed())


def test_input_files_of_a_parsing_run(project):
    run = project.run("parsed", "depparse_l1", "smoke", 1)
    folder = f"results/parsed/features/{run.segmentation.name}"
    assert segmentation_of_run(project, run=run) == f"results/parsed/segmentation/{run.segmentation.name}"
    features = feature_files(project, run=run, splits="training_splits")
    assert {f"{folder}/train.source.parquet", f"{folder}/dev.source.trees.parquet"} <= set(features)
    tests = [name for split in ("test", "dev") for name in run.feature_files(split)]
    assert feature_files(project, run=run, splits="tests") == [f"{folder}/{name}" for name in tests]
    assert pair_files(project, run=run, splits="gold") == ["results/parsed/corpus/gold_bank.parquet"]
    labels = "results/parsed/annotation/trees/source.labels.json"
    assert label_files(project, run=run) == {"source": {"trees": labels}}
    assert label_paths(project, run=run) == [labels]


def test_trees_are_compared_with_the_parser_and_with_the_treebank(project):
    folder = "results/parsed/annotation"
    parsed_tests = [f"{folder}/trees/{split}.source.parquet" for split in ("test", "dev")]
    supervised, induced, chain = (
        project.run("parsed", name, "smoke", 1) for name in ("depparse_l1", "sa_nmt_shared", "diagonalparse_l0")
    )
    assert tree_files(project, run=supervised, splits="tests") == parsed_tests
    for run in (supervised, induced):
        assert tree_files(project, run=run, splits="parsed_tests") == parsed_tests
        assert tree_files(project, run=run, splits="gold") == [f"{folder}/gold/gold_bank.source.parquet"]
    gold = feature_files(project, run=induced, splits="gold")
    assert not any("annotation" in path or ".trees." in path for path in gold)
    assert (chain.parsed_tests, chain.gold) == (("test", "dev"), ())
    assert tree_files(project, run=chain, splits="parsed_tests") == []
    assert tree_files(project, run=project.run("parsed", "transformer_base", "smoke", 1), splits="tests") == []


def test_a_run_starts_from_the_model_with_the_same_seed(make_project):
    project = make_project()
    fine_tuned = project.run("demo_en2de", "depparse_gold", "smoke", 2)
    assert fine_tuned.start_from is not None
    model = f"results/smoke/demo_en2de/{fine_tuned.start_from}/seed2/model"
    assert start_model(project, run=fine_tuned) == [model]
    assert start_model(project, run=project.run("demo_en2de", "depparse_l1", "smoke", 2)) == []
    elsewhere = replace(fine_tuned, dataset="other", start_from="demo_en2de/depparse_l1")
    assert start_model(project, run=elsewhere) == ["results/smoke/demo_en2de/depparse_l1/seed2/model"]


@pytest.mark.parametrize(("score", "name"), [("bleu", "scores"), ("uas", "scores"), ("gold.uas", "gold")])
@pytest.mark.parametrize("folder", ["results", "results/smoke"])
def test_a_summary_reads_the_scores_of_all_configured_seeds(project, score, name, folder):
    files = seed_scores(project, root=folder, dataset="parsed", system="depparse_l1", score=score)
    assert files == [f"{folder}/parsed/depparse_l1/seed{seed}/{name}.json" for seed in (1, 2)]


def test_gates_read_the_features_of_a_split_and_the_tags_of_its_targets(make_project, project):
    run = make_project().run("demo_en2de", "sa_nmt_shared", "smoke", 1)
    folder = f"results/demo_en2de/features/{run.segmentation.name}"
    assert split_features(project, run=run, split="dev") == [
        f"{folder}/dev.source.parquet", f"{folder}/dev.target.parquet",
    ]  # fmt: skip
    assert target_tags(project, run=run, split="dev") == ["results/demo_en2de/annotation/existing/dev.target.parquet"]
    untagged = project.run("parsed", "sa_nmt_shared", "smoke", 1)
    assert target_tags(project, run=untagged, split="test") == []


def test_heads_read_the_sources_of_a_treebank_and_its_gold_trees(project):
    run = project.run("parsed", "transformer_base", "smoke", 1)
    folder = f"results/parsed/features/{run.segmentation.name}"
    assert run.gold == ()
    assert split_features(project, run=run, split="gold_bank") == [f"{folder}/gold_bank.source.parquet"]
    trees = gold_trees(project, run=run, split="gold_bank")
    assert trees == "results/parsed/annotation/gold/gold_bank.source.parquet"
