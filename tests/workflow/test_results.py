"""From corpora to scores, in another folder than the checkout."""

import json
import re
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from nmtcore.parquet import read_rows

pytestmark = pytest.mark.slow

SCORES = [f"results/smoke/czeng_sample_cs2en/depparse_l4.{score}" for score in ("bleu", "uas")]


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def check_bleu(run, corpus, column, tokens):
    """Score the hypotheses again, straight with sacrebleu."""
    import sacrebleu

    found = read(run / "scores.json")["bleu"]
    assert set(found) == {"test", "dev"}
    for split, scores in found.items():
        hypotheses = (run / f"hypotheses/{split}.txt").read_text(encoding="utf-8").split("\n")
        assert hypotheses.pop() == ""
        rows = parquet.read_table(corpus / f"{split}.parquet").to_pylist()[: len(hypotheses)]
        references = [" ".join(row[column]) if tokens else row[column] for row in rows]
        assert len(hypotheses) == min(100, parquet.read_metadata(corpus / f"{split}.parquet").num_rows)
        assert scores["bleu"] == pytest.approx(sacrebleu.corpus_bleu(hypotheses, [references]).score, abs=1e-9)
        assert "tok:13a" in scores["bleu_signature"]


def check_words(run, corpus):
    """What the model writes are words of its training text, and more than a translation without any would score."""
    known = {
        word for row in read_rows(corpus / "train.parquet", columns=["target_words"]) for word in row["target_words"]
    }
    lines = (run / "hypotheses/test.txt").read_text(encoding="utf-8").splitlines()
    assert all(lines)
    words = re.findall(r"\w+", " ".join(lines))
    assert sum(word in known for word in words) > len(words) / 2
    assert len(set(words) & known) > 10
    scores = read(run / "scores.json")["bleu"]["test"]
    assert scores["bleu"] > 0.1
    assert scores["chrf"] > 5


def heads_of(parse, tree):
    return zip(parse["argmax"], tree["head"], strict=True)


@pytest.fixture(scope="module")
def scored(czeng):
    czeng.run(*SCORES)
    return czeng


@pytest.mark.shared
def test_czengs_export_format_becomes_bleu_and_attachment_scores(scored):
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


@pytest.mark.shared
def test_what_is_there_is_not_made_again(scored):
    assert "Nothing to be done" in scored.run(*SCORES).output


def test_the_demo_corpus_runs_from_nothing(empty):
    target = "results/smoke/demo_en2de/transformer_base.bleu"
    output = empty.run(target).output
    run, corpus = empty.folder / Path(target).with_suffix("") / "seed1", empty.folder / "results/demo_en2de/corpus"
    check_bleu(run, corpus, "target", tokens=False)
    check_words(run, corpus)
    assert empty.partial_files() == []
    # Snakemake shows the scores of the run, and then those over all seeds.
    scores = read(run / "scores.json")["bleu"]["test"]
    told = f"BLEU {scores['bleu']:.1f}, chrF {scores['chrf']:.1f}"
    assert [line for line in output.splitlines() if "BLEU" in line] == [
        f"{run.relative_to(empty.folder)} test: {told} (100 sentences)",
        f"{target} test: {told} (seed 1)",
    ]
