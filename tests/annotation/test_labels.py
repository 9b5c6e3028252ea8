"""Label vocabularies and linearised parses."""

import pytest
from pair_files import write_corpus

from nmtcore.annotation.labels import (
    column_labels,
    label_vocabularies,
    linearised_parse,
    read_labels,
    write_linearised_parses,
)
from nmtcore.annotation.selection import SELECTION_SCHEMA
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.errors import UserError
from nmtcore.files import write_json
from nmtcore.parquet import read_rows, write_rows
from nmtcore.syntax.annotation import Annotation, failed


def test_labels_are_ordered_by_frequency_then_name(tmp_path):
    annotations = [
        Annotation(head=[0, 1], deprel=["root", "obj"], upos=["B", "A"]),
        failed("why"),
        Annotation(head=[0, 1, 1], deprel=["root", "obj", "det"], upos=["A", "C", "B"], ccg=["N/N", "N/N", "N"]),
        Annotation(head=[0], deprel=["<none>"]),
    ]
    rows = [annotation_row(id, annotation) for id, annotation in enumerate(annotations)]
    write_rows(tmp_path / "a", ANNOTATION_SCHEMA, rows)
    label_vocabularies(tmp_path / "a", tmp_path / "labels.json")
    assert read_labels(tmp_path / "labels.json") == {
        "deprel": ["<none>", "<unk>", "obj", "root", "det"],
        "upos": ["<none>", "<unk>", "A", "B", "C"],
        "xpos": ["<none>", "<unk>"],
        "dg_a": ["<none>", "<unk>", "obj|root", "root|root", "<none>|root", "det|root"],
        "dg_b": ["<none>", "<unk>", "obj|L", "root|R", "det|L"],
        "ccg": ["<none>", "<unk>", "N/N", "N"],
        "random": ["<none>", "<unk>", "N/N", "N"],
    }


def test_only_selected_rows_are_counted(tmp_path):
    tags = [["A"], ["B"], ["B"], ["C"]]
    rows = [annotation_row(2 * k, Annotation(ccg=tag)) for k, tag in enumerate(tags)]
    write_rows(tmp_path / "a", ANNOTATION_SCHEMA, rows)
    kept = [{"id": 2 * k, "kept": k != 1} for k in range(4)]
    write_rows(tmp_path / "s", SELECTION_SCHEMA, kept)
    for selection, expected in ((None, ["B", "A", "C"]), (tmp_path / "s", ["A", "B", "C"])):
        label_vocabularies(tmp_path / "a", tmp_path / "labels.json", selection=selection)
        assert read_labels(tmp_path / "labels.json")["ccg"][2:] == expected


FEATS = ["Case=Nom|Number=Sing", "_", "Number=Plur", "Number=Sing"]
OF_COLUMN = {"dataset": "mine", "annotator": "tagger"}


def test_the_labels_of_a_column_are_counted_alone(tmp_path):
    annotations = [
        Annotation(lemma=["b", "a", "b", "c"], feats=FEATS),
        failed("why"),
        Annotation(feats=["Number=Plur"] * 2),
    ]
    rows = [annotation_row(id, annotation) for id, annotation in enumerate(annotations)]
    write_rows(tmp_path / "a", ANNOTATION_SCHEMA, rows)
    for column, expected in (("lemma", ["b", "a", "c"]), ("feats.Number", ["Plur", "Sing", "_"])):
        column_labels(tmp_path / "a", tmp_path / "labels.json", column=column, **OF_COLUMN)
        assert read_labels(tmp_path / "labels.json", [column]) == {column: ["<none>", "<unk>", *expected]}
    for column in ("upos", "feats.Gender"):
        fault = f"no {column} by the annotator tagger, only lemma, feats, feats.Case, feats.Number: choose"
        with pytest.raises(UserError, match=f"^mine: the training split has {fault}"):
            column_labels(tmp_path / "a", tmp_path / "labels.json", column=column, **OF_COLUMN)


@pytest.mark.parametrize(
    "content", [[], {"deprel": ["<none>", "<unk>"], "upos": ["<none>", "<unk>"]}, {"deprel": ["root"]}]
)
def test_a_file_without_label_vocabularies_is_an_error(tmp_path, content):
    write_json(tmp_path / "labels.json", content)
    with pytest.raises(UserError, match="no file of label vocabularies"):
        read_labels(tmp_path / "labels.json")


TREE = "(ROOT (S (NP (PRP He)) (VP (VBZ sleeps))))"


@pytest.mark.parametrize(
    ("parse", "words"),
    [
        (None, ["He", "sleeps"]),
        (TREE, ["He"]),
        (TREE, ["She", "sleeps"]),
        (TREE[:-1], ["He", "sleeps"]),
        (TREE + ")", ["He", "sleeps"]),
        ("()", []),
    ],
)
def test_a_missing_or_broken_parse_and_a_parse_of_other_words_are_null(parse, words):
    assert linearised_parse(parse, words) is None


def test_the_file_has_one_row_per_pair(tmp_path):
    sentences = [["He", "sleeps"], [], ["He", "slept"], ["He", "sleeps"]] * 2600
    parses = [Annotation(constituency=TREE), failed("no parse"), *[Annotation(constituency=TREE)] * 2] * 2600
    ids = list(range(0, 3 * len(sentences), 3))
    corpus = write_corpus(tmp_path / "corpus", sentences, ids=ids)
    write_rows(tmp_path / "parses", ANNOTATION_SCHEMA, map(annotation_row, ids, parses))
    output = tmp_path / "brackets"
    write_linearised_parses(annotation=tmp_path / "parses", corpus=corpus, side="target", output=output)
    rows = list(read_rows(output))
    linearised = ["(ROOT", "(S", "(NP", ")", "(VP", ")", ")", ")"]
    assert [row["id"] for row in rows] == ids
    assert [row["brackets"] for row in rows] == [linearised, None, None, linearised] * 2600
