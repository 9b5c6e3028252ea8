"""The table of predicted tags next to the references' tags."""

from pathlib import Path

import pytest
from pair_files import write_corpus

from nmtcore.errors import UserError
from nmtcore.evaluation.scores import make_output_files
from nmtcore.features.schema import syntax_schema
from nmtcore.files import write_json
from nmtcore.inference.schemas import TaggedWord, write_predicted_tags
from nmtcore.layout import Layout
from nmtcore.parquet import write_rows
from nmtcore.reporting.markdown import page_markdown
from nmtcore.reporting.plain_tables import SENTENCES, TaggedTest, tag_page

TAGS = ["<none>", "<unk>", "NP", "S\\NP", "(S\\NP)\\(S\\NP)"]
FIRST = [["Kim", "sleeps"], ["*", "|"]]
LABELS = [[2, 3], [1, 0]]
TRANSLATIONS = [
    [TaggedWord("Kim", "NP", 0.875), TaggedWord("works", "S\\NP", 1.0), TaggedWord("<unk>", None, None)],
    [TaggedWord("nsubj|root", "a|b", 0.5)],
]


def write_run(tmp_path, *, system="tag_attention", labels=LABELS, count=2):
    """Write the files of a run; the sentences after the second are copies of the first."""
    layout = Layout(results=tmp_path / "results", scales=("smoke",))
    names = {"dataset": "d", "split": "test"}
    run = {"scale": "smoke", "system": system, "seed": 3}
    pairs = layout.path("pairs", **names)
    sentences = [*FIRST, *[FIRST[0]] * (count - 2)]
    write_corpus(pairs, sentences)
    annotation = {"side": "target", "annotator": "ccg"}
    features = layout.path("syntax", **names, **annotation, segmentation="bpe_joint_20")
    rows = [{"id": i, "ccg": ids} for i, ids in enumerate([*labels, *[labels[0]] * (count - 2)])]
    write_rows(features, syntax_schema(["ccg_tags"]), rows)
    labels = layout.path("labels", dataset="d", **annotation)
    write_json(labels, {"ccg": TAGS})
    hypotheses = Path(layout.path("hypotheses", **names, **run))
    words = [*TRANSLATIONS, *[TRANSLATIONS[0]] * (count - 2)]
    write_predicted_tags(make_output_files(hypotheses).predicted_tags, range(count), words)
    return TaggedTest(*map(Path, (hypotheses, pairs, features, labels)), "ccg"), layout


def test_each_sentence_has_a_row_per_word(tmp_path):
    test, layout = write_run(tmp_path)
    text = page_markdown(tag_page([test], layout=layout))
    lines = text.splitlines()
    assert "## d, tag_attention, test: ccg, seed 3" in lines
    first = lines.index("0: Kim sleeps")
    assert lines[first + 1 : first + 7] == [
        "",
        "| reference | tag | translation | predicted tag | probability |",
        "| --- | --- | --- | --- | ---: |",
        "| Kim | `NP` | Kim | `NP` | 0.88 |",
        "| sleeps | `S\\NP` | works | `S\\NP` | 1.00 |",
        "|  |  | \\<unk\\> |  |  |",
    ]
    second = lines.index("1: \\* |")
    assert lines[second + 4 :] == ["| \\* | `<unk>` | nsubj\\|root | `a\\|b` | 0.50 |", "| \\| |  |  |  |  |"]


def test_a_system_has_its_first_sentences(tmp_path):
    tests = [write_run(tmp_path, system=system, count=SENTENCES + 5)[0] for system in ("one", "two")]
    _, layout = write_run(tmp_path, system="three", count=SENTENCES + 5)
    text = page_markdown(tag_page(tests, layout=layout))
    assert text.count("Kim sleeps") == 2 * (SENTENCES - 1)
    assert text.count("\n## ") == 2


def test_tags_of_other_words_are_an_error(tmp_path):
    test, layout = write_run(tmp_path, labels=[[2, 3], [1]])
    with pytest.raises(UserError, match=r"test\.target\.ccg\.parquet, pair 1: the tags do not belong to the words of"):
        tag_page([test], layout=layout)
