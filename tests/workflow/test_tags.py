"""Predicted tags and contrastive pairs, from the demo corpus to their tables."""

import pytest

from nmtcore.files import read_lines
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

COUNTS = {"train": 300, "dev": 10, "test": 12, "gold": 5, "contrast": 12}
SETTINGS = ['datasets=["tagged"]', "scale=smoke"]
PREDICTING = ("tag_attention", "interleaved")


def test_the_tables_have_the_systems_that_predict_tags_and_score_pairs(empty):
    corpora = {split: {"options": {"count": count}} for split, count in COUNTS.items()}
    evaluation = {"text": "tokens", "tokenize": "none"}
    empty.train_briefly()
    empty.write("datasets/tagged", {"extends": "demo_de2en", "corpora": corpora, "evaluation": evaluation})
    systems = 'systems=["transformer_base", "tag_attention", "tag_attention_without_loss", "interleaved"]'
    finished = empty.run("results/tables/tags.md", settings=[*SETTINGS, systems])
    assert {"train_model", "translate_split", "tags_table"} <= finished.rules
    folder = empty.folder / "results/smoke/tagged"
    assert {path.name for path in folder.iterdir()} == set(PREDICTING), "the others have no tags to show"
    text = (empty.folder / "results/tables/tags.md").read_text(encoding="utf-8")
    for system in PREDICTING:
        hypotheses = folder / system / "seed1/hypotheses/test"
        rows = list(read_rows(hypotheses / "tags.parquet"))
        assert [" ".join(row["words"]) for row in rows] == read_lines(hypotheses / "translations.txt")
        (section,) = (part for part in text.split("\n## ") if part.startswith(f"tagged, {system}, test: ccg, seed 1\n"))
        assert section.count("| reference | tag |") == 10

    systems = 'systems=["tag_attention", "interleaved"]'
    finished = empty.run("results/tables/contrast.md", settings=[*SETTINGS, systems])
    assert {"list_contrasts", "score_contrasts", "contrast_table"} <= finished.rules
    assert "train_model" not in finished.rules
    listed = list(read_rows(empty.folder / "results/tagged/corpus/contrast_demo.contrasts.parquet"))
    scores = list(read_rows(folder / "tag_attention/seed1/contrast/contrast_demo.parquet"))
    assert len(scores) == len(listed) > 9
    preferred = sum(score["right"] > score["wrong"] for score in scores)
    text = (empty.folder / "results/tables/contrast.md").read_text(encoding="utf-8")
    assert f"| tag_attention | `all` | {len(scores)} | {100 * preferred / len(scores):.1f} |" in text
    assert "- interleaved is left out: it generates tags among the words" in text
    assert empty.partial_files() == []
