"""From corpora to scores, in a working directory outside the checkout."""

import json
import re
import subprocess
import sys

import pandas as pd
import pytest
from demo_parts import part_of_demo
from workflow.calling import make_workplace

from nmtcore.files import read_json
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")


def test_czeng_is_scored_by_bleu_and_attachment(root, shared, tmp_path):
    czeng = make_workplace(tmp_path, root / "Snakefile", shared / "data")
    czeng.train_briefly()
    run = "results/smoke/czeng_sample_cs2en/depparse_l4"
    czeng.run(f"{run}.bleu", f"{run}.uas")
    bleu, uas = (read_json(czeng.folder / f"{run}.{score}") for score in ("bleu", "uas"))
    scores = read_json(czeng.folder / run / "seed1/scores.json")
    assert bleu["splits"]["test"]["bleu"]["values"] == [scores["bleu"]["test"]["bleu"]]
    assert list(bleu["splits"]) == list(uas["splits"]) == ["test", "dev"]
    parses = list(read_rows(czeng.folder / run / "seed1/hypotheses/test/parses.parquet"))
    trees = list(read_rows(czeng.folder / "results/czeng_sample_cs2en/annotation/existing/test.source.parquet"))
    assert [row["id"] for row in parses] == [row["id"] for row in trees]
    heads = [[head for row in parses for head in row["argmax"]], [head for row in trees for head in row["head"]]]
    right = 100 * sum(own == gold for own, gold in zip(*heads, strict=True)) / len(heads[1])
    assert scores["uas"]["test"]["argmax"]["uas"] == pytest.approx(right)
    assert czeng.partial_files() == []


def test_a_system_of_the_demo_learns_words(empty):
    """The scale `smoke` trains with 2,000 of 20,000 sentences, so that others need not be read."""
    corpora = part_of_demo(empty.folder / "demo", train=2000)
    empty.write("datasets/demo_short", {"extends": "demo_en2de", "corpora": corpora})
    run = empty.folder / "results/smoke/demo_short/transformer_base/seed1"
    made = ["results/figures/curves.svg", "results/tables/systems.md"]
    selected = ["scale=smoke", 'datasets=["demo_short"]', 'systems=["transformer_base"]']
    empty.run(*made, settings=selected)
    assert "stroke-width: 1.4" in (empty.folder / made[0]).read_text(encoding="utf-8")
    assert "| transformer_base |" in (empty.folder / made[1]).read_text(encoding="utf-8")
    assert read_json(run / "manifest.json")["data"]["splits"]["train"]["lines"] == 2000
    rows = read_rows(empty.folder / "results/demo_short/corpus/train.parquet", columns=["target_words"])
    vocabulary = {word for row in rows for word in row["target_words"]}
    lines = (run / "hypotheses/test/translations.txt").read_text(encoding="utf-8").splitlines()
    words = re.findall(r"\w+", " ".join(lines))
    assert all(lines)
    assert sum(word in vocabulary for word in words) > len(words) / 2
    assert len(set(words) & vocabulary) > 10
    empty.run("results/runs.parquet", settings=selected)
    texts = [str(run / f"hypotheses/test/{name}.txt") for name in ("references", "translations")]
    options = ["-m", "bleu", "chrf", "-f", "json", "-w", "9"]
    command = [sys.executable, "-m", "sacrebleu", texts[0], "-i", texts[1], *options]
    expected = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    table = pd.read_parquet(empty.folder / "results/scores.parquet").query("split == 'test'")
    for measure, own in zip(("bleu", "chrf"), expected, strict=True):
        (row,) = table[table.measure == measure].itertuples()
        assert 0.1 < row.value == pytest.approx(own["score"], abs=1e-8)
        assert row.signature == own["signature"]
        if measure == "bleu":
            assert f"ratio = {row.length_ratio:.3f} " in own["verbose_score"]
