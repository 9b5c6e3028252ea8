"""Sources as models read them: those without words and very long ones are left out."""

from dataclasses import replace

import numpy as np
import pytest
from features.sentences import annotated, annotated_words, lists_of
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.features import sources
from nmtcore.features.examples import Examples, SideExamples, columns_of
from nmtcore.features.ragged import Ragged
from nmtcore.features.sources import long_pairs, select_sources
from nmtcore.features.syntax import column_of
from nmtcore.features.transforms.chain import Transforms
from nmtcore.syntax.annotation import failed


def examples_of(sentences):
    """Make sources with features; every subword has an id of its own, and ids of sentences count in steps of 3."""
    words = annotated_words(sentences)
    ids = Ragged(np.arange(len(words.word_of_subword.values)), words.word_of_subword.offsets)
    features = {
        name: Ragged.from_lengths(column_of(words, name).astype(dtype), words.words_B)
        for name, dtype in columns_of(("trees", "pos_tags")).items()
    }
    side = SideExamples(ids=ids, word_of_subword=words.word_of_subword, features=features)
    return Examples(id=3 * np.arange(len(sentences)), source=side)


@pytest.mark.parametrize("longest", [1, 4, 1000])
@given(sentences=st.lists(annotated(), max_size=5))
def test_sentences_without_words_and_very_long_ones_are_left_out(longest, sentences):
    examples = examples_of(sentences)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "MAX_SUBWORDS", longest)
        selected = select_sources(examples, Transforms())
    sizes = [sum(pieces) for pieces, _ in sentences]
    rows = [row for row, size in enumerate(sizes) if 0 < size <= longest]
    assert selected.rows.tolist() == rows
    assert selected.long == [row for row, size in enumerate(sizes) if size > longest]
    assert selected.examples.id.tolist() == [3 * row for row in rows]
    for name, column in selected.examples.source.columns.items():
        whole = lists_of(examples.source.columns[name])
        assert lists_of(column) == [whole[row] for row in rows]
    counts = [len(pieces) for pieces, _ in sentences]
    heads = selected.heads_of_all(np.arange(counts[row]) for row in rows)
    expected = [list(range(count)) if row in rows else [0] * count for row, count in enumerate(counts)]
    assert [heads_W.tolist() for heads_W in heads] == expected


@given(st.lists(annotated(least=0), max_size=4), st.data())
def test_a_word_without_subwords_gets_the_word_whose_subword_it_is_in_as_head(sentences, data):
    selected = select_sources(examples_of(sentences), Transforms())
    heads, expected = [], []
    for pieces, _ in sentences:
        words = [word for word, count in enumerate(pieces, start=1) if count]
        drawn = [data.draw(st.integers(0, len(words))) for _ in words]
        heads += [np.array(drawn)] if words else []
        expected.append([])
        for word in range(1, len(pieces) + 1):
            before = [other for other in words if other < word] or words
            head = drawn[words.index(word)] if word in words else None
            expected[-1].append(before[-1 if before[0] < word else 0] if head is None else [0, *words][head])
    assert [heads_W.tolist() for heads_W in selected.heads_of_all(heads)] == expected


def test_pairs_are_long_if_a_side_is(monkeypatch):
    monkeypatch.setattr(sources, "MAX_SUBWORDS", 3)
    alone, targets = (
        examples_of([([size], failed("why")) for size in sizes]) for sizes in ((3, 4, 1, 9), (3, 1, 4, 9))
    )
    assert long_pairs(alone).tolist() == [1, 3]
    assert long_pairs(replace(alone, target=targets.source)).tolist() == [1, 2, 3]
