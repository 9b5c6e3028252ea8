"""The jobs that run again after a change."""

import re
import shutil

import pytest
import yaml
from workflow.calling import Workplace, copy_workflow

TARGET = "results/little/corpus/train.parquet"
SCORE = "results/smoke/little/weighted.bleu"
SCORING = {"score_tests", "summarise_seeds"}


def plan(workplace, *options, target=TARGET):
    """Plan a target; check that no line of a reason for running a job again is long."""
    finished = workplace.plan(target, *options)
    reasons = re.findall(r"reason: Params have changed.*(?:\n {8}.*)*", finished.output)
    assert all(len(line) < 200 for reason in reasons for line in reason.splitlines())
    return finished


def planned(workplace, *options, target=TARGET):
    """The rules that a dry run would run."""
    return plan(workplace, *options, target=target).rules


def weighted(weight):
    return {
        "weighted": {
            "extends": "transformer_base",
            "components": {"diagonalparse": {"layer": 0, "weight": weight}},
            # If validation used BLEU, training would depend on the settings of BLEU.
            "training": {"validation": {"metric": "perplexity"}},
        }
    }


@pytest.fixture
def prepared(workplace):
    workplace.run(TARGET)
    assert planned(workplace) == set()
    path = workplace.folder / "config/datasets/little.yaml"
    before = path.read_text()
    yield workplace
    path.write_text(before)


@pytest.fixture
def scored(prepared):
    """A working directory in which the system `weighted` has been trained and scored."""
    path = prepared.write("systems/weighted", weighted(0.5))
    prepared.run(SCORE)
    assert planned(prepared, target=SCORE) == set()
    yield prepared
    path.unlink()


def test_a_comment_in_a_script_runs_nothing_again(prepared, root, tmp_path):
    snakefile = copy_workflow(root, tmp_path)
    copied = Workplace(folder=prepared.folder, snakefile=snakefile, mirror=prepared.mirror)
    script = tmp_path / "workflow/scripts/filter_split.py"
    script.write_text(f"# Nothing of importance.\n{script.read_text()}")
    assert planned(copied) == set()
    assert "filter_split" in planned(copied, "--rerun-triggers", "code"), (
        "the profile keeps Snakemake from comparing code"
    )


def test_a_new_description_runs_nothing_again(prepared):
    prepared.edit("datasets/little", description="Some sentences, all of them small")
    assert planned(prepared) == set()


def test_other_filters_only_filter_the_training_split_again(prepared):
    prepared.edit("datasets/little", filters=["empty", {"name": "length", "most": 80}])
    finished = plan(prepared)
    assert finished.rules == {"filter_split"}
    assert '        filters: "empty, duplicates" -> "empty, length"\n' in finished.output
    assert "        filters.length.most: nothing -> 80\n" in finished.output
    prepared.run("results/little/corpus/dev.parquet")
    assert planned(prepared, target="results/little/corpus/dev.parquet") == set()


def test_the_reason_is_shown_when_the_job_runs(prepared):
    prepared.edit("datasets/little", filters=["empty", {"name": "length", "most": 100}])
    prepared.run(TARGET)
    prepared.edit("datasets/little", filters=["empty", {"name": "length", "most": 80}])
    assert "        filters.length.most: 100 -> 80\n" in prepared.run(TARGET).output


def test_another_tokenisation_reads_again(prepared):
    prepared.edit("datasets/little", words="given")
    assert planned(prepared) == {"read_split", "filter_split"}


def test_settings_of_later_stages_do_not_affect_the_corpus(prepared):
    prepared.edit("datasets/little", segmentation={"kind": "bpe", "joint": True, "size": 100}, recipe="pham2018")
    assert planned(prepared) == set()


def test_another_beam_only_translates_and_scores_again(scored):
    scored.edit("datasets/little", decoding={"beam": 7})
    finished = plan(scored, target=SCORE)
    assert finished.rules == {"translate_tests", *SCORING}
    assert "reason: Params have changed since last execution:\n        decoding.beam: 4 -> 7\n" in finished.output


def test_another_weight_of_a_component_trains_again(scored):
    scored.write("systems/weighted", weighted(0.7))
    finished = plan(scored, target=SCORE)
    assert finished.rules == {"train_model", "translate_tests", *SCORING}
    assert "        components.diagonalparse.weight: 0.5 -> 0.7\n" in finished.output


def test_another_test_set_trains_nothing_again(scored):
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
def test_settings_of_scoring_only_score_again(scored, setting, value, reason):
    values = yaml.safe_load((scored.folder / "config/datasets/little.yaml").read_text())
    scored.edit("datasets/little", evaluation=values["evaluation"] | {setting: value})
    finished = plan(scored, target=SCORE)
    assert finished.rules == SCORING
    assert f"        evaluation.{setting}: {reason}\n" in finished.output


def test_a_new_version_of_evaluation_only_scores_again(scored, root, tmp_path):
    copied = Workplace(folder=scored.folder, snakefile=copy_workflow(root, tmp_path), mirror=scored.mirror)
    (tmp_path / "src").unlink()
    shutil.copytree(root / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    assert planned(copied, target=SCORE) == set()
    versions = tmp_path / "src/nmtcore/config/versions.py"
    versions.write_text(re.sub(r'("evaluation": )\d+', r"\g<1>1000", versions.read_text()))
    assert planned(copied, target=SCORE) == SCORING


def test_deleted_scores_are_computed_from_existing_translations(scored):
    path = scored.folder / "results/smoke/little/weighted/seed1/scores.json"
    before = path.read_bytes()
    path.unlink()
    finished = scored.run(str(path.relative_to(scored.folder)))
    assert finished.rules == {"score_tests"}
    assert path.read_bytes() == before
    scored.run(SCORE)
