"""Old outputs are not mistaken for those of a job that failed or was killed."""

import json
import os

import pytest
from workflow.calling import BRIEF, make_workplace, write_little

from nmtcore.errors import UserError
from nmtcore.layout import Layout
from nmtcore.unfinished import delete_plan_record, outputs_recorded, record_plan, unfinished

CORPUS = "results/little/corpus/train.parquet"
RAW = "results/little/corpus/raw/train.parquet"
SCORE = "results/brief/little/weighted.bleu"


def write_weighted(workplace, weight):
    components = {"diagonalparse": {"layer": 0, "weight": weight}}
    workplace.write("systems/weighted", {"weighted": {"extends": "transformer_base", "components": components}})


@pytest.fixture(scope="module")
def scored(root, tmp_path_factory):
    """A working directory in which the system `weighted` has been trained and scored."""
    directory = make_workplace(tmp_path_factory.mktemp("unfinished"), root / "Snakefile")
    write_little(directory)
    directory.write("scales/brief", BRIEF)
    write_weighted(directory, 0.5)
    directory.run(SCORE)
    return directory


def fail(workplace, target):
    """Make a target with scripts that cannot import the package, which must be processes of their own."""
    broken = workplace.folder / ".snakemake/scripts/nmtcore.py"  # next to the script, so imported before the package
    broken.write_text("raise SystemExit(1)")
    assert workplace.call("--cores", "1", target, forked=False).code == 1
    broken.unlink()


@pytest.mark.needs("Snakemake")
def test_scores_are_computed_again_after_a_failed_training(scored):
    write_weighted(scored, 0.25)
    run = scored.folder / "results/brief/little/weighted/seed1"
    (run / "checkpoints").rename(run / "aside")
    (run / "checkpoints").write_text("a file in place of the trainer's folder")
    assert scored.call("--cores", "1", SCORE).code == 1
    assert not (run / "model").exists()
    assert (run / "scores.json").exists()
    (run / "checkpoints").unlink()
    (run / "aside").rename(run / "checkpoints")
    assert scored.run(SCORE).rules == {"train_model", "translate_tests", "score_tests", "summarise_seeds"}
    assert json.loads((run / "model/run.json").read_text())["components"]["diagonalparse"]["weight"] == 0.25
    assert scored.plan(SCORE).rules == set()


@pytest.mark.needs("Snakemake")
def test_scores_are_computed_again_after_failed_translation_or_scoring(scored):
    run = scored.folder / "results/brief/little/weighted/seed1"
    scorings = {"score_tests", "summarise_seeds"}
    settings = (
        ({"decoding": {"beam": 7}}, "hypotheses", {"translate_tests", *scorings}),
        ({"evaluation": {"text": "tokens", "tokenize": "13a", "roots": "many"}}, "scores.json", scorings),
    )
    for changed, missing, rules in settings:
        scored.edit("datasets/little", **changed)
        fail(scored, SCORE)
        assert not (run / missing).exists()
        assert (scored.folder / SCORE).exists()
        assert scored.run(SCORE).rules == rules


@pytest.mark.needs("Snakemake")
def test_a_corpus_is_filtered_again_after_a_failed_reading(scored):
    file = scored.folder / "downloads/little/train.en"
    sound = file.read_bytes()
    file.write_bytes(b"\xff not UTF-8\n")
    assert scored.call("--cores", "1", CORPUS).code == 1
    assert not (scored.folder / RAW).exists()
    assert (scored.folder / CORPUS).exists()
    file.write_bytes(sound)
    os.utime(file, ns=(1, 1))  # older than all outputs
    assert {"read_split", "filter_split"} <= scored.run(CORPUS).rules
    assert scored.plan(CORPUS).rules == set()


@pytest.mark.needs("Snakemake")
def test_outputs_of_jobs_that_never_started_are_made_by_the_next_plan(scored):
    """For example if a node of a cluster fails, so that the job itself could not record its outputs."""
    before = (scored.folder / "config/datasets/little.yaml").read_text()
    scored.edit("datasets/little", max_bad_lines=1)
    fail(scored, CORPUS)
    assert not (scored.folder / RAW).exists()
    assert {"read_split", "filter_split"} <= scored.run(CORPUS).rules
    (scored.folder / "config/datasets/little.yaml").write_text(before)


@pytest.mark.needs("Snakemake")
def test_files_that_a_user_deletes_are_not_made_again_for_existing_results(scored):
    scored.edit("datasets/little", max_bad_lines=2)
    assert "read_split" in scored.run(CORPUS).rules
    (scored.folder / RAW).unlink()
    assert scored.plan(CORPUS).rules == set()


@pytest.fixture
def layout(tmp_path):
    return Layout(results=tmp_path)


def test_outputs_are_recorded_until_they_exist(tmp_path, layout):
    outputs = [str(tmp_path / name) for name in ("one", "two")]
    with pytest.raises(KeyboardInterrupt), outputs_recorded(outputs, layout=layout):
        raise KeyboardInterrupt
    assert unfinished(layout) == outputs
    (tmp_path / "one").touch()
    assert unfinished(layout) == outputs[1:]
    with outputs_recorded(outputs, layout=layout):
        assert unfinished(layout) == outputs[1:]
    assert unfinished(layout) == []


def test_a_plan_keeps_the_missing_outputs_of_an_earlier_one(tmp_path, layout):
    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    record_plan([first], layout=layout)
    record_plan([second], layout=layout)
    assert unfinished(layout) == [first, second]
    delete_plan_record(layout)
    assert unfinished(layout) == []


def test_a_broken_record_is_an_error(tmp_path, layout):
    record_plan([], layout=layout)
    (tmp_path / "logs/unfinished/plan.json").write_text("[")
    with pytest.raises(UserError, match=r"plan\.json, line 1: not valid JSON"):
        unfinished(layout)


@pytest.mark.parametrize("content", ["", "{}", "[3]", '["a\\u0000b"]'])
def test_a_damaged_record_is_named(tmp_path, content):
    layout = Layout(results=str(tmp_path))
    record_plan(["x"], layout=layout)
    (record,) = (tmp_path / "logs/unfinished").iterdir()
    record.write_text(content)
    with pytest.raises(UserError, match=str(record)):
        unfinished(layout)
