"""Dependency supertags, compared with the thesis and with tags computed word by word."""

import pytest
from forests import forests
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.annotation.labels import dg_a, dg_b

LABELS = ["nsubj:pass", "root", "xcomp", "a|b"]


@st.composite
def sentences(draw):
    """Draw the heads and label numbers of a sentence, possibly without words."""
    heads = draw(forests() | st.just([]))
    return heads, [draw(st.integers(0, len(LABELS) - 1)) for _ in heads]


def oracle_a(heads, deprels, word):
    head = heads[word - 1]
    return deprels[word - 1] + "|" + ("root" if head == 0 else deprels[head - 1])


def oracle_b(heads, deprels, word):
    """Test every other word for being a dependent."""
    tag, head = deprels[word - 1], heads[word - 1]
    if head != 0:
        tag += "|L" if head < word else "|R"
    left = any(heads[other - 1] == word for other in range(1, word))
    right = any(heads[other - 1] == word for other in range(word + 1, len(heads) + 1))
    return tag + {(0, 0): "", (1, 0): "|L", (0, 1): "|R", (1, 1): "|L+R"}[left, right]


@pytest.mark.parametrize(("compute_tags", "oracle"), [(dg_a, oracle_a), (dg_b, oracle_b)])
@given(sentence=sentences())
def test_tags_equal_those_computed_word_by_word(compute_tags, oracle, sentence):
    heads, numbers = sentence
    deprels = [LABELS[number] for number in numbers]
    assert compute_tags(heads, deprels) == [oracle(heads, deprels, word) for word in range(1, len(heads) + 1)]


# Aycock 2021 gives the tags of `who` (section 2.2.2) and `win` (Table 2.1); the others follow from its templates.
THESIS = {
    "who": (2, "nsubj", "nsubj|root", "nsubj|R"),
    "wants": (0, "root", "root|root", "root|L+R"),
    "him": (2, "obj", "obj|root", "obj|L"),
    "to": (5, "mark", "mark|xcomp", "mark|R"),
    "win": (2, "xcomp", "xcomp|root", "xcomp|L|L+R"),
    "it": (5, "obj", "obj|xcomp", "obj|L"),
    "?": (2, "punct", "punct|root", "punct|L"),
}


def test_the_examples_of_the_thesis_get_its_tags():
    heads, deprels, *tags = map(list, zip(*THESIS.values(), strict=True))
    assert [dg_a(heads, deprels), dg_b(heads, deprels)] == tags
