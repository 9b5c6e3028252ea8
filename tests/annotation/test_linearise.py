"""Linearised parses: their form, and nulls for pairs without a sound parse."""

import pytest
from pair_files import write_corpus

from nmtcore.annotation.linearise import linearised_parse, write_linearised_parses
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.errors import UserError
from nmtcore.parquet import read_rows, write_rows
from nmtcore.syntax.annotation import Annotation, failed

TREE = "(ROOT (S (NP (PRP He)) (VP (VBZ sleeps))))"


def test_phrases_are_kept_and_words_removed():
    assert linearised_parse(TREE, ["He", "sleeps"]) == ["(ROOT", "(S", "(NP", ")", "(VP", ")", ")", ")"]
    assert linearised_parse("(X (-LRB- -LRB-) (NN a\\/b) (-RRB- -RRB-))", ["(", "a/b", ")"]) == ["(X", ")"]


@pytest.mark.parametrize(
    ("parse", "words"),
    [
        (None, ["He", "sleeps"]),
        (TREE, ["He"]),
        (TREE, ["He", "sleeps", "."]),
        (TREE, ["She", "sleeps"]),
        (TREE[:-1], ["He", "sleeps"]),
        (TREE + ")", ["He", "sleeps"]),
        ("", []),
        ("()", []),
    ],
)
def test_a_missing_or_broken_parse_and_a_parse_of_other_words_are_null(parse, words):
    assert linearised_parse(parse, words) is None


def write_parses(folder, parses, ids):
    annotations = [failed("no parse") if parse is None else Annotation(constituency=parse) for parse in parses]
    write_rows(folder / "parses", ANNOTATION_SCHEMA, map(annotation_row, ids, annotations))


def test_the_file_has_one_row_per_pair(tmp_path):
    sentences = [["He", "sleeps"], [], ["He", "slept"], ["He", "sleeps"]] * 2600
    ids = list(range(0, 3 * len(sentences), 3))
    corpus = write_corpus(tmp_path / "corpus", sentences, ids=ids)
    write_parses(tmp_path, [TREE, None, TREE, TREE] * 2600, ids)
    output = tmp_path / "brackets"
    write_linearised_parses(annotation=tmp_path / "parses", corpus=corpus, side="target", output=output)
    rows = list(read_rows(output))
    linearised = ["(ROOT", "(S", "(NP", ")", "(VP", ")", ")", ")"]
    assert [row["id"] for row in rows] == ids
    assert [row["brackets"] for row in rows] == [linearised, None, None, linearised] * 2600


def test_a_parse_of_another_pair_is_an_error(tmp_path):
    corpus = write_corpus(tmp_path / "corpus", [["He", "sleeps"]] * 2)
    write_parses(tmp_path, [TREE, TREE], [0, 5])
    with pytest.raises(UserError, match="parses, row 1, has pair 5"):
        write_linearised_parses(annotation=tmp_path / "parses", corpus=corpus, side="source", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
