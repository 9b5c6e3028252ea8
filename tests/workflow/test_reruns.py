"""What is made again after a change, and what is not."""

import re
import shutil

import pytest
import yaml
from workflow.calling import Workplace, copy_workflow

TARGET = "results/little/corpus/train.parquet"
SCORE = "results/smoke/little/weighted.bleu"
SCORING = {"score_tests", "summarise_seeds"}


def plan(place, *options, target=TARGET):
    """Plan a target; no line of its reasons for running a job again is long."""
    finished = place.plan(target, *options)
    told = re.findall(r"reason: Params have changed.*(?:\n {8}.*)*", finished.output)
    assert all(len(line) < 200 for lines in told for line in lines.splitlines())
    return finished


def planned(place, *options, target=TARGET):
    """The rules that a dry run would run."""
    return plan(place, *options, target=target).rules


def weighted(weight):
    return {
        "weighted": {
            "extends": "transformer_base",
            "components": {"diagonalparse": {"layer": 0, "weight": weight}},
            # Where BLEU decides which weights are kept, its tokeniser is a setting of training too.
            "training": {"validation": {"metric": "perplexity"}},
        }
    }


@pytest.fixture
def made(place):
    place.run(TARGET)
    assert planned(place) == set()
    path = place.folder / "config/datasets/little.yaml"
    before = path.read_text()
    yield place
    path.write_text(before)


@pytest.fixture
def scored(made):
    """With a system that is trained and scored; `weighted` says how heavy its second loss is."""
    path = made.write("systems/weighted", weighted(0.5))
    made.run(SCORE)
    assert planned(made, target=SCORE) == set()
    yield made
    path.unlink()


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


def test_other_filters_run_the_filters_again_on_what_they_filter(made):
    made.edit("datasets/little", filters=["empty", {"name": "length", "most": 80}])
    finished = plan(made)
    assert finished.rules == {"filter_split"}
    assert '        filters: "empty, duplicates" -> "empty, length"\n' in finished.output
    assert "        filters.length.most: nothing -> 80\n" in finished.output
    made.run("results/little/corpus/dev.parquet")
    assert planned(made, target="results/little/corpus/dev.parquet") == set()


def test_the_reason_is_told_when_the_job_runs(made):
    made.edit("datasets/little", filters=["empty", {"name": "length", "most": 100}])
    made.run(TARGET)
    made.edit("datasets/little", filters=["empty", {"name": "length", "most": 80}])
    assert "        filters.length.most: 100 -> 80\n" in made.run(TARGET).output


def test_another_way_of_finding_words_reads_again(made):
    made.edit("datasets/little", words="given")
    assert planned(made) == {"read_split", "filter_split"}


def test_new_settings_of_a_stage_to_the_right_leave_the_corpus_alone(made):
    made.edit("datasets/little", segmentation={"kind": "bpe", "joint": True, "size": 100}, recipe="pham2018")
    assert planned(made) == set()


def test_another_beam_translates_again_and_trains_nothing(scored):
    scored.edit("datasets/little", decoding={"beam": 7})
    finished = plan(scored, target=SCORE)
    assert finished.rules == {"translate_tests", *SCORING}
    assert "reason: Params have changed since last execution:\n        decoding.beam: 4 -> 7\n" in finished.output


def test_another_weight_of_a_component_trains_again(scored):
    scored.write("systems/weighted", weighted(0.7))
    finished = plan(scored, target=SCORE)
    assert finished.rules == {"train_model", "translate_tests", *SCORING}
    assert "        components.diagonalparse.weight: 0.5 -> 0.7\n" in finished.output


def test_one_more_test_is_translated_and_trains_nothing(scored):
    values = yaml.safe_load((scored.folder / "config/datasets/little.yaml").read_text())
    scored.edit("datasets/little", splits=values["splits"] | {"more": "test"})
    finished = plan(scored, target=SCORE)
    assert "translate_tests" in finished.rules
    assert "train_model" not in finished.rules
    assert '        tests: ["test", "dev"] -> ["test", "more", "dev"]\n' in finished.output


@pytest.mark.parametrize(
    ("setting", "value", "reason"),
    [
        ("roots", "many", '"one" -> "many"'),
        ("tokenize", "none", '"13a" -> "none"'),
        ("lowercase", True, "false -> true"),
    ],
)
def test_how_scores_are_computed_translates_nothing_again(scored, setting, value, reason):
    values = yaml.safe_load((scored.folder / "config/datasets/little.yaml").read_text())
    scored.edit("datasets/little", evaluation=values["evaluation"] | {setting: value})
    finished = plan(scored, target=SCORE)
    assert finished.rules == SCORING
    assert f"        evaluation.{setting}: {reason}\n" in finished.output


def test_a_new_version_of_the_scores_translates_nothing_again(scored, root, tmp_path):
    copied = Workplace(folder=scored.folder, snakefile=copy_workflow(root, tmp_path), mirror=scored.mirror)
    (tmp_path / "src").unlink()
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    assert planned(copied, target=SCORE) == set()
    versions = tmp_path / "src/nmtcore/config/versions.py"
    versions.write_text(re.sub(r'("evaluation": )\d+', r"\g<1>1000", versions.read_text()))
    assert planned(copied, target=SCORE) == SCORING


def test_scores_that_were_deleted_are_made_of_the_translations_that_are_there(scored):
    path = scored.folder / "results/smoke/little/weighted/seed1/scores.json"
    before = path.read_bytes()
    path.unlink()
    finished = scored.run(str(path.relative_to(scored.folder)))
    assert finished.rules == {"score_tests"}
    assert path.read_bytes() == before
    scored.run(SCORE)
