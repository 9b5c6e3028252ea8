"""Attachment scores against counting by hand, and the detection of punctuation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.errors import UserError
from nmtcore.evaluation.attachment import attachment, is_punctuation


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=6), max_size=8))
def test_scores_match_counting_word_by_word(sentences):
    columns = [[[word[k] for word in sentence] for sentence in sentences] for k in range(3)]
    scores = attachment(*columns)
    words = [word for sentence in sentences for word in sentence]
    plain = [word for word in words if not word[2]]
    assert scores["words"] == len(words)
    assert scores["words_without_punctuation"] == len(plain)
    for key, counted in (("uas", words), ("uas_without_punctuation", plain)):
        expected = 100 * sum(p == g for p, g, _ in counted) / len(counted) if counted else None
        assert scores[key] == (None if expected is None else pytest.approx(expected))


def test_sentences_of_different_texts_are_an_error():
    with pytest.raises(UserError, match=r"Sentence 1 \(from 0\): the parse has 2 words, the tree 1"):
        attachment([[0], [0, 1]], [[0], [0]], [None, None])
    with pytest.raises(UserError, match="2 parses cannot be scored against 1 trees"):
        attachment([[0], [0]], [[0]], [None])


def test_punctuation_without_tags():
    marks, others = [*"..„«`'-%。‘´", "...", "``", "''"], [*"$+3€", "a.", ""]
    assert is_punctuation(marks + others) == [True] * len(marks) + [False] * len(others)


def test_punctuation_by_tag_and_by_character_agree_on_a_treebank(shared):
    text = (shared / "data" / "ud" / "cs_pud.conllu").read_text(encoding="utf-8")
    cells = [line.split("\t") for line in text.split("\n") if line[:1].isdigit()]
    words, tags = [c[1] for c in cells], [c[3] for c in cells]
    by_tag, by_characters = is_punctuation(words, tags), is_punctuation(words)
    different = sum(a != b for a, b in zip(by_tag, by_characters, strict=True))
    assert sum(by_tag) > 2000
    # For example, a dash between numbers is tagged as a symbol.
    assert different < 0.02 * sum(by_tag)
