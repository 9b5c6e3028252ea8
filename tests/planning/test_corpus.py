"""Inputs and settings of corpus jobs."""

from pathlib import Path

import pytest
from workflow.calling import little

from nmtcore.errors import UserError
from nmtcore.planning.corpus import filtering_settings, held_out_splits, raw_files


def own_file(**paths):
    """The data set `little` with training files of the user's own."""
    corpora = little()["corpora"] | {"train": {"format": "plain", "files": paths}}
    return little(corpora=corpora)


def test_each_raw_file_of_a_split_is_listed_once(make_project):
    twice = little(
        splits={"train": ["train", "dev", {"corpus": "dev", "first": 1, "last": 2}], "dev": "dev", "test": "test"}
    )
    files = raw_files(make_project(twice=twice), dataset="twice", split="train")
    assert files == [f"downloads/little/{split}.{side}" for split in ("train", "dev") for side in ("en", "de")]


def test_missing_own_files_are_an_error_until_the_split_has_been_read(make_project, tmp_path):
    (tmp_path / "mine.en").touch()
    project = make_project(mine=own_file(source=str(tmp_path / "mine.en"), target=str(tmp_path / "mine.de")))
    with pytest.raises(UserError, match=r"files are missing[\s\S]*mine\.de"):
        raw_files(project, dataset="mine", split="dev")
    read = Path("results/mine/corpus/raw/train.parquet")
    read.parent.mkdir(parents=True)
    read.touch()
    assert raw_files(project, dataset="mine", split="train") == ["mine.en", "mine.de"]


def test_a_file_whose_name_has_braces_is_refused(make_project, tmp_path):
    """Snakemake would look for another file, or for a wildcard that no rule has."""
    paths = {"source": str(tmp_path / "{split}.en"), "target": str(tmp_path / "mine.de")}
    for path in paths.values():
        Path(path).touch()
    with pytest.raises(
        UserError, match=r"mine: Snakemake takes braces in \{split\}\.en for wildcards: rename the file"
    ):
        raw_files(make_project(mine=own_file(**paths)), dataset="mine", split="train")


def test_only_the_training_split_depends_on_filters(make_project):
    project = make_project(plain=little(filters=["empty"]), separate=little(filters=["empty", "duplicates"]))
    names = ("plain", "separate")
    for split, count in (("train", 2), ("dev", 1)):
        assert len({repr(filtering_settings(project, dataset=name, split=split)) for name in names}) == count


def test_the_filter_held_out_reads_the_test_splits(make_project):
    project = make_project(plain=little(), separate=little(filters=["empty", "held_out"]))
    assert held_out_splits(project, dataset="separate", split="train") == [
        "results/separate/corpus/raw/test.parquet",
        "results/separate/corpus/raw/dev.parquet",
    ]
    assert held_out_splits(project, dataset="separate", split="dev") == []
    more = little(filters=[{"name": "held_out", "splits": ["more"]}], splits={**little()["splits"], "more": "test"})
    project = make_project(more=more)
    assert held_out_splits(project, dataset="more", split="train") == ["results/more/corpus/raw/more.parquet"]
    no_split = little(filters=[{"name": "held_out", "splits": ["train"]}])
    with pytest.raises(UserError, match="filters: held_out: there is no split 'train' to compare train with"):
        make_project(wrong=no_split).dataset("wrong")
    assert held_out_splits(project, dataset="plain", split="train") == []
