"""Subsets of a test by constructions and constituents."""

import pytest

from nmtcore.annotation.base import failed
from nmtcore.errors import UserError
from nmtcore.evaluation.subsets import constituent_subsets, construction_subsets, read_subsets
from nmtcore.syntax.categories import CONSTRUCTIONS, constructions
from nmtcore.syntax.constituents import parse_constituents, phrase_labels

SUPERTAGS = [
    ["S[wq]/(S[q]/NP)", "(S[q]/NP)/NP", "NP"],
    None,
    ["NP", "conj", "NP", r"(S[dcl]\NP)/PP", "PP/NP"],
    ["NP", r"S[dcl]\NP"],
    ["conj"],
]
TREES = [
    "(ROOT (S (NP-SBJ (PRP He)) (VP (VBZ sleeps))))",
    None,
    "(ROOT (S (NP (PRP We)) (VP (VBP know) (SBAR (IN that) (S (NP (PRP he)) (VP (VBZ sleeps)))))))",
    "(ROOT (NP (NN home)))",
]


def as_lists(subsets):
    return {name: rows.tolist() for name, rows in subsets.rows.items()}


def test_a_sentence_is_in_the_subset_of_each_of_its_constructions():
    subsets = construction_subsets(SUPERTAGS)
    assert as_lists(subsets) == {
        "question": [0], "conjunction": [2, 4], "prepositional": [2], "control_raising": [], "relative_subordinate": [],
    }  # fmt: skip
    assert subsets.unanalysed == 1
    for name, rows in subsets.rows.items():
        for row, tags in enumerate(SUPERTAGS):
            assert (row in rows) == (tags is not None and any(CONSTRUCTIONS[name](tag) for tag in tags))


def test_phrases_are_counted_without_preterminals_the_root_and_functions():
    subsets = constituent_subsets(TREES, where="test.parquet")
    assert list(as_lists(subsets).items()) == [("NP", [0, 2, 3]), ("S", [0, 2]), ("VP", [0, 2]), ("SBAR", [2])]
    assert subsets.unanalysed == 1
    assert phrase_labels(parse_constituents("((S (-NONE- *) (NP=2 (NN a))))")) == {"S", "NP"}


def test_a_broken_tree_names_its_row():
    with pytest.raises(UserError, match=r"test.parquet, row 2: the constituency tree is broken: 1 brackets are not"):
        constituent_subsets([TREES[0], "(S (NP (NN a))"], where="test.parquet")


@pytest.fixture
def write_annotation(tmp_path):
    """Write an annotation with supertags and trees, and return its path."""
    from dataclasses import asdict

    import pyarrow as pa

    from nmtcore.corpus.pairs import ANNOTATION_FIELDS
    from nmtcore.parquet import write_rows
    from nmtcore.syntax.annotation import Annotation

    def write(name="test.parquet", supertags=SUPERTAGS, trees=(*TREES, None)):
        rows = [
            asdict(Annotation(ccg=tags, constituency=tree) if tags or tree else failed("too long"))
            for tags, tree in zip(supertags, trees, strict=True)
        ]
        write_rows(tmp_path / name, pa.schema(ANNOTATION_FIELDS), rows)
        return tmp_path / name

    return write


def test_only_the_translated_sentences_are_read(write_annotation):
    path = write_annotation()
    assert as_lists(read_subsets(path, "ccg", sentences=3))["conjunction"] == [2]
    assert read_subsets(path, "ccg", sentences=1).unanalysed == 0
    assert as_lists(read_subsets(path, "constituency", sentences=1)) == {"NP": [0], "S": [0], "VP": [0]}
    assert constructions(SUPERTAGS[2]) == ("conjunction", "prepositional")
    with pytest.raises(UserError, match=r"test.parquet has 5 sentences, but 6 were translated: delete the older"):
        read_subsets(path, "ccg", sentences=6)
