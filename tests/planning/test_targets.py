import pytest

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
        ("results/paper/demo_en2de/depparse_l1.bleu", "without 'paper/'"),
        ("results/demo_en2de/depparse_l1.bleau", "Did you mean bleu"),
        ("results/demo_en2de/transformer_base.uas", "predicts no trees"),
        ("results/smoke/demo_en2de/corpus/train.parquet", "does not depend on the scale"),
        ("results/demo_en2de/corpus/trian.parquet", "unknown split 'trian'"),
        ("results/demo_en2de/depparse_9/seed1/model", "unknown system"),
    ],
)
def test_targets_that_cannot_be(project, target, words):
    with pytest.raises(UserError) as error:
        check_target(project(), target)
    assert words in str(error.value)
    assert target in str(error.value)


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
        "results/demo_en2de/corpus/train.parquet",
        "results/demo_en2de/features/bpe_joint_2000/dev.source.existing.parquet",
        "results/tables/demo.md",
    ],
)
def test_targets_that_can_be(project, target):
    check_target(project(), target)


def nearest(project, target, **settings):
    """What is said of a target where rules make the files of the layout, but no treebanks' scores."""
    layout = project(settings).layout

    def makes(path):
        return layout.parse(path) is not None and not path.endswith("gold.uas")

    found = {"rules": ["all", "annotate", "train"], "files": ["results/tables/demo.md"]}
    return unknown_target(project(settings), target, **found, makes=makes)


@pytest.mark.parametrize(
    ("target", "meant"),
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
    ],
)
def test_the_nearest_targets_are_named(project, target, meant):
    said = nearest(project, target)
    assert said.startswith(f"{target}: no rule makes this. Did you mean ")
    assert meant in said.split("Did you mean ")[1].rstrip("?").split(" or ")


def test_what_is_like_nothing_gets_the_rules_and_an_example(project):
    said = nearest(project, "nothing_like_it", paths={"results": "out/"})
    assert said == (
        "nothing_like_it: no rule makes this. Ask for one of all, annotate, train, or for a file, such as "
        "out/demo_en2de/transformer_base.bleu."
    )


def test_a_name_in_a_nearest_target_may_be_unknown(project):
    with pytest.raises(UserError, match="unknown system 'transformer_bas'"):
        nearest(project, "demo_en2de/transformer_bas.bleu")
