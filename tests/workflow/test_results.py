"""From corpora to scores, in a working directory outside the checkout."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as parquet
import pytest

from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

SCORES = [f"results/smoke/czeng_sample_cs2en/depparse_l4.{score}" for score in ("bleu", "uas")]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def check_bleu(run, corpus, column, tokens):
    """Compare the scores with those computed directly by sacrebleu."""
    import sacrebleu

    scores_by_split = read(run / "scores.json")["bleu"]
    assert set(scores_by_split) == {"test", "dev"}
    for split, scores in scores_by_split.items():
        hypotheses = (run / f"hypotheses/{split}.txt").read_text(encoding="utf-8").split("\n")
        assert hypotheses.pop() == ""
        rows = parquet.read_table(corpus / f"{split}.parquet").to_pylist()[: len(hypotheses)]
        references = [" ".join(row[column]) if tokens else row[column] for row in rows]
        assert len(hypotheses) == min(100, parquet.read_metadata(corpus / f"{split}.parquet").num_rows)
        assert scores["bleu"] == pytest.approx(sacrebleu.corpus_bleu(hypotheses, [references]).score, abs=1e-9)
        assert "tok:13a" in scores["bleu_signature"]


def check_words(run, corpus):
    """Check that translations consist of words of the training text and that the scores are not trivial."""
    vocabulary = {
        word for row in read_rows(corpus / "train.parquet", columns=["target_words"]) for word in row["target_words"]
    }
    lines = (run / "hypotheses/test.txt").read_text(encoding="utf-8").splitlines()
    assert all(lines)
    words = re.findall(r"\w+", " ".join(lines))
    assert sum(word in vocabulary for word in words) > len(words) / 2
    assert len(set(words) & vocabulary) > 10
    scores = read(run / "scores.json")["bleu"]["test"]
    assert scores["bleu"] > 0.1
    assert scores["chrf"] > 5


def heads_of(parse, tree):
    return zip(parse["argmax"], tree["head"], strict=True)


@pytest.fixture(scope="module")
def scored(czeng):
    czeng.run(*SCORES)
    return czeng


def test_czeng_is_scored_by_bleu_and_attachment(scored):
    run = scored.folder / "results/smoke/czeng_sample_cs2en/depparse_l4/seed1"
    data = scored.folder / "results/czeng_sample_cs2en"
    check_bleu(run, data / "corpus", "target_words", tokens=True)
    bleu, uas = (read(scored.folder / target) for target in SCORES)
    scores = read(run / "scores.json")
    assert bleu["splits"]["test"]["bleu"]["values"] == [scores["bleu"]["test"]["bleu"]]
    assert list(bleu["splits"]) == list(uas["splits"]) == ["test", "dev"]
    parses = parquet.read_table(run / "hypotheses/test.parquet").to_pylist()
    trees = parquet.read_table(data / "annotation/existing/test.source.parquet").to_pylist()
    assert [row["id"] for row in parses] == [row["id"] for row in trees]
    right = sum(
        a == b
        for row, tree in zip(parses, trees, strict=True)
        for a, b in zip(row["argmax"], tree["head"], strict=True)
    )
    assert scores["uas"]["test"]["argmax"]["uas"] == pytest.approx(
        100 * right / sum(len(tree["head"]) for tree in trees)
    )
    assert scored.partial_files() == []


def check_scores_table(folder, run):
    """Compare the table of all scores with what the command sacrebleu says of the translations."""
    texts = [str(run / f"hypotheses/test{ending}.txt") for ending in (".references", "")]
    options = ["-m", "bleu", "chrf", "-f", "json", "-w", "9"]
    command = [sys.executable, "-m", "sacrebleu", texts[0], "-i", texts[1], *options]
    expected = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    table = pd.read_parquet(folder / "results/scores.parquet").query("split == 'test' and subset == ''")
    for measure, own in zip(("bleu", "chrf"), expected, strict=True):
        (row,) = table[table.measure == measure].itertuples()
        assert row.value == pytest.approx(own["score"], abs=1e-8)
        assert row.signature == own["signature"]
        if measure == "bleu":
            assert f"ratio = {row.length_ratio:.3f} " in own["verbose_score"]


def test_a_system_of_the_demo_learns_words(empty):
    """The scale `smoke` trains with 2,000 of 20,000 sentences, so that others need not be generated."""
    corpora = {"train": {"options": {"count": 2000}}}
    empty.write("datasets/demo_short", {"extends": "demo_en2de", "corpora": corpora})
    target = "results/smoke/demo_short/transformer_base.bleu"
    analysis = ["results/figures/curves.svg", "results/tables/systems.md"]
    selected = ["scale=smoke", 'datasets=["demo_short"]', 'systems=["transformer_base"]']
    output = empty.run(target, *analysis, settings=selected).output
    assert "<circle" in (empty.folder / analysis[0]).read_text(encoding="utf-8"), "the best validation"
    assert "| transformer_base |" in (empty.folder / analysis[1]).read_text(encoding="utf-8")
    run, corpus = empty.folder / Path(target).with_suffix("") / "seed1", empty.folder / "results/demo_short/corpus"
    check_bleu(run, corpus, "target", tokens=False)
    check_words(run, corpus)
    assert empty.partial_files() == []
    manifest = read(run / "manifest.json")
    assert (manifest["state"], manifest["data"]["splits"]["train"]["lines"]) == ("finished", 2000)
    empty.run("results/runs.parquet", settings=selected)
    check_scores_table(empty.folder, run)
    # The scores of the run are printed first, then those over all seeds.
    scores = read(run / "scores.json")["bleu"]["test"]
    shown = f"BLEU {scores['bleu']:.1f}, length {scores['length_ratio']:.2f}, chrF {scores['chrf']:.1f}"
    assert [line.strip() for line in output.splitlines() if "BLEU" in line] == [
        f"{run.relative_to(empty.folder)} test: {shown} (100 sentences)",
        f"{target} test: {shown} (seed 1)",
    ]
