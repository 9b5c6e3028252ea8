from pathlib import Path

import pytest
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.corpus import (
    filter_threads,
    held_out_splits,
    raw_files,
    tracked_filtering,
    tracked_reading,
    truecasers,
)


def own_file(**paths):
    """The data set `little`, whose training text is the user's own."""
    corpora = little()["corpora"] | {"train": {"format": "plain", "files": paths}}
    return little(corpora=corpora)


def test_the_files_of_a_split_each_once(project):
    twice = little(
        splits={"train": ["train", "dev", {"corpus": "dev", "first": 1, "last": 2}], "dev": "dev", "test": "test"}
    )
    files = raw_files(project(twice=twice), dataset="twice", split="train")
    assert files == [f"downloads/little/{split}.{side}" for split in ("train", "dev") for side in ("en", "de")]


def test_a_split_that_is_not_there(project):
    for function in (raw_files, tracked_reading, tracked_filtering):
        with pytest.raises(UserError, match=r"little: unknown split 'tset'\. Did you mean test"):
            function(project(little=little()), dataset="little", split="tset")


def test_files_of_the_users_own_are_missed_until_the_split_was_read(project, tmp_path):
    (tmp_path / "mine.en").touch()
    made = project(mine=own_file(source=str(tmp_path / "mine.en"), target=str(tmp_path / "mine.de")))
    with pytest.raises(UserError, match=r"files are missing[\s\S]*mine\.de"):
        raw_files(made, dataset="mine", split="dev")
    read = Path("results/mine/corpus/raw/train.parquet")
    read.parent.mkdir(parents=True)
    read.touch()
    assert raw_files(made, dataset="mine", split="train") == [str(tmp_path / "mine.en"), str(tmp_path / "mine.de")]


def test_reading_depends_on_the_state_of_the_users_own_files(project, tmp_path):
    paths = {side: str(tmp_path / side) for side in ("source", "target")}
    made = project(mine=own_file(**paths))
    before = repr(tracked_reading(made, dataset="mine", split="train"))
    (tmp_path / "source").write_text("new")
    assert repr(tracked_reading(made, dataset="mine", split="train")) != before


def test_filtering_depends_on_the_filters_of_the_training_split_alone(project):
    def tracked(split, filters):
        return repr(tracked_filtering(project(little=little(filters=filters)), dataset="little", split=split))

    assert tracked("train", ["empty"]) != tracked("train", ["empty", "duplicates"])
    assert tracked("dev", ["empty"]) == tracked("dev", ["empty", "duplicates"])


def test_training_pairs_stand_apart_from_tests_where_a_filter_says_so(project):
    made = project(plain=little(), apart=little(filters=["empty", "held_out"]))
    assert held_out_splits(made, dataset="apart", split="train") == [
        "results/apart/corpus/raw/test.parquet",
        "results/apart/corpus/raw/dev.parquet",
    ]
    assert held_out_splits(made, dataset="apart", split="dev") == []
    assert held_out_splits(made, dataset="plain", split="train") == []


def test_only_filters_that_guess_languages_share_out_pairs(project):
    made = project(plain=little(), guessed=little(filters=["empty", "langdetect"]))
    assert [filter_threads(made, dataset=name) for name in ("plain", "guessed")] == [1, 2]


def test_truecasing_models_are_those_of_the_data_set_whose_segmentation_is_used(project):
    words = {"source": {"kind": "moses", "truecase": True}, "target": "spaces"}
    made = project(first=little(words=words), second=little(words=words, segmentation_from="first"), plain=little())
    for name in ("first", "second"):
        assert truecasers(made, dataset=name) == ["results/first/corpus/truecase.source.txt"]
    assert truecasers(made, dataset="plain") == []
