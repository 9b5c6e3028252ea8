"""Subsets of a test by constructions and constituents."""

import pytest
from evaluation.test_metrics import draw
from sacrebleu.metrics import CHRF

from nmtcore.annotation.shards import ANNOTATION_SCHEMA, annotation_row
from nmtcore.config.training import EvaluationSettings
from nmtcore.errors import UserError
from nmtcore.evaluation.subsets import (
    constituent_subsets,
    construction_subsets,
    differing_sentences,
    length_bins,
    long_sentences,
    read_subsets,
)
from nmtcore.parquet import write_rows
from nmtcore.syntax.annotation import Annotation, failed
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
        "adverbial_clause": [], "adverbial_preposition": [],
    }  # fmt: skip
    assert subsets.unanalysed == 1


def test_phrases_are_counted_without_preterminals_the_root_and_functions():
    subsets = constituent_subsets(TREES, where="test.parquet")
    assert list(as_lists(subsets).items()) == [("NP", [0, 2, 3]), ("S", [0, 2]), ("VP", [0, 2]), ("SBAR", [2])]
    assert subsets.unanalysed == 1
    assert phrase_labels(parse_constituents("((S (-NONE- *) (NP=2 (NN a))))")) == {"S", "NP"}


def test_only_the_translated_sentences_are_read(tmp_path):
    rows = [
        annotation_row(id, Annotation(ccg=tags, constituency=tree) if tags or tree else failed("too long"))
        for id, (tags, tree) in enumerate(zip(SUPERTAGS, (*TREES, None), strict=True))
    ]
    path = tmp_path / "test.parquet"
    write_rows(path, ANNOTATION_SCHEMA, rows)
    assert as_lists(read_subsets(path, "ccg", sentences=3))["conjunction"] == [2]
    assert read_subsets(path, "ccg", sentences=1).unanalysed == 0
    assert as_lists(read_subsets(path, "constituency", sentences=1)) == {"NP": [0], "S": [0], "VP": [0]}
    with pytest.raises(UserError, match=r"test.parquet has 5 sentences, but 6 were translated: delete the older"):
        read_subsets(path, "ccg", sentences=6)


def test_each_sentence_is_in_the_bin_of_its_length():
    """Bounds belong to the lower bin; bins without sentences are left out."""
    names = ["1 to 10", "11 to 20", "21 to 30", "31 to 40", "41 to 50", "51 to 60", "over 60"]
    words = [*range(90), 10**6]  # an empty sentence is in no bin
    bins = {name: [words[row] for row in rows_B] for name, rows_B in length_bins(words).items()}
    tens = {name: [*range(10 * i + 1, 10 * i + 11)] for i, name in enumerate(names[:6])}
    assert bins == {**tens, "over 60": [*range(61, 90), 10**6]}
    assert list(bins) == names
    assert length_bins([]) == {}


@pytest.mark.parametrize(
    ("words", "share", "fewest", "rows"),
    [
        ([3, 8, 4, 8], 0.01, 8, [1, 3]),
        ([3, 9, 4, 8], 1, 3, [0, 1, 2, 3]),
        (list(range(100)), 0.07, 93, list(range(93, 100))),
    ],
)
def test_the_longest_sentences_are_at_least_the_share_and_all_that_are_as_long(words, share, fewest, rows):
    longest = long_sentences(words, share=share)
    assert (longest.fewest_words, longest.rows_B.tolist()) == (fewest, rows)


@pytest.mark.parametrize("lowercase", [False, True])
def test_the_largest_differences_come_first(lowercase):
    first, references = draw(40)
    second, _ = draw(40, wrong=0.4)
    metric = CHRF(lowercase=lowercase)
    scores = [
        tuple(metric.sentence_score(lines[row], [references[row]]).score for lines in (first, second))
        for row in range(40)
    ]
    rows = [row for row in range(40) if first[row] != second[row]]
    rows.sort(key=lambda row: -abs(scores[row][0] - scores[row][1]))
    sentences = differing_sentences(first, second, references, EvaluationSettings(lowercase=lowercase), most=7)
    assert [sentence.row for sentence in sentences] == rows[:7]
    assert [(sentence.chrf, sentence.other_chrf) for sentence in sentences] == [scores[row] for row in rows[:7]]
