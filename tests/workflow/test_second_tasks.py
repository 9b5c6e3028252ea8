"""Second tasks from text to scores: predicted tags, with contrastive pairs, and Currey and Heafield's parses."""

import pytest
from demo_parts import part_of_demo
from workflow.calling import little, write_little

from nmtcore.files import read_lines
from nmtcore.parquet import read_rows

pytestmark = pytest.mark.needs("Snakemake")

COUNTS = {"train": 300, "dev": 10, "test": 12, "gold": 5, "contrast": 12}
SETTINGS = ['datasets=["tagged"]', "scale=smoke"]
PREDICTING = ("tag_attention", "interleaved")


def test_tags_are_predicted_and_pairs_scored_of_systems_that_can(empty):
    corpora = part_of_demo(empty.folder / "demo", direction="de-en", **COUNTS)
    evaluation = {"text": "tokens", "tokenize": "none"}
    empty.train_briefly()
    empty.write("datasets/tagged", {"extends": "demo_de2en", "corpora": corpora, "evaluation": evaluation})
    folder = empty.folder / "results/smoke/tagged"
    empty.run(*(f"results/smoke/tagged/{system}/seed1/hypotheses/test" for system in PREDICTING), settings=SETTINGS)
    for system in PREDICTING:
        hypotheses = folder / system / "seed1/hypotheses/test"
        rows = list(read_rows(hypotheses / "tags.parquet"))
        assert [" ".join(row["words"]) for row in rows] == read_lines(hypotheses / "translations.txt")

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
    assert "| interleaved" not in text, "it generates tags among the words"
    assert empty.partial_files() == []


def test_words_and_parses_are_trained_and_only_translations_are_scored(empty, shared):
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
