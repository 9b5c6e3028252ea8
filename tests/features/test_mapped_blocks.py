"""Examples that are written block by block equal concatenated ones."""

import os
from pathlib import Path

import numpy as np
import pytest

from nmtcore.features.examples import NO_WORD, Examples, SideExamples, concatenate
from nmtcore.features.mapped import NotWritable
from nmtcore.features.mapped_blocks import map_blocks
from nmtcore.features.ragged import Ragged


def draw_block(random: np.random.Generator, *, target: bool) -> Examples:
    """Draw examples, some of them empty, with tags among their subwords and one column of features per side."""
    count = random.integers(0, 5)
    sides = []
    for _ in range(2):
        lengths = random.integers(0, 4, count)
        ids, words = (random.integers(low, 9, lengths.sum()).astype(np.int32) for low in (5, NO_WORD))
        governors = random.integers(-2, 3, lengths.sum()).astype(np.int32)
        ids, words, governors = (Ragged.from_lengths(values, lengths) for values in (ids, words, governors))
        sides.append(SideExamples(ids=ids, word_of_subword=words, features={"governor": governors}))
    return Examples(id=random.integers(-9, 9, count), source=sides[0], target=sides[1] if target else None)


def lists_of(examples: Examples) -> list:
    """Return everything in examples, as batches take them."""
    taken = examples.take(np.arange(len(examples)))
    sides = [side for side in (taken.source, taken.target) if side is not None]
    columns = [column for side in sides for column in (side.ids, side.word_of_subword, *side.features.values())]
    names = [list(side.features) for side in sides]
    return [taken.id.tolist(), names, *((c.dtype, [row.tolist() for row in c]) for c in columns)]


@pytest.mark.parametrize("target", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_mapped_blocks_equal_concatenated_ones(tmp_path: Path, seed, target):
    random, messages = np.random.default_rng(seed), []
    blocks = [draw_block(random, target=target) for _ in range(4)]
    expected = concatenate(blocks)
    for _ in range(2):
        examples = map_blocks(tmp_path / "mapped", lambda: iter(blocks), "key", log=messages.append)
        assert lists_of(examples) == lists_of(expected)
        assert examples.source.subword_counts.tolist() == expected.source.subword_counts.tolist()
        assert (examples.target is None) == (not target)
    assert len(messages) == 1
    other = map_blocks(tmp_path / "mapped", lambda: iter(blocks[:2]), "other", log=messages.append)
    assert lists_of(other) == lists_of(concatenate(blocks[:2]))
    assert lists_of(examples) == lists_of(expected), "a process that trains keeps what it has mapped"
    assert len(messages) == 2


def test_nothing_appears_if_a_block_fails(tmp_path: Path):
    def blocks():
        yield draw_block(np.random.default_rng(0), target=True)
        raise ValueError("no more blocks")

    with pytest.raises(ValueError, match="no more blocks"):
        map_blocks(tmp_path / "mapped", blocks, "key", log=lambda line: None)
    assert list((tmp_path / "mapped").iterdir()) == []


def test_a_folder_without_permission_to_write_is_named(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(NotWritable, match=f"No permission to write in {tmp_path}"):
        map_blocks(tmp_path / "mapped", lambda: iter([]), "key", log=lambda line: None)
