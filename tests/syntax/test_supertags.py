import numpy as np
import pytest
from forests import flat, forests
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.supertags import dg_a_codes, dg_b_codes

LABELS = ["nsubj:pass", "root", "xcomp", "a|b"]


@st.composite
def sentences(draw):
    """Heads of a sentence, perhaps without words, with a label for each."""
    heads = draw(forests() | st.just([]))
    return heads, [draw(st.integers(0, len(LABELS) - 1)) for _ in heads]


def oracle_a(heads, deprels, word):
    head = heads[word - 1]
    return deprels[word - 1] + "|" + ("root" if head == 0 else deprels[head - 1])


def oracle_b(heads, deprels, word):
    """Every word is asked whether it is a dependent."""
    tag, head = deprels[word - 1], heads[word - 1]
    if head != 0:
        tag += "|L" if head < word else "|R"
    left = any(heads[other - 1] == word for other in range(1, word))
    right = any(heads[other - 1] == word for other in range(word + 1, len(heads) + 1))
    return tag + {(0, 0): "", (1, 0): "|L", (0, 1): "|R", (1, 1): "|L+R"}[left, right]


def one(codes, heads, deprels):
    """The tags of one sentence."""
    labels = sorted(set(deprels))
    numbers = np.array([labels.index(deprel) for deprel in deprels], dtype=np.int64)
    tags = codes(np.array(heads), numbers, np.array([len(heads)]), labels=labels)
    return [tags.strings[code] for code in tags.codes_W]


@pytest.mark.parametrize(("many", "oracle"), [(dg_a_codes, oracle_a), (dg_b_codes, oracle_b)])
@given(corpus=st.lists(sentences(), max_size=5))
def test_tags_word_by_word(many, oracle, corpus):
    expected = []
    for heads, numbers in corpus:
        deprels = [LABELS[number] for number in numbers]
        tags = [oracle(heads, deprels, word) for word in range(1, len(heads) + 1)]
        assert one(many, heads, deprels) == tags
        expected += tags
    heads, lengths = flat([heads for heads, _ in corpus])
    deprels, _ = flat([numbers for _, numbers in corpus])
    tags = many(heads, deprels, lengths, labels=LABELS)
    assert tags.codes_W.dtype == np.int64
    assert [tags.strings[code] for code in tags.codes_W] == expected
    assert sorted(tags.strings) == sorted(set(expected))


# The thesis gives the tags of `who` (section 2.2.2) and of `win` (Table 2.1); the others follow from its templates.
THESIS = {
    "who": (2, "nsubj", "nsubj|root", "nsubj|R"),
    "wants": (0, "root", "root|root", "root|L+R"),
    "him": (2, "obj", "obj|root", "obj|L"),
    "to": (5, "mark", "mark|xcomp", "mark|R"),
    "win": (2, "xcomp", "xcomp|root", "xcomp|L|L+R"),
    "it": (5, "obj", "obj|xcomp", "obj|L"),
    "?": (2, "punct", "punct|root", "punct|L"),
}


def test_the_examples_of_the_thesis():
    heads, deprels, dg_a, dg_b = map(list, zip(*THESIS.values(), strict=True))
    assert one(dg_a_codes, heads, deprels) == dg_a
    assert one(dg_b_codes, heads, deprels) == dg_b


def test_a_word_alone_several_roots_and_crossing_edges():
    assert one(dg_a_codes, [0], ["root"]) == ["root|root"]
    assert one(dg_b_codes, [0], ["root"]) == ["root"]
    assert one(dg_b_codes, [0, 0], ["Pred", "AuxK"]) == ["Pred", "AuxK"]
    assert one(dg_b_codes, [3, 4, 0, 3], ["a", "b", "c", "d"]) == ["a|R", "b|R", "c|L+R", "d|L|L"]


def test_very_many_labels_take_the_way_without_a_table():
    labels = [f"label{k}" for k in range(3000)]
    heads, deprels = np.array([0, 1, 2]), np.array([2999, 0, 1500])
    tags = dg_a_codes(heads, deprels, np.array([3]), labels=labels)
    assert [tags.strings[code] for code in tags.codes_W] == one(dg_a_codes, heads, [labels[k] for k in deprels])


@pytest.mark.parametrize("heads", [[3, 0], [-1, 0], [0, 1, 1]])
def test_heads_out_of_range(heads):
    for many in (dg_a_codes, dg_b_codes):
        with pytest.raises(ValueError):
            many(np.array(heads), np.zeros(len(heads), int), np.array([2]), labels=LABELS)
