"""What is made again after a change, and what is not."""

import re

import pytest
from workflow.calling import Workplace, copy_workflow

TARGET = "results/little/corpus/dev.parquet"


def planned(place, *options):
    """The rules that a dry run would run."""
    finished = place.call("-n", TARGET, *options)
    assert finished.code == 0, finished.output
    return set(re.findall(r"^(?:local)?rule (\w+):", finished.output, re.MULTILINE))


@pytest.fixture
def made(place):
    place.run(TARGET)
    assert planned(place) == set()
    path = place.folder / "config/datasets/little.yaml"
    before = path.read_text()
    yield place
    path.write_text(before)


def test_a_comment_in_a_script_runs_nothing_again(made, root, tmp_path):
    snakefile = copy_workflow(root, tmp_path)
    copied = Workplace(folder=made.folder, snakefile=snakefile, mirror=made.mirror)
    script = tmp_path / "workflow/scripts/filter_split.py"
    script.write_text(f"# Nothing of importance.\n{script.read_text()}")
    assert planned(copied) == set()
    assert "filter_split" in planned(copied, "--rerun-triggers", "code"), "the profile has no part in it"


def test_a_new_description_runs_nothing_again(made):
    made.edit("datasets/little", description="Some sentences, all of them small")
    assert planned(made) == set()


def test_other_filters_run_the_filters_again(made):
    made.edit("datasets/little", filters=["empty"])
    assert planned(made) == {"filter_split"}


def test_another_way_of_finding_words_reads_again(made):
    made.edit("datasets/little", words="given")
    assert planned(made) == {"read_split", "filter_split"}


def test_new_settings_of_a_stage_to_the_right_leave_the_corpus_alone(made):
    made.edit("datasets/little", segmentation={"kind": "bpe", "joint": True, "size": 100}, recipe="pham2018")
    assert planned(made) == set()
