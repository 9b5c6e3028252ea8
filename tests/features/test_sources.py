"""Sources as models read them: cut by plain loops, with the features of their words."""

from dataclasses import replace

import numpy as np
import pytest
from features.sentences import annotated, annotated_words, lists_of, words_of
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.features import sources
from nmtcore.features.examples import Examples, SideExamples, columns_of, concatenate
from nmtcore.features.ragged import Ragged
from nmtcore.features.sources import cut_sources, long_pairs, part_ranges
from nmtcore.features.syntax import column_of
from nmtcore.features.transforms.chain import Transforms
from nmtcore.syntax.annotation import failed

FEATURES = ("trees", "pos_tags")


def ranges_by_hand(word_of, longest):
    """Take the last end between words that is near enough, at every start; if there is none, cut the word."""
    ranges, start = [], 0
    while start < len(word_of):
        near = [stop for stop in range(start + 1, len(word_of) + 1) if stop - start <= longest]
        between = [stop for stop in near if stop == len(word_of) or word_of[stop] != word_of[stop - 1]]
        ranges.append((start, max(between or near)))
        start = ranges[-1][1]
    return ranges


def examples_of(sentences, *, step=1):
    """Make sources with features; every subword has an id of its own. Ids of sentences count in steps of `step`."""
    words = annotated_words(sentences)
    ids = Ragged(np.arange(len(words.word_of_subword.values)), words.word_of_subword.offsets)
    features = {
        name: Ragged.from_lengths(column_of(words, name).astype(dtype), words.words_B)
        for name, dtype in columns_of(FEATURES).items()
    }
    side = SideExamples(ids=ids, word_of_subword=words.word_of_subword, features=features)
    return concatenate([Examples(id=step * np.arange(len(sentences)), source=side)])


@given(st.lists(st.integers(1, 9), max_size=12), st.integers(1, 7))
def test_parts_end_between_words_if_they_can(sizes, longest):
    assert list(part_ranges(words_of(sizes), longest=longest)) == ranges_by_hand(words_of(sizes), longest)


@pytest.mark.parametrize("longest", [1, 4, 1000])
@given(sentences=st.lists(annotated(), max_size=5))
def test_parts_have_the_subwords_and_features_of_their_words(longest, sentences):
    examples = examples_of(sentences, step=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "MAX_SUBWORDS", longest)
        cut = cut_sources(examples, Transforms())
    whole = {name: lists_of(column) for name, column in examples.source.columns.items()}
    expected = {name: [] for name in whole}
    rows, firsts = [], []
    for row, (pieces, _) in enumerate(sentences):
        for start, stop in ranges_by_hand(words_of(pieces), longest):
            words = words_of(pieces)[start:stop]
            first, last = words[0], words[-1]
            rows.append(row)
            firsts.append(first)
            governors, positions = [], []
            for word in range(first, last + 1):
                governor = whole["governor"][row][word]
                if governor >= 0:
                    governor = governor - first if first <= governor <= last else -1
                parent = word if governor < 0 else governor + first
                governors.append(governor)
                positions.append(np.mean([i for i, own in enumerate(words) if own == parent], dtype=np.float32))
            part = {name: values[row][first : last + 1] for name, values in whole.items()}
            part |= {"ids": whole["ids"][row][start:stop], "word_of_subword": [word - first for word in words]}
            part |= {"governor": governors, "parent_position": positions}
            for name, values in part.items():
                expected[name].append(values)
    assert cut.ids.tolist() == examples.id.tolist()
    assert (cut.row_P.tolist(), cut.first_P.tolist()) == (rows, firsts)
    assert cut.examples.id.tolist() == [3 * row for row in rows]
    for name, column in cut.examples.source.columns.items():
        assert column.lengths.tolist() == list(map(len, expected[name])), name
        np.testing.assert_allclose(column.values, np.concatenate([[], *expected[name]]), rtol=1e-6)
    assert cut.long == {row: rows.count(row) for row in rows if rows.count(row) > 1}
    groups = cut.by_sentence(range(len(rows)))
    assert groups == [[part for part, own in enumerate(rows) if own == row] for row in range(len(sentences))]


def unparsed(*sizes):
    """Make sources of one word each, in pieces."""
    return examples_of([([size], failed("why")) for size in sizes])


def test_whole_sources_are_not_copied():
    examples = unparsed(1, 2)
    assert cut_sources(examples, Transforms()).examples.source is examples.source


def test_pairs_are_long_if_a_side_is(monkeypatch):
    monkeypatch.setattr(sources, "MAX_SUBWORDS", 3)
    sources_alone = unparsed(3, 4, 1, 9)
    assert long_pairs(sources_alone).tolist() == [1, 3]
    assert long_pairs(replace(sources_alone, target=unparsed(3, 1, 4, 9).source)).tolist() == [1, 2, 3]
