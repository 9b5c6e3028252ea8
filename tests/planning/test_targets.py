"""Targets of a command line: which ones are refused, and what is suggested instead."""

import re

import pytest
from planning.conftest import parsed
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.nearest_target import unknown_target
from nmtcore.planning.targets import check_target


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("results/demo_en2d/transformer_base.bleu", "Did you mean demo_en2de"),
        ("results/smoke/demo_en2de/depparse_1.bleu", "Did you mean depparse_l1"),
        ("results/table/systems.md", "unknown data set or scale 'table'. Did you mean tables?"),
        ("results/smoke/demo_en2de/*.bleu", """all --config scale=smoke 'datasets=["demo_en2de"]' 'systems=["*"]'."""),
        ("results/*/depparse_l0.bleu", """all --config scale=paper 'datasets=["*"]' 'systems=["depparse_l0"]'."""),
        ("results/smoke/*/*/seed1/model", """train --config scale=smoke 'datasets=["*"]' 'systems=["*"]'."""),
        (
            "results/demo_*/corpus/*.parquet",
            "a target names one file, so it has no `*`: ask for the rule all, with --con",
        ),
        ("*.bleu", """for the rule all, with --config 'systems=["*"]', or for data with --config 'datasets=["*"]'."""),
        ("results/smok/demo_en2de/depparse_l1.bleu", "unknown data set or scale 'smok'"),
        ("results/reprot.html", "results/reprot.html: no rule makes this. Did you mean results/report.html?"),
        ("results/smoke/report.html", "Did you mean results/report.html?"),
        ("results/run.parquet", "Did you mean results/runs.parquet?"),
        ("results/smokes", "unknown data set or scale 'smokes'. Did you mean smoke?"),
        ("results/paper/demo_en2de/depparse_l1.bleu", "without 'paper/'"),
        ("results/demo_en2de/depparse_l1.bleau", "Did you mean bleu"),
        ("results/demo_en2de/transformer_base.uas", "predicts no trees"),
        ("results/demo_en2de/pascal.chrf", "chrF is in the same file as BLEU: ask for pascal.bleu."),
        ("results/demo_en2de/pascal.ribes", "demo_en2de is not scored by ribes: ask for pascal.bleu, or add ribes to"),
        ("results/wat_en2ja/pascal.multi_bleu", "wat_en2ja is not scored by multi_bleu: ask for pascal.bleu, or add"),
        ("results/wat_en2ja/pascal.uas", "pascal predicts no trees"),
        ("results/smoke/demo_en2de/corpus/train.parquet", "does not depend on the scale"),
        ("results/demo_en2de/corpus/trian.parquet", "unknown split 'trian'"),
        ("results/demo_en2de/depparse_9/seed1/model", "unknown system"),
        ("results/smoke/tables/systems.md", "ask for results/tables/systems.md with --config scale=smoke"),
        ("results/smoke/tables/mine/data.md", "ask for results/tables/mine/data.md with --config scale=smoke"),
        ("results/smoke/tables/system.md", "unknown table 'system'. Did you mean systems?"),
        ("results/smoke/figures/curves.svg", "ask for results/figures/curves.svg with --config scale=smoke"),
        ("results/smoke/figures/curve.svg", "unknown figure 'curve'. Did you mean curves?"),
        ("results/figure/curves.svg", "unknown data set or scale 'figure'. Did you mean figures?"),
        ("results/smoke/demo_en2de/transformer_base/seed1/gold", "transformer_base predicts no trees"),
        ("results/czeng_sample_cs2en/depparse_l1/seed1/gold.json", "has no gold treebank"),
        ("results/demo_en2de/nmt/seed1/gates/test.parquet", "nmt has no gate in the decoder; ask for the gates of sa_"),
        ("results/demo_en2de/sa_nmt_1set/seed1/gates/test.parquet", "sa_nmt_1set has no gate in the decoder"),
        ("results/demo_en2de/sa_nmt_shared/seed1/gates/tset.parquet", "unknown test split 'tset'. Did you mean test?"),
        ("results/demo_en2de/sa_nmt_shared/seed1/gates/train.parquet", "unknown test split 'train'"),
        (
            "results/demo_de2en/interleaved/seed1/contrast/contrast_demo.parquet",
            "interleaved generates tags among the words, so no probability can be computed.",
        ),
        (
            "results/czeng_sample_cs2en/nmt/seed1/contrast/contrast_a.parquet",
            "has no contrastive pairs (a split con",
        ),
        ("results/demo_en2de/corpus/test.contrasts.parquet", "unknown split of contrastive pairs 'test'"),
        ("results/demo_en2de/nmt/seed1/contrast/test.parquet", "unknown split of contrastive pairs 'test'"),
        ("results/demo_en2de/nmt/seed1/attention/tset.parquet", "unknown test split 'tset'. Did you mean test?"),
        ("results/demo_en2de/nmt/seed1/heads/gold_a.json", "nmt is recurrent: its encoder has no attention heads"),
        ("results/czeng_sample_cs2en/transformer_base/seed1/heads/gold_a.json", "has no gold treebank"),
        (
            "results/multi30k_cs2en/transformer_base/seed1/heads/gold_pud_english.json",
            "unknown gold treebank 'gold_pud_english'. Did you mean gold_pud_czech?",
        ),
        (
            "results/multi30k_cs2en/diagonalparse_l0.gold.uas",
            "diagonalparse_l0 predicts chains of previous words, which are not compared with gold trees. Ask for its "
            ".uas, which compares it with the chain of previous words.",
        ),
        ("results/multi30k_cs2en/diagonalparse_l0/seed1/gold", "diagonalparse_l0 predicts chains"),
    ],
)
def test_impossible_targets_are_refused(make_project, target, words):
    with pytest.raises(UserError) as error:
        check_target(make_project(), target)
    assert words in str(error.value)
    assert target in str(error.value)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (
            "results/smoke/demo_en2de/tag_attention.bleu",
            "names no annotator for it. With one that gives ccg for 'de', add `syntax: {target: {ccg: NAME}}` to "
            "config/datasets/demo_en2de.yaml; without one, use another data set. tag_attention can be trained on "
            "demo_de2en, multi30k_cs2en, multi30k_cs2en_2k, multi30k_cs2en_8k, multi30k_cs2en_mono, multi30k_de2en "
            "and 11 more.",
        ),
        (
            "results/multi30k_cs2en_mono/source_dg_a.bleu",
            "Use a data set without copies. source_dg_a can be trained on cs2en, cs2en_bpe, czeng_sample_cs2en, de2cs, "
            "demo_de2en, demo_en2de and 46 more.",
        ),
        (
            "results/cs2en/source_ccg.bleu",
            "source_ccg can be trained on demo_en2de, multi30k_en2de, rehearsal_multi30k_en2de.",
        ),
    ],
)
def test_data_sets_are_named_that_have_what_a_system_needs(make_project, target, words):
    with pytest.raises(UserError) as error:
        check_target(make_project(), target)
    assert str(error.value).endswith(words)


@pytest.mark.parametrize(
    "target",
    [
        "all",
        "demo",
        "--cores",
        "elsewhere/file.txt",
        "results/demo_en2de/depparse_l1.bleu",
        "results/smoke/demo_en2de/depparse_l1.uas",
        "results/smoke/demo_en2de/depparse_l1/seed3/model",
        "results/smoke/multi30k_cs2en/depparse_l1/seed3/gold",
        "results/wat_en2ja/pascal.ribes",
        "results/smoke/rehearsal_wat_en2ja/depparse_l1.ribes",
        "results/wmt17_ru2en/sa_nmt_shared.multi_bleu",
        "results/demo_en2de/corpus/train.parquet",
        "results/demo_en2de/features/bpe_joint_2000/dev.source.existing.parquet",
        "results/smoke/demo_en2de/fa_nmt_separate/seed1/gates/dev.parquet",
        "results/smoke/demo_en2de/nmt/seed1/attention/test.parquet",
        "results/smoke/multi30k_cs2en/transformer_base/seed1/heads/gold_pud_czech.json",
        "results/tables/gates.md",
        "results/tables/contrast.md",
        "results/demo_en2de/corpus/contrast_demo.contrasts.parquet",
        "results/smoke/demo_de2en/tag_attention/seed1/contrast/contrast_demo.parquet",
        "results/tables/heads.md",
        "results/tables/productions.md",
        "results/tables/constructions.md",
        "results/tables/examples.md",
        "results/figures/curves.svg",
        "results/figures/mine/constructions.svg",
        "results/tables/demo.md",
    ],
)
def test_possible_targets_pass(make_project, target):
    check_target(make_project(), target)


def test_induced_trees_are_compared_with_those_that_exist(make_project):
    bare = {"annotators": {"gold": {"tool": "existing"}}, "syntax": {}}
    project = make_project(whole=parsed(), unparsed=parsed(**bare), neither=little())
    scores = {name: project.run(name, "sa_nmt_shared", "smoke", 1).scores for name in ("whole", "unparsed", "neither")}
    assert scores == {"whole": ("bleu", "uas", "gold.uas"), "unparsed": ("bleu", "gold.uas"), "neither": ("bleu",)}
    for name, score in scores.items():
        for own_score in score:
            check_target(project, f"results/smoke/{name}/sa_nmt_shared.{own_score}")
    with pytest.raises(UserError) as error:
        check_target(project, "results/smoke/unparsed/sa_nmt_shared.uas")
    assert str(error.value) == (
        "results/smoke/unparsed/sa_nmt_shared.uas: sa_nmt_shared learns its trees from no parser, and unparsed names "
        "none to compare them with (`syntax: {source: {dependencies: NAME}}`). Ask for its .gold.uas, which compares "
        "it with gold trees."
    )
    with pytest.raises(UserError, match=r"neither has no gold treebank .* to compare sa_nmt_shared with\. Ask for its"):
        check_target(project, "results/smoke/neither/sa_nmt_shared.gold.uas")
    with pytest.raises(UserError, match="nmt predicts no trees"):
        check_target(project, "results/smoke/whole/nmt.gold.uas")


def nearest(make_project, target, **settings):
    """The message about a target when rules make all files of the layout, except treebanks' scores."""
    layout = make_project(settings).layout

    def makes(path):
        return layout.parse(path) is not None and not path.endswith("gold.uas")

    targets = {"rules": ["all", "annotate", "train"], "files": ["results/tables/demo.md"]}
    return unknown_target(make_project(settings), target, **targets, makes=makes)


@pytest.mark.parametrize(
    ("target", "suggestion"),
    [
        ("anotate", "annotate"),
        ("result/smoke/demo_en2de/transformer_base.bleu", "results/smoke/demo_en2de/transformer_base.bleu"),
        ("demo_en2de/transformer_base.bleu", "results/demo_en2de/transformer_base.bleu"),
        ("results/demo_en2de/corpus/train.parket", "results/demo_en2de/corpus/train.parquet"),
        ("results/demo_en2de/depparse_l1/seed1/hypothesis", "results/demo_en2de/depparse_l1/seed1/hypotheses"),
        (
            "results/demo_en2de/corpus/raw/dev.jsn",
            "results/demo_en2de/corpus/raw/dev.json",
        ),
        ("results/table/demo.md", "results/tables/demo.md"),
        (
            "results/demo_en2de/sa_nmt_shared/seed1/gate/test.parquet",
            "results/demo_en2de/sa_nmt_shared/seed1/gates/test.parquet",
        ),
        (
            "results/multi30k_cs2en/transformer_base/seed1/head/gold_pud_czech.json",
            "results/multi30k_cs2en/transformer_base/seed1/heads/gold_pud_czech.json",
        ),
    ],
)
def test_the_nearest_targets_are_suggested(make_project, target, suggestion):
    message = nearest(make_project, target)
    assert message.startswith(f"{target}: no rule makes this. Did you mean ")
    assert suggestion in re.split(", | or ", message.split("Did you mean ")[1].rstrip("?"))


def test_suggestions_leave_out_parses_of_systems_that_predict_no_trees(make_project):
    assert "seed1/gold" in nearest(make_project, "results/multi30k_cs2en/depparse_l1/seed1/golf")
    assert "seed1/gold" not in nearest(make_project, "results/multi30k_cs2en/transformer_base/seed1/golf")


def test_a_target_similar_to_nothing_gets_the_rules_and_an_example(make_project):
    message = nearest(make_project, "nothing_like_it", paths={"results": "out/"})
    assert message == (
        "nothing_like_it: no rule makes this. Ask for one of all, annotate, train, or for a file, such as "
        "out/demo_en2de/transformer_base.bleu."
    )


def test_targets_in_the_default_folder_are_corrected_to_the_configured_one(make_project):
    target = "demo_en2de/transformer_base.bleu"
    message = nearest(make_project, f"results/{target}", paths={"results": "/scratch/out"})
    assert message == f"results/{target}: no rule makes this. Did you mean /scratch/out/{target}?"


def test_an_unknown_name_in_a_nearest_target_is_an_error(make_project):
    with pytest.raises(UserError, match="unknown system 'transformer_bas'"):
        nearest(make_project, "demo_en2de/transformer_bas.bleu")


def test_a_name_that_no_file_can_have_is_refused_and_shown_in_part(make_project):
    with pytest.raises(UserError, match=r"^'results/demo_en2de/x{58}\.\.\.': no file can have a name of more than 255"):
        check_target(make_project(), f"results/demo_en2de/{'x' * 300}.bleu")
