"""Inputs of the jobs from segmentation to the scores of a run, and how jobs share GPUs."""

from dataclasses import replace

import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.evaluation import pair_files, seed_scores, tree_files
from nmtcore.planning.inference import gold_trees, target_tags
from nmtcore.planning.training import (
    label_files,
    label_paths,
    labels_of_features,
    model_of_pieces,
    segmentation_folder,
    segmentation_of_run,
    shared_gpus,
    split_features,
    start_model,
    training_features,
    training_linearised_parses,
    used_annotations,
)


def test_the_pieces_of_a_given_model_come_from_its_folder_or_are_downloaded(make_project, tmp_path):
    """No scale limits them."""
    files = [{"name": f"models/far/{name}", "url": f"https://x.org/{name}"} for name in ("source.spm", "vocab.json")]
    far = {"name": "far", "description": "A model", "files": files}
    given = {"kind": "sentencepiece", "size": 58101, "joint": True, "model": "near"}
    settings = {"models": ["shelf"]}
    project = make_project(settings, {"models/far": far}, given=little(segmentation=given), plain=little())
    name = project.run("given", "transformer_base", "smoke", 1).segmentation.name
    assert name == "sentencepiece_joint_58101_near"
    assert project.segmentation(project.dataset("given"), project.scale("smoke")).name == name
    with pytest.raises(UserError, match=r"There is no SentencePiece model 'near' .*: looked for it at shelf/near"):
        model_of_pieces(project, segmentation=name)
    (tmp_path / "shelf/near").mkdir(parents=True)
    names = ("source.spm", "target.spm", "vocab.json")
    for file in names:
        (tmp_path / "shelf/near" / file).touch()
    assert model_of_pieces(project, segmentation=name) == [str(tmp_path / "shelf/near" / file) for file in names]
    with pytest.raises(UserError, match=r"has no target_vocab.json: copy it again, or write `joint: true`"):
        model_of_pieces(project, segmentation=name.replace("joint_", ""))
    downloads = [f"downloads/models/far/{file}" for file in names]
    assert model_of_pieces(project, segmentation=name.replace("near", "far")) == downloads
    assert model_of_pieces(project, segmentation="sentencepiece_8000") == []


@pytest.mark.parametrize(
    ("segmentation", "sentence"),
    [
        ({"kind": "bpe", "size": 9, "model": "m"}, "`model` is of `kind: sentencepiece`, not of `kind: bpe`"),
        ({"kind": "sentencepiece", "size": 9, "model": "../m"}, "a model is a plain name"),
        ({"kind": "sentencepiece", "size": 9, "also": "constituency"}, "parses are no text, delete it"),
    ],
)
def test_settings_that_do_not_fit_the_kind_of_segmentation_are_refused(make_project, segmentation, sentence):
    with pytest.raises(UserError, match=sentence):
        make_project(mine=little(segmentation=segmentation)).dataset("mine")


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
    names = {"bleu": "scores", "uas": "scores", "gold.uas": "gold", "comet": "metrics/comet"}
    for score, name in names.items():
        files = seed_scores(project, root=folder, dataset="parsed", system="depparse_l1", score=score)
        assert files == [f"{folder}/parsed/depparse_l1/seed{seed}/{name}.json" for seed in (1, 2)]


def test_gates_read_the_tags_of_the_targets_if_there_are_any(make_project, project):
    run = make_project().run("demo_en2de", "sa_nmt_shared", "smoke", 1)
    assert target_tags(project, run=run, split="dev") == ["results/demo_en2de/annotation/existing/dev.target.parquet"]
    assert target_tags(project, run=project.run("parsed", "sa_nmt_shared", "smoke", 1), split="test") == []


def test_a_segmentation_lies_in_the_data_set_that_learned_it(make_project):
    project = make_project(first=little(), second=little(segmentation_from="first"))
    for name in ("first", "second"):
        folder = segmentation_folder(project, dataset=name, segmentation="words_joint_200")
        assert folder == "results/first/segmentation/words_joint_200"


def test_a_segmentation_may_read_linearised_parses(make_project):
    project = make_project(
        phrases=little(
            annotators={"phrases": {"tool": "corenlp", "analysis": "constituents"}},
            syntax={"source": {"constituency": "phrases"}},
        ),
        plain=little(),
    )
    files = training_linearised_parses(project, dataset="phrases", segmentation="bpe_joint_200_constituency")
    assert files == ["results/phrases/annotation/phrases/train.source.brackets.parquet"]
    assert training_linearised_parses(project, dataset="phrases", segmentation="bpe_joint_200") == []
    with pytest.raises(UserError, match="plain: bpe_joint_200_constituency needs constituency on the source side"):
        training_linearised_parses(project, dataset="plain", segmentation="bpe_joint_200_constituency")


def test_annotations_that_an_annotator_is_used_for(make_project):
    project = make_project(parsed=parsed())
    names = {"dataset": "parsed", "side": "source"}
    assert used_annotations(project, **names, annotator="trees", split="dev") == ["dependencies", "tags"]
    assert used_annotations(project, **names, annotator="gold", split="gold_bank") == ["dependencies"]
    with pytest.raises(UserError, match="the annotator gold is not used on the source side: name it in the data set's"):
        used_annotations(project, **names, annotator="gold", split="dev")


def test_trees_of_treebanks_use_the_label_vocabulary_of_the_training_split(make_project):
    project = make_project(parsed=parsed())
    for annotator in ("trees", "gold"):
        labels = labels_of_features(project, dataset="parsed", annotator=annotator, side="source")
        assert labels == "results/parsed/annotation/trees/source.labels.json"


@pytest.mark.parametrize(
    ("settings", "scales", "visible", "expected"),
    [
        ({}, ["small"], 4, (8, 32)),
        ({}, ["small", "paper"], 4, (1, 4)),
        ({"machine": {"jobs_per_gpu": 3}}, ["small"], 4, (3, 12)),
        ({"gpus": 2}, ["paper"], 1, (1, 2)),
    ],
)
def test_jobs_share_gpus_as_the_machine_or_the_scales_allow(make_project, settings, scales, visible, expected):
    project = make_project(settings)
    assert shared_gpus(project, map(project.layout.root, scales), visible=visible) == expected
