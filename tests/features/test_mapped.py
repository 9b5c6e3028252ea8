"""Mapped examples equal loaded ones; their files are made once, and again if they are not those of the features."""

import os
import shutil
import signal
import threading
import tracemalloc
from collections import namedtuple
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nmtcore.errors import UserError
from nmtcore.features import mapped
from nmtcore.features.examples import NO_WORD, Examples, SideExamples, concatenate, load_examples
from nmtcore.features.mapped import NotWritable, map_blocks, map_examples
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import TOKENS_SCHEMA, syntax_schema
from nmtcore.parquet import row_writer, write_rows

SYNTAX = syntax_schema(("trees", "pos_tags"))
FEATURES = {"source": {"trees": "spacy", "pos_tags": "spacy"}}
LARGEST = {"ids": 40_000, "upos": 300, "xpos": 2**20}
"""Upper limits of drawn values that need types of different sizes; 5 for all others."""
KEY, OTHER_KEY = "0" * 16, "f" * 16


def draw_side(random: np.random.Generator, count: int) -> tuple[list[dict], list[dict]]:
    """Draw the rows of a file of tokens and of one of features; some sentences are empty, some have no features."""
    tokens, syntax = [], []
    for i in range(count):
        pieces = random.integers(1, 3, random.integers(0, 6))
        ids = random.integers(5, LARGEST["ids"], pieces.sum()).tolist()
        tokens.append({"id": 2 * i, "ids": ids, "word_of_subword": np.repeat(np.arange(len(pieces)), pieces).tolist()})
        columns = {name: random.integers(0, LARGEST.get(name, 5), len(pieces)).tolist() for name in SYNTAX.names[1:]}
        governors = random.integers(-2, len(pieces), len(pieces)).tolist()
        features = {**columns, "governor": governors, "parent_position": [value + 0.5 for value in governors]}
        missing = {name: [-2 if name == "governor" else 0] * len(pieces) for name in features}
        syntax.append({"id": 2 * i, **(features if random.random() < 0.7 else missing)})
    return tokens, syntax


def write_features(folder: Path, seed: int, count: int = 60) -> Path:
    random = np.random.default_rng(seed)
    for side in ("source", "target"):
        tokens, syntax = draw_side(random, count)
        write_rows(folder / f"train.{side}.parquet", TOKENS_SCHEMA, tokens)
        write_rows(folder / f"train.{side}.spacy.parquet", SYNTAX, syntax)
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """Feature files of several row groups."""
    monkeypatch.setattr("nmtcore.parquet.ROWS_PER_GROUP", 7)
    return write_features(tmp_path, 1)


def quiet(folder: Path, **options) -> Examples:
    return map_examples(folder, "train", **{"features": FEATURES, "log": lambda line: None, **options})


def assert_equal(actual: Examples, expected: Examples) -> None:
    """Compare ids and all columns, and their types, as they are and as batches take them."""
    rows = np.random.default_rng(2).permutation(len(expected))
    for a, b in ((actual, expected), (actual.take(rows), expected.take(rows))):
        assert a.id.tolist() == b.id.tolist()
        assert list(a.columns) == list(b.columns)
        for name, column in b.columns.items():
            assert a.columns[name].values.dtype == column.values.dtype, name
            assert a.columns[name].values.tolist() == column.values.tolist(), name
            assert a.columns[name].offsets.tolist() == column.offsets.tolist(), name


@pytest.mark.parametrize("stop", [None, 0, 33, 99])
@pytest.mark.parametrize("target", [True, False])
def test_mapped_examples_equal_loaded_ones(folder, stop, target):
    loaded = load_examples(folder, "train", features=FEATURES, target=target)
    examples = quiet(folder, stop=stop, target=target)
    assert_equal(examples, loaded if stop is None else loaded.first(stop))
    assert examples.source.subword_counts.tolist() == examples.source.ids.lengths.tolist()


def test_values_have_the_smallest_type_and_are_mapped_from_files(folder):
    source = quiet(folder).source
    types = {name: column.values.dtype.name for name, column in source.columns.items()}
    assert types == {
        "ids": "uint16", "word_of_subword": "uint8", "governor": "int8", "deprel": "uint8",
        "parent_position": "float32", "upos": "uint16", "xpos": "int32",
    }  # fmt: skip
    with pytest.raises(ValueError, match="read-only"):
        source.ids.values[0] = 1
    pages = [line.split()[1] for line in Path("/proc/self/maps").read_text().splitlines() if "/ids.values.npy" in line]
    assert pages
    assert set(pages) == {"r--s"}, "processes share the pages"


def test_columns_are_copied_once_and_others_when_they_are_needed(folder):
    messages = []
    for features in ({}, {}, {"source": {"trees": "spacy"}}, FEATURES, FEATURES):
        quiet(folder, features=features, log=messages.append)
    assert [line.partition(" of ")[0] for line in messages] == [
        *["Copying ids, word_of_subword"] * 2,
        "Copying governor, deprel, parent_position",
        "Copying upos, xpos",
    ]
    assert_equal(quiet(folder), load_examples(folder, "train", features=FEATURES))


def test_columns_of_changed_features_are_copied_again_and_the_old_ones_are_removed(folder):
    old = quiet(folder)
    expected = load_examples(folder, "train", features=FEATURES)
    write_features(folder, 2, count=40)
    assert_equal(quiet(folder), load_examples(folder, "train", features=FEATURES))
    assert_equal(old, expected)  # a process that trains keeps what it has mapped
    stems = sorted(path.stem for path in (folder / "mapped").iterdir())
    assert stems == ["train.source", "train.source.spacy", "train.target"]


def cut_header(path: Path) -> None:
    os.truncate(path, 50)


def cut_values(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def cut_an_entry(path: Path) -> None:
    np.save(path, np.load(path)[:-1])


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("ids.values", cut_header),
        ("ids.values", cut_values),
        ("word_of_subword.values", cut_an_entry),
        ("ids.offsets", cut_an_entry),
        ("ids.offsets", os.remove),
        ("id", os.remove),
        ("id", cut_values),
    ],
)
def test_damaged_files_are_made_again(folder, name, damage):
    quiet(folder)
    (copies,) = (folder / "mapped").glob("train.source.????????????????")
    damage(copies / f"{name}.npy")
    messages = []
    for _ in range(2):
        assert_equal(quiet(folder, log=messages.append), load_examples(folder, "train", features=FEATURES))
    assert len(messages) == 1
    assert f"Copying {name.partition('.')[0].replace('id', 'ids').replace('idss', 'ids')} of" in messages[0]


def test_too_little_space_is_noticed_before_copying(folder, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: namedtuple("usage", "total used free")(10, 9, 1))
    with pytest.raises(UserError, match=r"To map .*train\.source\.parquet .* 0\.0 GB are free: .*map_features_from: n"):
        quiet(folder)
    assert list(folder.glob("mapped/*/*")) == []


def test_files_that_cannot_be_written_are_still_used(folder, monkeypatch):
    expected = quiet(folder)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert_equal(quiet(folder), expected)
    shutil.rmtree(folder / "mapped")
    with pytest.raises(NotWritable, match=f"No permission to write in {folder}"):
        quiet(folder)


def test_processes_that_start_together_copy_once(folder, monkeypatch):
    """Locks are for processes, but hold for threads too."""
    monkeypatch.setattr(mapped, "locked", partial(mapped.locked, beat=0.02))
    messages, results = [], []
    threads = [threading.Thread(target=lambda: results.append(quiet(folder, log=messages.append))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("Copying" in line for line in messages) == 3
    assert len(results) == 4
    for examples in results:
        assert_equal(examples, load_examples(folder, "train", features=FEATURES))


def test_copying_takes_memory_for_a_few_row_groups(tmp_path):
    ids = pa.ListArray.from_arrays(np.arange(0, 120_001, 12, dtype=np.int32), np.arange(120_000, dtype=np.int32))
    words = pa.ListArray.from_arrays(ids.offsets, np.tile(np.arange(12, dtype=np.int32), 10_000))
    with row_writer(tmp_path / "train.source.parquet", TOKENS_SCHEMA) as writer:
        for start in range(0, 400_000, 10_000):
            rows = pa.array(np.arange(start, start + 10_000))
            writer.write_batch(pa.RecordBatch.from_arrays([rows, ids, words], schema=TOKENS_SCHEMA))

    def peak(read) -> float:
        tracemalloc.start()
        read()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / 1e6

    loaded = peak(lambda: load_examples(tmp_path, "train", target=False))
    copied = peak(lambda: quiet(tmp_path, features={}, target=False))
    opened = peak(lambda: quiet(tmp_path, features={}, target=False))
    assert 33 < loaded < 65, "12 * (4 + 1) bytes and 24 for each of 400,000 sentences, and a column more"
    assert copied < 15
    assert opened < 4, "blocks of rows are compared"


def draw_block(random: np.random.Generator, *, target: bool = True) -> Examples:
    """Draw examples, some of them empty, with tags among their subwords and one column of features per side."""
    count, sides = random.integers(0, 5), []
    for _ in range(2):
        lengths = random.integers(0, 4, count)
        ids, words, governors = (
            Ragged.from_lengths(random.integers(low, high, lengths.sum()).astype(np.int32), lengths)
            for low, high in ((5, 900), (NO_WORD, 9), (-2, 3))
        )
        sides.append(SideExamples(ids=ids, word_of_subword=words, features={"governor": governors}))
    return Examples(id=random.integers(-9, 9, count), source=sides[0], target=sides[1] if target else None)


def map_quietly(folder: Path, blocks: list[Examples]) -> Examples:
    return map_blocks(folder, list(blocks[0].columns), lambda: iter(blocks), log=lambda line: None)


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
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"mapped.{OTHER_KEY}", f"mapped.part.{KEY}"]


def test_nothing_appears_if_a_block_fails(tmp_path: Path):
    def blocks():
        yield draw_block(np.random.default_rng(0))
        raise ValueError("no more blocks")

    with pytest.raises(ValueError, match="no more blocks"):
        map_blocks(tmp_path / "mapped", ["source.ids"], blocks, log=lambda line: None)
    assert list((tmp_path / "mapped").iterdir()) == []


@pytest.mark.parametrize("moved", [0, 4, 9])
def test_files_of_a_killed_process_are_completed(tmp_path: Path, monkeypatch, moved):
    """A process that is killed while it moves files leaves only whole ones; the next one writes those that lack."""
    blocks, calls, replace = [draw_block(np.random.default_rng(5)) for _ in range(2)], [], os.replace

    def replace_some(*paths: Path) -> None:
        if len(calls) == moved:
            os.kill(os.getpid(), signal.SIGKILL)
        calls.append(replace(*paths))

    monkeypatch.setattr(mapped.os, "replace", replace_some)
    folder, columns, messages = tmp_path / f"mapped.{KEY}", list(blocks[0].columns), []
    process = get_context("fork").Process(target=map_quietly, args=(folder, blocks))
    process.start()
    process.join()
    monkeypatch.undo()
    assert process.exitcode == -signal.SIGKILL
    assert len(list(folder.glob("*.npy"))) == moved
    assert_equal(map_blocks(folder, columns, lambda: iter(blocks), log=messages.append), concatenate(blocks))
    assert "is gone: taking over" in messages[0], "without waiting, which is the other message"
    assert {path.suffix for path in folder.iterdir()} == {".npy"}
