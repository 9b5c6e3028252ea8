"""Mapped examples equal loaded ones; their files are made once, and again if anything is wrong with them."""

import errno
import os
import shutil
import threading
import tracemalloc
from collections import namedtuple
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nmtcore.errors import UserError
from nmtcore.features import mapped
from nmtcore.features.examples import concatenate, load_examples
from nmtcore.features.mapped import NotWritable, hash_once, map_examples
from nmtcore.features.mapped_arrays import HEADER_BYTES, ArrayWriter, array_writer, open_array
from nmtcore.features.ragged import Ragged
from nmtcore.features.schema import TOKENS_SCHEMA, syntax_schema
from nmtcore.parquet import row_writer, write_rows

SYNTAX = syntax_schema(("trees", "pos_tags"))
FEATURES = {"source": {"trees": "spacy", "pos_tags": "spacy"}}
LARGEST = {"ids": 40_000, "upos": 300, "xpos": 2**20}
"""Upper limits of drawn values that need types of different sizes; 5 for all others."""


def draw_side(random: np.random.Generator, count: int) -> tuple[list[dict], list[dict]]:
    """Draw the rows of a file of tokens and of one of features; some sentences are empty, some have no features."""
    tokens, syntax = [], []
    for i in range(count):
        pieces = random.integers(1, 3, random.integers(0, 6))
        ids = random.integers(5, LARGEST["ids"], pieces.sum()).tolist()
        tokens.append({"id": 2 * i, "ids": ids, "word_of_subword": np.repeat(np.arange(len(pieces)), pieces).tolist()})
        has_features = random.random() < 0.7
        columns = {name: random.integers(0, LARGEST.get(name, 5), len(pieces)).tolist() for name in SYNTAX.names[1:]}
        governors = random.integers(-2, len(pieces), len(pieces)).tolist()
        features = {**columns, "governor": governors, "parent_position": [value + 0.5 for value in governors]}
        missing = {name: [-2 if name == "governor" else 0] * len(pieces) for name in features}
        syntax.append({"id": 2 * i, **(features if has_features else missing)})
    return tokens, syntax


def write_features(folder: Path, seed: int, count: int = 60, split: str = "train") -> Path:
    random = np.random.default_rng(seed)
    for side in ("source", "target"):
        tokens, syntax = draw_side(random, count)
        write_rows(folder / f"{split}.{side}.parquet", TOKENS_SCHEMA, tokens)
        write_rows(folder / f"{split}.{side}.spacy.parquet", SYNTAX, syntax)
    return folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    """Feature files of several row groups."""
    monkeypatch.setattr("nmtcore.parquet.ROWS_PER_GROUP", 7)
    return write_features(tmp_path, 1)


def quiet(folder: Path, **options):
    return map_examples(folder, "train", **{"features": FEATURES, "log": lambda line: None, **options})


def same(first: Ragged, second: Ragged) -> bool:
    return (
        first.values.dtype == second.values.dtype
        and np.array_equal(first.values, second.values)
        and np.array_equal(first.offsets, second.offsets)
    )


def assert_equal(actual, expected) -> None:
    """Compare all sentences, as batches take them."""
    rows = np.random.default_rng(2).permutation(len(expected))
    assert len(actual) == len(expected)
    a, b = actual.take(rows), expected.take(rows)
    assert np.array_equal(a.id, b.id)
    for side in ("source", "target"):
        first, second = getattr(a, side), getattr(b, side)
        if second is None:
            assert first is None
            continue
        assert same(first.ids, second.ids)
        assert same(first.word_of_subword, second.word_of_subword)
        assert first.features.keys() == second.features.keys()
        assert all(same(first.features[name], second.features[name]) for name in second.features)


def files_of(folder: Path) -> dict[str, int]:
    return {str(p.relative_to(folder)): p.stat().st_mtime_ns for p in (folder / "mapped").rglob("*") if p.is_file()}


@pytest.mark.parametrize("stop", [None, 0, 1, 33, 60, 99])
@pytest.mark.parametrize("target", [True, False])
def test_mapped_examples_equal_loaded_ones(folder, stop, target):
    loaded = load_examples(folder, "train", features=FEATURES, stop=stop, target=target)
    examples = quiet(folder, stop=stop, target=target)
    assert_equal(examples, loaded)
    assert_equal(concatenate([examples, examples]), concatenate([loaded, loaded]))
    for actual, expected in ((examples.source, loaded.source), (examples.target, loaded.target))[: 1 + target]:
        assert actual.word_counts.tolist() == expected.word_counts.tolist()
        assert actual.subword_counts.tolist() == expected.subword_counts.tolist()
        for name, column in expected.features.items():
            for value in (-2, -1, 0, 1):
                counts = actual.features[name].count_other_values(value)
                assert counts.tolist() == column.count_other_values(value).tolist()


def test_values_have_the_smallest_type_and_are_mapped_from_files(folder):
    source = quiet(folder).source
    types = {name: column.values.dtype for name, column in source.features.items()}
    expected = {"governor": "int8", "deprel": "uint8", "parent_position": "float32", "upos": "uint16", "xpos": "int32"}
    assert types == {name: np.dtype(dtype) for name, dtype in expected.items()}
    assert (source.ids.values.dtype, source.word_of_subword.values.dtype) == (np.uint16, np.uint8)
    with pytest.raises(ValueError, match="read-only"):
        source.ids.values[0] = 1
    shared = [line for line in Path("/proc/self/maps").read_text().splitlines() if "train.source/ids.values" in line]
    assert shared
    assert all(line.split()[1] == "r--s" for line in shared), "processes share the pages"


def test_columns_are_copied_once_and_others_when_they_are_needed(folder):
    messages = []
    map_examples(folder, "train", log=messages.append)
    assert [line.partition(" of ")[0] for line in messages] == ["Copying ids, word_of_subword"] * 2
    before = files_of(folder)
    map_examples(folder, "train", log=messages.append)
    assert files_of(folder) == before
    assert len(messages) == 2
    map_examples(folder, "train", features={"source": {"trees": "spacy"}}, log=messages.append)
    quiet(folder, log=messages.append)
    assert [line.partition(" of ")[0] for line in messages[2:]] == [
        "Copying governor, deprel, parent_position",
        "Copying upos, xpos",
    ]
    assert {name: files_of(folder)[name] for name in before} == before
    assert_equal(quiet(folder), load_examples(folder, "train", features=FEATURES))


def test_columns_of_changed_features_are_copied_again(folder):
    old = quiet(folder)
    expected = load_examples(folder, "train", features=FEATURES)
    write_features(folder, 2, count=40)
    quiet(folder, features={"source": {"trees": "spacy"}})
    names = {name.rpartition("/")[2].partition(".")[0] for name in files_of(folder) if "train.source.spacy" in name}
    assert names == {"id", "governor", "deprel", "parent_position"}, "columns of the old features are removed"
    assert_equal(quiet(folder), load_examples(folder, "train", features=FEATURES))
    assert_equal(old, expected)  # a process that trains keeps what it has mapped


def test_a_new_source_is_compared_with_an_old_target(folder):
    quiet(folder)
    tokens, _ = draw_side(np.random.default_rng(5), 59)
    write_rows(folder / "train.source.parquet", TOKENS_SCHEMA, tokens)
    with pytest.raises(UserError, match=r"train\.source\.parquet has 59 rows, but .*train\.target\.parquet has 60"):
        quiet(folder, features={})


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def append(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(b"x")


def change_header(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[content.index(b'"count": ') + 9] ^= 1
    path.write_bytes(content)


def cut_in_header(path: Path) -> None:
    os.truncate(path, 100)


def fall(path: Path) -> None:
    with open(path, "rb+") as file:
        file.seek(HEADER_BYTES + 8 * 5)
        file.write((10**6).to_bytes(8, "little"))


def flip_a_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[HEADER_BYTES + (len(data) - HEADER_BYTES) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("ids.values", flip_a_bit),
        ("ids.offsets", flip_a_bit),
        ("id.values", flip_a_bit),
        ("ids.values", truncate),
        ("ids.values", append),
        ("ids.offsets", change_header),
        ("ids.offsets", fall),
        ("word_of_subword.values", cut_in_header),
        ("id.values", os.remove),
        ("id.values", truncate),
    ],
)
def test_damaged_files_are_made_again(folder, name, damage):
    quiet(folder)
    path, messages = folder / "mapped/train.source" / name, []
    damage(path)
    assert_equal(quiet(folder, log=messages.append), load_examples(folder, "train", features=FEATURES))
    assert len(messages) == 1
    assert "mapped/train.source," in messages[0]
    quiet(folder, log=messages.append)
    assert len(messages) == 1


def test_no_file_appears_if_copying_fails(folder, monkeypatch):
    def fail(self, values):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ArrayWriter, "append", fail)
    with pytest.raises(UserError, match=r"The disk that holds .*train\.source.* is full: free some space"):
        quiet(folder)
    monkeypatch.undo()
    assert files_of(folder) == {}
    assert not list((folder / "mapped/train.source").iterdir())
    assert_equal(quiet(folder), load_examples(folder, "train", features=FEATURES))


def test_too_little_space_is_noticed_before_copying(folder, monkeypatch):
    usage = namedtuple("usage", "total used free")(10, 9, 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(
        UserError, match=r"To map .*train\.source\.parquet .* 0\.0 GB are free: .* map_features_from: null"
    ):
        quiet(folder)
    assert files_of(folder) == {}


def test_files_that_cannot_be_written_are_still_used(folder, monkeypatch):
    expected = quiet(folder)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert_equal(quiet(folder), expected)
    shutil.rmtree(folder / "mapped")
    with pytest.raises(NotWritable, match=f"No permission to write in {folder}"):
        quiet(folder)


def test_processes_that_start_together_copy_once(folder, monkeypatch):
    """Locks are for processes, but hold for threads too."""
    made, make = [], mapped._make_arrays
    monkeypatch.setattr(mapped, "_make_arrays", lambda path, *rest: made.append(path.name) or make(path, *rest))
    monkeypatch.setattr(mapped, "locked", partial(mapped.locked, beat=0.02))
    results = []
    threads = [threading.Thread(target=lambda: results.append(quiet(folder))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == ["train.source.parquet", "train.source.spacy.parquet", "train.target.parquet"]
    for examples in results:
        assert_equal(examples, load_examples(folder, "train", features=FEATURES))
    assert len(results) == 4


def test_copying_takes_memory_for_a_few_row_groups(tmp_path):
    lengths = np.full(10_000, 12)
    ids = pa.ListArray.from_arrays(
        np.arange(0, 120_001, 12, dtype=np.int32), pa.array(np.arange(120_000, dtype=np.int32))
    )
    words = pa.ListArray.from_arrays(ids.offsets, pa.array(np.tile(np.arange(12, dtype=np.int32), len(lengths))))
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
    assert loaded > 400_000 * 12 * 8 / 1e6
    assert copied < 15
    assert opened < 1


def test_hashes_are_remembered_until_features_change(folder):
    read = []

    def hash_file(path: Path) -> str:
        read.append(path.name)
        return f"hash of {path.stat().st_size} bytes"

    path = folder / "train.source.parquet"
    assert hash_once(path, hash_file) == hash_once(path, hash_file)
    assert len(read) == 2, "the hashes of features that are not mapped are not remembered"
    quiet(folder)
    first = {hash_once(path, hash_file) for _ in range(3)}
    assert (len(first), len(read)) == (1, 3)
    write_features(folder, 3, count=11)
    assert hash_once(path, hash_file) not in first
    (folder / "mapped/train.source/hash.json").write_text("[]")
    assert hash_once(path, hash_file) not in first
    assert len(read) == 5


@pytest.mark.parametrize("count", [0, 3])
def test_arrays_of_any_length_are_written(tmp_path, count):
    with array_writer(tmp_path / "a", np.float32, "key") as writer:
        for _ in range(2):
            writer.append(np.arange(count) + 0.5)
    assert open_array(tmp_path / "a", "key").tolist() == [value + 0.5 for value in range(count)] * 2
    assert open_array(tmp_path / "a", "other") is None
    assert open_array(tmp_path / "b", "key") is None
    with (
        pytest.raises(ValueError, match="values that uint8 does not have"),
        array_writer(tmp_path / "b", np.uint8, "key") as writer,
    ):
        writer.append(np.array([255, 256]))
    assert not (tmp_path / "b").exists()
