"""Predicted tags, from the demo corpus to the table."""

import pytest

from nmtcore.files import read_json, read_lines
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

SYSTEMS = ["transformer_base", "tag_attention", "tag_attention_without_loss", "interleaved"]
SETTINGS = ['datasets=["tagged"]', "scale=smoke", f"systems={SYSTEMS}".replace("'", '"')]


def write_data_set(empty):
    counts = {"train": 300, "dev": 10, "test": 12, "gold": 5, "contrast": 12}
    corpora = {split: {"options": {"count": count}} for split, count in counts.items()}
    evaluation = {"text": "tokens", "tokenize": "none"}
    empty.train_briefly()
    empty.write("datasets/tagged", {"extends": "demo_de2en", "corpora": corpora, "evaluation": evaluation})


def test_the_table_has_ten_sentences_of_each_system_that_predicts_tags(empty):
    write_data_set(empty)
    table = "results/tables/tags.md"
    finished = empty.run(table, settings=SETTINGS)
    assert {"train_model", "translate_tests", "tags_table"} <= finished.rules
    folder, data = empty.folder / "results/smoke/tagged", empty.folder / "results/tagged"
    systems = ["tag_attention", "interleaved"]
    assert {path.name for path in folder.iterdir()} == set(systems), "the others have no tags to show"
    pairs = list(read_rows(data / "corpus/test.parquet"))
    ccg = [row["ccg"] for row in read_rows(data / "annotation/existing/test.target.parquet")]
    known = {"<unk>", *read_json(data / "annotation/existing/target.labels.json")["ccg"]}
    text = (empty.folder / table).read_text(encoding="utf-8")
    for system in systems:
        hypotheses = folder / system / "seed1/hypotheses"
        rows = list(read_rows(hypotheses / "test.tags.parquet"))
        assert [" ".join(row["words"]) for row in rows] == read_lines(hypotheses / "test.txt")
        assert len(rows) == 12
        assert {tag for row in rows for tag in row["tags"] if tag is not None} <= known
        (section,) = (part for part in text.split("\n## ") if part.startswith(f"tagged, {system}, test: ccg, seed 1\n"))
        assert section.count("| reference | tag |") == 10
    assert {tag for own in ccg for tag in own or ()}
    assert len(pairs) == 12
    check_contrastive_pairs(empty)
    assert empty.partial_files() == []


def check_contrastive_pairs(empty):
    """Score the trained models: the accuracies are those of the scores, which belong to the listed pairs."""
    table = "results/tables/contrast.md"
    systems = 'systems=["tag_attention", "interleaved"]'
    finished = empty.run(table, settings=[*SETTINGS[:2], systems])
    assert {"list_contrasts", "score_contrasts", "contrast_table"} <= finished.rules
    assert "train_model" not in finished.rules
    folder = empty.folder / "results"
    listed = list(read_rows(folder / "tagged/corpus/contrast_demo.contrasts.parquet"))
    pairs = list(read_rows(folder / "tagged/corpus/contrast_demo.parquet"))
    scores = list(read_rows(folder / "smoke/tagged/tag_attention/seed1/contrast/contrast_demo.parquet"))
    assert len(scores) == len(listed) > 9
    for score, contrast in zip(scores, listed, strict=True):
        right, wrong = pairs[contrast["right"]], pairs[contrast["wrong"]]
        assert (score["phenomenon"], score["distance"]) == (contrast["phenomenon"], contrast["distance"])
        assert right["source"] == wrong["source"]
        assert right["target"] != wrong["target"]
        assert max(score["right"], score["wrong"]) < 0
    preferred = sum(score["right"] > score["wrong"] for score in scores)
    text = (empty.folder / table).read_text(encoding="utf-8")
    assert f"| tag_attention | `all` | {len(scores)} | {100 * preferred / len(scores):.1f} |" in text
    assert "- interleaved is left out: it generates tags among the words" in text
