"""Examples that are written block by block equal concatenated ones."""

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from nmtcore.features import mapped_blocks
from nmtcore.features.examples import NO_WORD, Examples, SideExamples, concatenate
from nmtcore.features.mapped import NotWritable
from nmtcore.features.mapped_blocks import map_blocks
from nmtcore.features.ragged import Ragged
from nmtcore.lock import Lock


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


def killed_after(function: Callable[..., object]) -> Callable[..., None]:
    """Return a function that does the same, then kills its process."""

    def call(*arguments: object, **options: object) -> None:
        function(*arguments, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    return call


@pytest.mark.parametrize("point", ["the record is written", "the temporary folder is deleted"])
def test_a_lock_left_beside_finished_arrays_hinders_nobody_and_the_next_writer_removes_it(tmp_path, monkeypatch, point):
    """A process that is killed after its last write, before it releases the lock."""
    folder = tmp_path / "mapped"
    blocks, others = ([draw_block(np.random.default_rng(seed), target=True) for _ in range(2)] for seed in (5, 6))
    for name, drawn in (("key", blocks), ("other", others)):
        map_blocks(tmp_path / name, lambda drawn=drawn: iter(drawn), name, log=lambda line: None)
    if point == "the record is written":
        monkeypatch.setattr(mapped_blocks, "write_json", killed_after(mapped_blocks.write_json))
    else:
        monkeypatch.setattr(Lock, "_release", killed_after(lambda lock: None))
    process = get_context("fork").Process(
        target=map_blocks, args=(folder, lambda: iter(blocks), "key"), kwargs={"log": lambda line: None}
    )
    process.start()
    process.join()
    monkeypatch.undo()
    assert process.exitcode == -signal.SIGKILL

    extra = {path.name for path in folder.iterdir()} - {path.name for path in (tmp_path / "key").iterdir()}
    assert "lock" in extra
    assert all(name.startswith(".arrays~") for name in extra - {"lock"})
    assert len(extra) == (2 if point == "the record is written" else 1)
    messages = []
    examples = map_blocks(folder, lambda: pytest.fail("all is written"), "key", log=messages.append)
    assert lists_of(examples) == lists_of(concatenate(blocks))
    assert messages == []

    examples = map_blocks(folder, lambda: iter(others), "other", log=messages.append)
    assert lists_of(examples) == lists_of(concatenate(others))
    assert "is gone: taking over" in messages[0], "without waiting, which is the other message"
    written, expected = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("mapped", "other")
    )
    assert written == expected
