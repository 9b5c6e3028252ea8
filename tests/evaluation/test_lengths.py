"""Subsets of a test by the length of the source sentence."""

import numpy as np
import pytest

from nmtcore.evaluation.subsets import length_bins, long_sentences


def test_each_sentence_is_in_the_bin_of_its_length():
    words = np.random.default_rng(1).integers(1, 90, size=500).tolist()
    bins = length_bins(words)
    for name, rows_B in bins.items():
        low, high = (61, 10**6) if name == "over 60" else map(int, name.split(" to "))
        assert rows_B.tolist() == [row for row, length in enumerate(words) if low <= length <= high]
    assert list(bins) == ["1 to 10", "11 to 20", "21 to 30", "31 to 40", "41 to 50", "51 to 60", "over 60"]
    assert sum(map(len, bins.values())) == 500


def test_bounds_belong_to_the_lower_bin_and_empty_bins_are_left_out():
    bins = length_bins([10, 11, 60, 61, 0, 1])
    shown = {name: rows_B.tolist() for name, rows_B in bins.items()}
    assert shown == {"1 to 10": [0, 5], "11 to 20": [1], "51 to 60": [2], "over 60": [3]}
    assert length_bins([]) == {}


@pytest.mark.parametrize(
    ("words", "share", "fewest", "rows"),
    [
        ([3, 9, 4, 8], 0.01, 9, [1]),
        ([3, 9, 4, 8], 0.5, 8, [1, 3]),
        ([3, 8, 4, 8], 0.01, 8, [1, 3]),
        ([3, 9, 4, 8], 1, 3, [0, 1, 2, 3]),
        (list(range(100)), 0.07, 93, list(range(93, 100))),
        (list(range(150)), 0.01, 148, [148, 149]),
    ],
)
def test_the_longest_sentences_are_at_least_the_share_and_all_that_are_as_long(words, share, fewest, rows):
    longest = long_sentences(words, share=share)
    assert (longest.fewest_words, longest.rows_B.tolist()) == (fewest, rows)


def test_no_sentences_have_no_longest():
    with pytest.raises(ValueError, match="no sentences"):
        long_sentences([], share=0.01)
