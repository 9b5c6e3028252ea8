import pytest
from planning.conftest import parsed

from nmtcore.planning.runs import (
    feature_files,
    label_files,
    label_paths,
    pair_files,
    seed_scores,
    segmentation_of_run,
    start_model,
    tree_files,
)


@pytest.fixture
def made(project):
    return project(parsed=parsed())


def test_what_a_parsing_run_reads(made):
    run = made.run("parsed", "depparse_l1", "smoke", 1)
    folder = f"results/parsed/features/{run.segmentation.name}"
    assert segmentation_of_run(made, run=run) == f"results/parsed/segmentation/{run.segmentation.name}"
    features = feature_files(made, run=run, splits="training_splits")
    assert {f"{folder}/train.source.parquet", f"{folder}/dev.source.trees.parquet"} <= set(features)
    tests = [name for split in ("test", "dev") for name in run.feature_files(split)]
    assert feature_files(made, run=run, splits="tests") == [f"{folder}/{name}" for name in tests]
    assert pair_files(made, run=run, splits="gold") == ["results/parsed/corpus/gold_bank.parquet"]
    labels = "results/parsed/annotation/trees/source.labels.json"
    assert label_files(made, run=run) == {"source": {"trees": labels}}
    assert label_paths(made, run=run) == [labels]


def test_trees_are_compared_with_the_parsers_and_with_the_treebanks_own(made):
    run = made.run("parsed", "depparse_l1", "smoke", 1)
    folder = "results/parsed/annotation"
    assert tree_files(made, run=run, splits="tests") == [
        f"{folder}/trees/{split}.source.parquet" for split in ("test", "dev")
    ]
    assert tree_files(made, run=run, splits="gold") == [f"{folder}/gold/gold_bank.source.parquet"]
    assert tree_files(made, run=made.run("parsed", "transformer_base", "smoke", 1), splits="tests") == []


def test_a_run_may_start_from_the_model_of_the_same_seed(project):
    made = project()
    fine_tuned = made.run("demo_en2de", "depparse_gold", "smoke", 2)
    assert fine_tuned.start_from is not None
    model = f"results/smoke/demo_en2de/{fine_tuned.start_from}/seed2/model"
    assert start_model(made, run=fine_tuned) == [model]
    assert start_model(made, run=made.run("demo_en2de", "depparse_l1", "smoke", 2)) == []


@pytest.mark.parametrize(("score", "name"), [("bleu", "scores"), ("uas", "scores"), ("gold.uas", "gold")])
@pytest.mark.parametrize("folder", ["results", "results/smoke"])
def test_a_summary_is_of_the_configured_seeds(made, score, name, folder):
    found = seed_scores(made, root=folder, dataset="parsed", system="depparse_l1", score=score)
    assert found == [f"{folder}/parsed/depparse_l1/seed{seed}/{name}.json" for seed in (1, 2)]
