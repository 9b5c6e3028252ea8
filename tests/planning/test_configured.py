"""Files of the runs and data sets that config.yaml selects."""

import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.configured import (
    configured_annotation,
    configured_annotation_reports,
    configured_annotator_models,
    configured_comparisons,
    configured_contrasts,
    configured_labels,
    configured_models,
    configured_reports,
    configured_runs,
    configured_scores,
    configured_tokens,
    published_sizes,
)


@pytest.fixture
def project(make_project):
    systems = {"systems": ["transformer_base", "depparse_l1"]}
    return make_project(systems, parsed=parsed(published={"pairs": {"train": 9}}), plain=little())


def test_result_files_of_runs(make_project):
    project = make_project({"systems": ["transformer_base", "depparse_l1"]}, parsed=parsed())
    runs, left_out = configured_runs(project)
    folder = "results/smoke/parsed"
    assert left_out == []
    assert configured_scores(project, runs=runs) == [
        f"{folder}/{name}"
        for name in ("transformer_base.bleu", "depparse_l1.bleu", "depparse_l1.uas", "depparse_l1.gold.uas")
    ]
    seeds = [f"{folder}/{system}/seed{seed}" for system in ("transformer_base", "depparse_l1") for seed in (1, 2)]
    assert configured_models(project, runs=runs) == [f"{path}/model" for path in seeds]


def test_features_and_annotation_of_the_configured_data_sets(project, make_project):
    name = "words_joint_200"
    tokens = configured_tokens(project)
    assert f"results/plain/features/{name}/test.target.parquet" in tokens
    assert f"results/parsed/features/{name}/gold_bank.source.parquet" in tokens
    assert f"results/parsed/features/{name}/gold_bank.target.parquet" not in tokens
    annotation = configured_annotation(project)
    assert "results/parsed/annotation/trees/gold_bank.source.parquet" in annotation
    assert f"results/parsed/features/{name}/dev.source.trees.parquet" in annotation
    assert not [path for path in annotation if "plain" in path or "brackets" in path]
    with_constituents = configured_annotation(make_project({"datasets": ["demo_en2de"]}))
    assert "results/demo_en2de/annotation/existing/dev.source.brackets.parquet" in with_constituents


def test_input_files_of_tables(project, make_project):
    assert configured_comparisons(project) == ["results/parsed/annotation/trees/gold_bank.source.against.gold.json"]
    assert configured_annotation_reports(project) == [
        f"results/parsed/annotation/trees/{split}.source.json" for split in ("train", "dev", "test", "gold_bank")
    ]
    assert configured_labels(project) == ["results/parsed/annotation/trees/source.labels.json"]
    reports = configured_reports(project)
    assert {"results/plain/corpus/raw/dev.json", "results/plain/corpus/dev.json"} <= set(reports)
    assert not [path for path in reports if "selection" in path]
    assert published_sizes(project, counted="pairs") == {"parsed": {"train": 9}, "plain": {}}
    selected = make_project(selected=parsed(selection={"parsed": {"source": ["dependencies"]}}))
    assert "results/selected/annotation/selection/train.json" in configured_reports(selected)


def test_models_of_all_annotators(make_project):
    tagged = little(annotators={"tags": {"tool": "easyccg"}}, syntax={"target": {"ccg": "tags"}})
    assert "downloads/models/easyccg/easyccg.jar" in configured_annotator_models(make_project(tagged=tagged))
    assert configured_annotator_models(make_project(plain=little())) == []


def test_a_table_of_contrastive_pairs_has_the_systems_that_can_be_scored(make_project):
    pairs = {"format": "contrastive", "files": {"pairs": {"path": "pairs.json"}}}
    plain = little()
    with_pairs = little(corpora={**plain["corpora"], "p": pairs}, splits={**plain["splits"], "contrast_p": "p"})
    project = make_project({"systems": ["transformer_base", "nmt"]}, paired=with_pairs, plain=plain)
    runs, _ = configured_runs(project)
    paired = [f"results/smoke/paired/{system}/seed{seed}" for system in ("transformer_base", "nmt") for seed in (1, 2)]
    assert configured_contrasts(project, runs=runs) == [f"{run}/contrast/contrast_p.parquet" for run in paired]
    with pytest.raises(UserError, match="A table of contrastive pairs needs `datasets` that have some"):
        configured_contrasts(project, runs=[run for run in runs if run.dataset == "plain"])
