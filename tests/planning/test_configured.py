import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.configured import configured_histories, configured_models, configured_runs, configured_scores
from nmtcore.planning.configured_data import (
    configured_annotation,
    configured_annotation_reports,
    configured_annotator_models,
    configured_comparisons,
    configured_labels,
    configured_reports,
    configured_tokens,
    published_sizes,
)


@pytest.fixture
def made(project):
    systems = {"systems": ["transformer_base", "depparse_l1"]}
    return project(systems, parsed=parsed(published={"pairs": {"train": 9}}), plain=little())


def test_what_runs_leave(project):
    made = project({"systems": ["transformer_base", "depparse_l1"]}, parsed=parsed())
    runs, left_out = configured_runs(made)
    folder = "results/smoke/parsed"
    assert left_out == []
    assert configured_scores(made, runs=runs) == [
        f"{folder}/{name}"
        for name in ("transformer_base.bleu", "depparse_l1.bleu", "depparse_l1.uas", "depparse_l1.gold.uas")
    ]
    assert configured_scores(made, runs=runs, score="uas") == [f"{folder}/depparse_l1.uas"]
    seeds = [f"{folder}/{system}/seed{seed}" for system in ("transformer_base", "depparse_l1") for seed in (1, 2)]
    assert configured_models(made, runs=runs) == [f"{path}/model" for path in seeds]
    assert configured_histories(made, runs=runs) == [f"{path}/training.jsonl" for path in seeds]


def test_a_table_of_systems_needs_systems(project):
    with pytest.raises(UserError, match="A table of systems needs `datasets` and `systems`"):
        configured_histories(project(), runs=[])


def test_the_data_of_the_configured_data_sets(made):
    name = "words_joint_200"
    tokens = configured_tokens(made)
    assert f"results/plain/features/{name}/test.target.parquet" in tokens
    assert f"results/parsed/features/{name}/gold_bank.source.parquet" in tokens
    assert f"results/parsed/features/{name}/gold_bank.target.parquet" not in tokens
    annotation = configured_annotation(made)
    assert "results/parsed/annotation/trees/gold_bank.source.parquet" in annotation
    assert f"results/parsed/features/{name}/dev.source.trees.parquet" in annotation
    assert not [path for path in annotation if "plain" in path or "brackets" in path]


def test_linearised_parses_stand_beside_constituents(project):
    annotation = configured_annotation(project({"datasets": ["demo_en2de"]}))
    assert "results/demo_en2de/annotation/existing/dev.source.brackets.parquet" in annotation


def test_what_tables_are_made_of(made, project):
    assert configured_comparisons(made) == ["results/parsed/annotation/trees/gold_bank.source.against.gold.json"]
    assert configured_annotation_reports(made) == [
        f"results/parsed/annotation/trees/{split}.source.json" for split in ("train", "dev", "test", "gold_bank")
    ]
    assert configured_labels(made) == ["results/parsed/annotation/trees/source.labels.json"]
    reports = configured_reports(made)
    assert {"results/plain/corpus/raw/dev.json", "results/plain/corpus/dev.json"} <= set(reports)
    assert not [path for path in reports if "selection" in path]
    assert published_sizes(made, what="pairs") == {"parsed": {"train": 9}, "plain": {}}
    chosen = project(chosen=parsed(selection={"parsed": {"source": ["dependencies"]}}))
    assert "results/chosen/annotation/selection/train.json" in configured_reports(chosen)


def test_without_a_treebank_there_is_nothing_to_compare_with(project):
    with pytest.raises(UserError, match="None of plain has a treebank and a parser to compare with it"):
        configured_comparisons(project(plain=little()))


def test_models_of_all_annotators(project):
    tagged = little(annotators={"tags": {"tool": "easyccg"}}, syntax={"target": {"ccg": "tags"}})
    assert "downloads/models/easyccg/easyccg.jar" in configured_annotator_models(project(tagged=tagged))
    assert configured_annotator_models(project(plain=little())) == []
