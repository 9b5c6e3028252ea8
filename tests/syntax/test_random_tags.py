"""Random tags: SplitMix64, uniformity and independence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.syntax.random_tags import random_tags

BITS = 2**64 - 1


def step(state):
    """Compute one step of SplitMix64 in Python integers, from its description."""
    z = state = (state + 0x9E3779B97F4A7C15) & BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
    return z ^ (z >> 31)


def oracle(id, word, *, types, seed, side):
    sentence = step(step(2 * seed + (side == "target")) ^ id)
    return (step((sentence + word * 0x9E3779B97F4A7C15) & BITS) >> 32) * types >> 32


corpora = st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 6)), max_size=6)


def test_the_oracle_gives_the_published_numbers_of_splitmix64():
    state, numbers = 1234567, []
    for _ in range(3):
        numbers.append(step(state))
        state += 0x9E3779B97F4A7C15
    assert numbers == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(corpora, st.integers(1, 2**31 - 1), st.integers(0, 2**40), st.sampled_from(["source", "target"]))
def test_tags_equal_those_computed_word_by_word(corpus, types, seed, side):
    ids, lengths = (np.array([pair[k] for pair in corpus], np.int64) for k in range(2))
    tags = random_tags(ids, lengths, types=types, seed=seed, side=side)
    assert tags.dtype == np.int64
    assert tags.tolist() == [
        oracle(id, word, types=types, seed=seed, side=side) for id, length in corpus for word in range(length)
    ]
    assert all(0 <= tag < types for tag in tags)


def test_the_tags_of_a_sentence_do_not_depend_on_other_sentences():
    ids, lengths = np.arange(100), np.arange(100) % 7
    tags = np.split(random_tags(ids, lengths, types=294, seed=1, side="target"), np.cumsum(lengths)[:-1])
    order = np.random.default_rng(1).permutation(100)
    shuffled = random_tags(ids[order], lengths[order], types=294, seed=1, side="target")
    assert np.concatenate([tags[k] for k in order]).tolist() == shuffled.tolist()
    chunks = [
        random_tags(ids[k : k + 9], lengths[k : k + 9], types=294, seed=1, side="target") for k in range(0, 100, 9)
    ]
    assert np.concatenate(chunks).tolist() == np.concatenate(tags).tolist()


@pytest.mark.parametrize(("types", "lengths"), [(294, np.full(6000, 10)), (507, np.ones(60_000, int)), (2, [60_000])])
def test_tags_are_uniform(types, lengths):
    tags = random_tags(np.arange(len(lengths)), np.array(lengths), types=types, seed=1, side="target")
    expected = len(tags) / types
    statistic = ((np.bincount(tags, minlength=types) - expected) ** 2 / expected).sum()
    freedom = types - 1
    assert abs(statistic - freedom) < 4 * np.sqrt(2 * freedom)


def test_tags_of_neighbours_seeds_and_sides_are_independent():
    ids, lengths = np.arange(2000), np.full(2000, 10)
    tags = random_tags(ids, lengths, types=10, seed=1, side="target").reshape(2000, 10)
    others = [
        np.roll(tags, 1, axis=1),
        np.roll(tags, 1, axis=0),
        random_tags(ids, lengths, types=10, seed=2, side="target").reshape(2000, 10),
        random_tags(ids, lengths, types=10, seed=1, side="source").reshape(2000, 10),
    ]
    for other in others:
        table = np.bincount((tags * 10 + other).ravel(), minlength=100)
        statistic = ((table - 200) ** 2 / 200).sum()
        assert abs(statistic - 99) < 4 * np.sqrt(2 * 99)


@pytest.mark.parametrize("types", [0, -1, 2**31])
def test_an_impossible_number_of_types_is_an_error(types):
    with pytest.raises(ValueError):
        random_tags(np.array([1]), np.array([1]), types=types, seed=1, side="source")
