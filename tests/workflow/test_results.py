"""From corpora to scores, in a working directory outside the checkout."""

import re

import pytest
from demo_parts import part_of_demo

from nmtcore.files import read_json
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")


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
