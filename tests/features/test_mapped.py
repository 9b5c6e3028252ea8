"""Mapped examples equal concatenated ones; their folder is written once, whole, and shared."""

import os
import signal
import threading
import tracemalloc
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from nmtcore.errors import UserError
from nmtcore.features import mapped
from nmtcore.features.examples import NO_WORD, Examples, SideExamples, concatenate
from nmtcore.features.mapped import map_blocks
from nmtcore.features.ragged import Ragged

KEY, OTHER_KEY = "0" * 16, "f" * 16


def draw_block(random: np.random.Generator, *, target: bool = True, count: int | None = None) -> Examples:
    """Draw examples, some of them empty, with tags among their subwords and two columns of features per side."""
    count, sides = random.integers(0, 5) if count is None else count, []
    for _ in range(2):
        lengths = random.integers(0, 4, count)
        ids, words, governors = (
            Ragged.from_lengths(random.integers(low, high, lengths.sum()).astype(np.int32), lengths)
            for low, high in ((5, 900), (NO_WORD, 9), (-2, 3))
        )
        features = {"governor": governors, "position": Ragged(words.values.astype(np.float32) / 2, words.offsets)}
        sides.append(SideExamples(ids=ids, word_of_subword=words, features=features))
    return Examples(id=random.integers(-9, 9, count), source=sides[0], target=sides[1] if target else None)


def assert_equal(actual: Examples, expected: Examples) -> None:
    """Compare ids and all columns, and their types, as they are and as batches take them."""
    rows = np.random.default_rng(2).permutation(len(expected))
    for a, b in ((actual, expected), (actual.take(rows), expected.take(rows))):
        assert a.id.tolist() == b.id.tolist()
        assert a.columns.keys() == b.columns.keys()
        for name, column in b.columns.items():
            assert a.columns[name].values.dtype == column.values.dtype, name
            assert a.columns[name].values.tolist() == column.values.tolist(), name
            assert a.columns[name].offsets.tolist() == column.offsets.tolist(), name


def map_quietly(folder: Path, blocks: list[Examples], log=lambda line: None) -> Examples:
    return map_blocks(folder, lambda: iter(blocks), log=log)


@pytest.mark.parametrize("target", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_mapped_blocks_equal_concatenated_ones(tmp_path: Path, seed, target):
    random = np.random.default_rng(seed)
    blocks = [draw_block(random, target=target) for _ in range(4)]
    examples = map_quietly(tmp_path / f"mapped.{KEY}", blocks)
    assert_equal(examples, concatenate(blocks))
    assert_equal(map_quietly(tmp_path / f"mapped.{KEY}", [blocks[0]]), examples)
    (tmp_path / f"mapped.part.{KEY}").mkdir()
    assert_equal(map_quietly(tmp_path / f"mapped.{OTHER_KEY}", blocks[:2]), concatenate(blocks[:2]))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", f"mapped.{OTHER_KEY}", f"mapped.part.{KEY}"]
    assert_equal(examples, concatenate(blocks))  # a process that trains keeps what it has mapped


def test_values_are_mapped_read_only_and_shared(tmp_path: Path):
    source = map_quietly(tmp_path / f"mapped.{KEY}", [draw_block(np.random.default_rng(0), count=9)]).source
    with pytest.raises(ValueError, match="read-only"):
        source.ids.values[0] = 1
    maps = Path("/proc/self/maps").read_text().splitlines()
    pages = [line.split()[1] for line in maps if "source.ids.values" in line]
    assert set(pages) == {"r--s"}, "processes share the pages"


def test_nothing_appears_if_a_block_fails(tmp_path: Path):
    def blocks():
        yield draw_block(np.random.default_rng(0))
        raise ValueError("no more blocks")

    with pytest.raises(ValueError, match="no more blocks"):
        map_blocks(tmp_path / f"mapped.{KEY}", blocks, log=lambda line: None)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_after_a_killed_process_all_is_written_again(tmp_path: Path, monkeypatch):
    blocks, messages = [draw_block(np.random.default_rng(5)) for _ in range(2)], []
    monkeypatch.setattr(mapped.os, "rename", lambda *paths: os.kill(os.getpid(), signal.SIGKILL))
    process = get_context("fork").Process(target=map_quietly, args=(tmp_path / f"mapped.{KEY}", blocks))
    process.start()
    process.join()
    monkeypatch.undo()
    assert process.exitcode == -signal.SIGKILL
    assert_equal(map_quietly(tmp_path / f"mapped.{KEY}", blocks, messages.append), concatenate(blocks))
    assert "Writing examples" in messages[0], "without waiting for the one that was killed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", f"mapped.{KEY}"]


@pytest.mark.parametrize(("damage", "sentence"), [(lambda path: os.truncate(path, 150), "does not hold what it should"),
                                                  (os.remove, "does not exist")])  # fmt: skip
def test_a_damaged_folder_is_one_sentence(tmp_path: Path, damage, sentence):
    blocks, folder = [draw_block(np.random.default_rng(5), count=50)], tmp_path / f"mapped.{KEY}"
    map_quietly(folder, blocks)
    damage(folder / "source.ids.offsets.npy")
    with pytest.raises(UserError, match=sentence):
        map_quietly(folder, blocks)


def test_processes_that_start_together_write_once(tmp_path: Path):
    """Locks are for processes, but hold for threads too."""
    blocks, messages, results = [draw_block(np.random.default_rng(3), count=50)], [], []

    def work():
        results.append(map_quietly(tmp_path / f"mapped.{KEY}", blocks, messages.append))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("Writing examples" in line for line in messages) == 1
    assert len(results) == 4
    for examples in results:
        assert_equal(examples, concatenate(blocks))


def test_writing_takes_memory_for_a_block(tmp_path: Path):
    block = draw_block(np.random.default_rng(1), count=20_000)
    size = sum(column.values.nbytes + column.offsets.nbytes for column in block.columns.values())
    tracemalloc.start()
    map_blocks(tmp_path / f"mapped.{KEY}", lambda: (block for _ in range(40)), log=lambda line: None)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < size < sum(path.stat().st_size for path in tmp_path.glob("*/*")) / 20
