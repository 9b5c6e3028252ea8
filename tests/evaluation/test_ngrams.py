"""Counts of common n-grams, against a plain count of each sentence."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.evaluation.ngrams import count_character_ngrams, count_word_ngrams

PAIRS = st.lists(st.tuples(*[st.lists(st.sampled_from(["a", "b", "ab", "日"]), max_size=9)] * 2), max_size=8)


def ngrams(text, order):
    return Counter(tuple(text[i : i + order]) for i in range(len(text) - order + 1))


def check(counts, translations, references):
    for order, values in enumerate(counts, start=1):
        own = [ngrams(text, order) for text in translations]
        others = [ngrams(text, order) for text in references]
        assert values.totals_B.tolist() == [count.total() for count in own]
        assert values.reference_totals_B.tolist() == [count.total() for count in others]
        assert values.matches_B.tolist() == [(a & b).total() for a, b in zip(own, others, strict=True)]


@given(PAIRS)
def test_ngrams_of_words_and_characters_are_counted(pairs):
    translations, references = [t for t, _ in pairs], [r for _, r in pairs]
    check(count_word_ngrams(translations, references, orders=4), translations, references)
    texts = [["".join(words) for words in side] for side in (translations, references)]
    check(count_character_ngrams(*texts, orders=6), *texts)


def test_unequal_numbers_of_texts_are_refused():
    with pytest.raises(ValueError, match="1 translations, but 2 references"):
        count_word_ngrams([["a"]], [["a"], ["b"]], orders=2)
