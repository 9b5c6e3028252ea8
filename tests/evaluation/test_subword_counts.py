"""Words counted by their number of subwords."""

from collections import Counter
from itertools import groupby

import numpy as np
import pytest

from nmtcore.evaluation.subword_counts import subword_counts
from nmtcore.features.schema import TOKENS_SCHEMA
from nmtcore.parquet import ROWS_PER_GROUP, write_rows


def write_tokens(path, sentences):
    rows = [{"id": i, "ids": words, "word_of_subword": words} for i, words in enumerate(sentences)]
    write_rows(path, TOKENS_SCHEMA, rows)
    return path


def test_a_word_of_one_sentence_does_not_continue_in_the_next(tmp_path):
    tokens = write_tokens(tmp_path / "t.parquet", [[0], [0, 0], [], [0, 1, 1, 1, 2]])
    assert subword_counts(tokens) == [0, 3, 1, 1]


@pytest.mark.parametrize("sentences", [0, 1, 50, ROWS_PER_GROUP + 50])
def test_counts_are_those_of_groups_of_equal_indices(tmp_path, sentences):
    """Also over several row groups."""
    generator = np.random.default_rng(sentences)
    words = [np.sort(generator.integers(0, 4, size=generator.integers(0, 9))).tolist() for _ in range(sentences)]
    expected = Counter(len(list(group)) for sentence in words for _, group in groupby(sentence))
    counts = subword_counts(write_tokens(tmp_path / "t.parquet", words))
    assert {size: number for size, number in enumerate(counts) if number} == expected
