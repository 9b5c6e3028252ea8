"""Heads and governors; depth, roots and projectivity of trees; CoNLL-U."""

import numpy as np
import pytest
from forests import climb, forests
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.annotation import Annotation, conllu_sentence, failed, tree_fault
from nmtcore.syntax.trees import (
    GOVERNOR_OF_ROOT,
    HEAD_OF_ROOT,
    NO_GOVERNOR,
    find_cycle,
    governors_of,
    heads_of,
    tree_shape,
)

EMPTY = "\t_" * 8


def test_heads_and_governors_count_the_same_words():
    heads = np.array([2, 0, 2, 3])
    assert governors_of(heads).tolist() == [1, GOVERNOR_OF_ROOT, 1, 2]
    assert heads_of(governors_of(heads)).tolist() == heads.tolist()
    assert heads_of(GOVERNOR_OF_ROOT) == HEAD_OF_ROOT
    assert heads_of(NO_GOVERNOR) < HEAD_OF_ROOT, "NO_GOVERNOR has no head"


def is_projective(heads):
    """Return whether all words between a word and its head are below that head (the artificial root is above all)."""
    return all(
        head in climb(heads, between)
        for word, head in enumerate(heads, start=1)
        for between in range(min(word, head) + 1, max(word, head))
    )


@given(forests() | st.just([]))
def test_shapes_and_depths_equal_those_found_by_climbing(heads):
    assert tree_fault(heads) is None
    depths = [len(climb(heads, word)) - 1 for word in range(1, len(heads) + 1)]
    assert tree_shape(heads) == (heads.count(0), max(depths, default=0), is_projective(heads))


@given(st.integers(1, 8).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
def test_a_cycle_is_found_if_a_word_is_below_itself(heads):
    def reaches_the_root(word):
        for _ in heads:
            word = heads[word - 1] if word else 0
        return word == 0

    cycle = find_cycle(heads)
    assert bool(cycle) == (not all(map(reaches_the_root, range(1, len(heads) + 1))))
    assert [heads[word - 1] for word in cycle] == [*cycle[1:], *cycle[:1]]


@pytest.mark.parametrize("heads", [[2, 1, 0], [0, 3, 2], [0, 4, 1], [0, -1, 1], [0, 2, 1]])
def test_heads_that_form_no_forest_are_an_error(heads):
    with pytest.raises(ValueError):
        tree_shape(heads)


@pytest.mark.parametrize(
    ("words", "annotation", "comments", "expected"),
    [
        (
            ["the", "dog"],
            Annotation(head=[2, 0], deprel=["det", "root"], upos=["DET", "NOUN"]),
            {"sent_id": 7, "text": " the\u2028dog\n"},
            "# sent_id = 7\n# text = the dog\n"
            "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n",
        ),
        (["a\tb", "\u2028"], failed("why"), {}, f"1\ta b{EMPTY}\n2\t_{EMPTY}\n\n"),
        ([], Annotation(head=[]), {"text": ""}, "# text =\n\n"),
    ],
)
def test_annotations_in_conllu(words, annotation, comments, expected):
    assert conllu_sentence(words, annotation, **comments) == expected
