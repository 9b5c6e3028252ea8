"""Currey and Heafield's two tasks, from text and CoreNLP's constituents to scores."""

import pytest
from forked import call_forked
from workflow.calling import little, write_little

from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")


def test_both_tasks_are_trained_and_only_translations_are_scored(empty, shared):
    empty.train_briefly()
    write_little(empty)
    parser = {"tool": "corenlp", "analysis": "constituents", "max_words": 8}
    values = {"annotators": {"parser": parser}, "syntax": {"source": {"constituency": "parser"}}}
    empty.write("datasets/bracketed", little(**values))
    empty.run("results/smoke/bracketed/currey_heafield.bleu", settings=[f'models=["{shared}"]'])
    results = empty.folder / "results"
    (features,) = (results / "bracketed/features").glob("*_constituency")
    rows = list(read_rows(results / "bracketed/annotation/parser/dev.source.brackets.parquet"))
    parsed = [row["id"] for row in rows if row["brackets"] is not None]
    assert 0 < len(parsed) < 12, "sentences of two lengths are too long to be parsed"
    assert [row["id"] for row in read_rows(features / "dev.source.parquet")] == list(range(12))
    linearised = list(read_rows(features / "dev.source.parser.brackets.parquet"))
    assert [row["id"] for row in linearised if row["ids"] is not None] == parsed
    assert not list(features.glob("test.*.brackets.parquet"))
    run = results / "smoke/bracketed/currey_heafield/seed1"
    for split, count in (("test", 10), ("dev", 12)):
        hypotheses = (run / f"hypotheses/{split}/translations.txt").read_text()
        assert hypotheses.count("\n") == count
        assert "<TR>" not in hypotheses
    lines = "the old dog sleeps .\n\n" + "a cat " * 600 + "\n"
    translated = call_forked("nmtcore", "translate", str(run / "model"), text=lines.encode()).stdout.decode()
    assert len(translated.split("\n")) == 4
    assert not [tag for tag in ("<TR>", "<PA>") if tag in translated]


def test_the_parsing_task_needs_constituents(planner):
    planner.write("datasets/little", little())
    refusal = planner.refusal("results/smoke/little/currey_heafield.bleu")
    assert "needs constituency on the source side, but the data set names no annotator for it" in refusal
    refusal = planner.refusal("results/little/features/words_joint_200_constituency/train.source.parquet")
    assert "words_joint_200_constituency needs constituency on the source side" in refusal
