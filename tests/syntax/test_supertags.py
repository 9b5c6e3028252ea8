"""Dependency supertags, compared with the thesis and with tags computed word by word."""

import numpy as np
import pytest
from forests import flat, forests
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.supertags import dg_a_codes, dg_b_codes

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


def sentence_tags(compute_tags, heads, deprels):
    """Compute the tags of one sentence."""
    labels = sorted(set(deprels))
    numbers = np.array([labels.index(deprel) for deprel in deprels], dtype=np.int64)
    tags = compute_tags(np.array(heads), numbers, np.array([len(heads)]), labels=labels)
    return [tags.strings[code] for code in tags.codes_W]


@pytest.mark.parametrize(("compute_tags", "oracle"), [(dg_a_codes, oracle_a), (dg_b_codes, oracle_b)])
@given(corpus=st.lists(sentences(), max_size=5))
def test_tags_equal_those_computed_word_by_word(compute_tags, oracle, corpus):
    expected = []
    for heads, numbers in corpus:
        deprels = [LABELS[number] for number in numbers]
        tags = [oracle(heads, deprels, word) for word in range(1, len(heads) + 1)]
        assert sentence_tags(compute_tags, heads, deprels) == tags
        expected += tags
    heads, lengths = flat([heads for heads, _ in corpus])
    deprels, _ = flat([numbers for _, numbers in corpus])
    tags = compute_tags(heads, deprels, lengths, labels=LABELS)
    assert tags.codes_W.dtype == np.int64
    assert [tags.strings[code] for code in tags.codes_W] == expected
    assert sorted(tags.strings) == sorted(set(expected))


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
    heads, deprels, dg_a, dg_b = map(list, zip(*THESIS.values(), strict=True))
    assert sentence_tags(dg_a_codes, heads, deprels) == dg_a
    assert sentence_tags(dg_b_codes, heads, deprels) == dg_b


def test_single_words_several_roots_and_crossing_edges_get_tags():
    assert sentence_tags(dg_a_codes, [0], ["root"]) == ["root|root"]
    assert sentence_tags(dg_b_codes, [0], ["root"]) == ["root"]
    assert sentence_tags(dg_b_codes, [0, 0], ["Pred", "AuxK"]) == ["Pred", "AuxK"]
    assert sentence_tags(dg_b_codes, [3, 4, 0, 3], ["a", "b", "c", "d"]) == ["a|R", "b|R", "c|L+R", "d|L|L"]


def test_many_labels_give_the_same_tags_as_few():
    labels = [f"label{k}" for k in range(3000)]
    heads, deprels = np.array([0, 1, 2]), np.array([2999, 0, 1500])
    tags = dg_a_codes(heads, deprels, np.array([3]), labels=labels)
    assert [tags.strings[code] for code in tags.codes_W] == sentence_tags(
        dg_a_codes, heads, [labels[k] for k in deprels]
    )


@pytest.mark.parametrize("heads", [[3, 0], [-1, 0], [0, 1, 1]])
def test_heads_out_of_range_are_an_error(heads):
    for compute_tags in (dg_a_codes, dg_b_codes):
        with pytest.raises(ValueError):
            compute_tags(np.array(heads), np.zeros(len(heads), int), np.array([2]), labels=LABELS)


def reference_tags(path):
    """Read the words of a CoNLL-U file and tag them, without any of the package's code: [(head, label, DG-A, DG-B)]."""
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if not line.startswith("#")]
        words = [(int(row[0]), int(row[6]), row[7]) for row in rows if row[0].isdigit()]
        label = {number: deprel for number, _, deprel in words}
        sides = {number: set() for number, _, _ in words}
        for number, head, _ in words:
            if head:
                sides[head].add("L" if number < head else "R")
        sentence = []
        for number, head, deprel in words:
            parts = [deprel]
            if head:
                parts.append("L" if head < number else "R")
            if sides[number]:
                parts.append("+".join(sorted(sides[number])))
            sentence.append((head, deprel, f"{deprel}|{label.get(head, 'root')}", "|".join(parts)))
        yield sentence


@pytest.mark.parametrize("language", ["cs", "de", "en", "ja", "ru", "tr"])
def test_all_words_of_pud_get_the_tags_of_an_independent_reference(language, shared):
    sentences = list(reference_tags(shared / "data" / "ud" / f"{language}_pud.conllu"))
    assert len(sentences) == 1000
    heads, lengths = flat([[head for head, *_ in sentence] for sentence in sentences])
    labels = sorted({deprel for sentence in sentences for _, deprel, *_ in sentence})
    deprels, _ = flat([[labels.index(deprel) for _, deprel, *_ in sentence] for sentence in sentences])
    for compute_tags, column in ((dg_a_codes, 2), (dg_b_codes, 3)):
        tags = compute_tags(heads, deprels, lengths, labels=labels)
        expected = [word[column] for sentence in sentences for word in sentence]
        assert [tags.strings[code] for code in tags.codes_W] == expected
