import pytest
from pair_files import write_corpus

from nmtcore.annotation.brackets import brackets, linearise_annotation
from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.errors import UserError
from nmtcore.parquet import read_rows, write_rows
from nmtcore.syntax.annotation import Annotation, failed

TREE = "(ROOT (S (NP (PRP He)) (VP (VBZ sleeps))))"


def test_phrases_stay_and_words_go():
    assert brackets(TREE, ["He", "sleeps"]) == ["(ROOT", "(S", "(NP", ")", "(VP", ")", ")", ")"]
    assert brackets("(X (-LRB- -LRB-) (NN a\\/b) (-RRB- -RRB-))", ["(", "a/b", ")"]) == ["(X", ")"]


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
def test_no_parse_a_broken_one_and_one_of_other_words_are_null(parse, words):
    assert brackets(parse, words) is None


def write(folder, parses, ids):
    annotations = [failed("no parse") if parse is None else Annotation(constituency=parse) for parse in parses]
    write_rows(folder / "parses", ANNOTATION_SCHEMA, map(annotation_row, ids, annotations))


def test_a_row_a_pair(tmp_path):
    sentences = [["He", "sleeps"], [], ["He", "slept"], ["He", "sleeps"]] * 2600
    ids = list(range(0, 3 * len(sentences), 3))
    corpus = write_corpus(tmp_path / "corpus", sentences, ids=ids)
    write(tmp_path, [TREE, None, TREE, TREE] * 2600, ids)
    output = tmp_path / "brackets"
    linearise_annotation(annotation=tmp_path / "parses", corpus=corpus, side="target", output=output)
    rows = list(read_rows(output))
    whole = ["(ROOT", "(S", "(NP", ")", "(VP", ")", ")", ")"]
    assert [row["id"] for row in rows] == ids
    assert [row["brackets"] for row in rows] == [whole, None, None, whole] * 2600


def test_other_pairs_are_told(tmp_path):
    corpus = write_corpus(tmp_path / "corpus", [["He", "sleeps"]] * 2)
    write(tmp_path, [TREE, TREE], [0, 5])
    with pytest.raises(UserError, match="parses, row 1, has pair 5"):
        linearise_annotation(annotation=tmp_path / "parses", corpus=corpus, side="source", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
