"""Currey and Heafield's two tasks, from text and CoreNLP's constituents to scores."""

import json

import pytest
from forked import call_forked
from workflow.calling import little, make_workplace, write_little

from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")


@pytest.fixture(scope="module")
def workplace(tmp_path_factory, root, shared):
    workplace = make_workplace(tmp_path_factory.mktemp("tasks"), root / "Snakefile")
    workplace.train_briefly()
    write_little(workplace)
    parser = {"tool": "corenlp", "analysis": "constituents", "max_words": 8}
    values = {"annotators": {"parser": parser}, "syntax": {"source": {"constituency": "parser"}}}
    workplace.write("datasets/bracketed", little(**values))
    return workplace


def test_both_tasks_are_trained_and_only_translations_are_scored(workplace, shared):
    workplace.run("results/smoke/bracketed/currey_heafield.bleu", settings=[f'models=["{shared}"]'])
    results = workplace.folder / "results"
    (features,) = (results / "bracketed/features").glob("*_constituency")
    parsed = [
        row["id"]
        for row in read_rows(results / "bracketed/annotation/parser/dev.source.brackets.parquet")
        if row["brackets"] is not None
    ]
    ids = {split: [row["id"] for row in read_rows(features / f"{split}.source.parquet")] for split in ("dev", "test")}
    assert 0 < len(parsed) < 12, "sentences of two lengths are too long to be parsed"
    assert ids == {"dev": list(range(12)), "test": list(range(10))}
    linearised = list(read_rows(features / "dev.source.parser.brackets.parquet"))
    assert [row["id"] for row in linearised if row["ids"] is not None] == parsed
    assert not list(features.glob("test.*.brackets.parquet"))
    run = results / "smoke/bracketed/currey_heafield/seed1"
    assert list(json.loads((run / "scores.json").read_text())["bleu"]) == ["test", "dev"]
    for split, count in (("test", 10), ("dev", 12)):
        hypotheses = (run / f"hypotheses/{split}.txt").read_text()
        assert hypotheses.count("\n") == count
        assert "<TR>" not in hypotheses
    training = [json.loads(line) for line in (run / "training.jsonl").read_text().splitlines()]
    losses = [line["loss"] for line in training if "loss" in line]
    assert losses[-1] < losses[0]
    model = run / "model"
    lines = "the old dog sleeps .\n\n" + "a cat " * 600 + "\n"
    translated = call_forked("nmtcore", "translate", str(model), text=lines.encode()).stdout.decode()
    assert len(translated.split("\n")) == 4
    assert "<TR>" not in translated
    assert "<PA>" not in translated


def test_the_parsing_task_needs_constituents(planner):
    planner.write("datasets/little", little())
    refusal = planner.refusal("results/smoke/little/currey_heafield.bleu")
    assert "needs constituency on the source side, but the data set names no annotator for it" in refusal
    refusal = planner.refusal("results/little/features/words_joint_200_constituency/train.source.parquet")
    assert "words_joint_200_constituency needs constituency on the source side" in refusal
