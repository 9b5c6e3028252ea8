"""Filters against brute force: which pairs are dropped, and under which name they are counted."""

import errno
import os
import signal

import numpy as np
import pytest
from full_disk import largest_file
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore.config.filters import DuplicatesSettings, EmptySettings, HeldOutSettings, LengthSettings, RatioSettings
from nmtcore.corpus.filters import duplicates
from nmtcore.errors import UserError

ALL = (
    EmptySettings(),
    LengthSettings(least=1, most=4),
    RatioSettings(most=2.0),
    DuplicatesSettings(),
    HeldOutSettings(),
)


def fill(bench, **splits: list[tuple[str, str]]):
    """Read pairs into the raw files of a data set's splits; return the data set."""
    for split, pairs in splits.items():
        source, target = ("".join(text + "\n" for text in side) for side in zip(*pairs, strict=True))
        dataset = bench.dataset(bench.plain(source, target))
        bench.read(dataset, split)
    return dataset


def brute_force(pairs: list, held_out: list, order: tuple) -> tuple[list[int], dict[str, int]]:
    """Apply the filters one after the other, each to all pairs that the previous filters kept."""
    split = [(tuple(source.split()), tuple(target.split())) for source, target in pairs]
    others = {(tuple(source.split()), tuple(target.split())) for source, target in held_out}
    rows, counts = list(range(len(pairs))), {}
    for filter_settings in order:
        kept, seen = [], set()
        for row in rows:
            kept += [] if drops(filter_settings, split[row], seen, others) else [row]
            seen.add(split[row])
        name = {
            EmptySettings: "empty",
            LengthSettings: "length",
            RatioSettings: "ratio",
            DuplicatesSettings: "duplicates",
            HeldOutSettings: "held_out",
        }
        counts[name[type(filter_settings)]] = len(rows) - len(kept)
        rows = kept
    return rows, counts


def drops(filter_settings, pair: tuple, seen: set, others: set) -> bool:
    short, long = sorted(map(len, pair))
    match filter_settings:
        case EmptySettings():
            return short == 0
        case LengthSettings():
            return short < filter_settings.least or long > filter_settings.most
        case RatioSettings():
            return long > filter_settings.most * short
        case DuplicatesSettings():
            return pair in seen
        case HeldOutSettings():
            return pair in others


SENTENCES = st.lists(st.sampled_from("ab"), max_size=5).map(" ".join)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=60)


@given(pairs=PAIRS, others=PAIRS, order=st.permutations(ALL), budget=st.sampled_from([1 << 20, 1000, 1]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_filters_match_brute_force(bench, pairs, others, order, budget):
    dataset = fill(bench, dev=others, train=pairs)
    rows, counts = brute_force(pairs, others, order)
    dataset = bench.dataset(dataset.corpora["c"], filters=tuple(order))
    if not rows:
        with pytest.raises(UserError, match="drop all"):
            bench.filter(dataset, budget_bytes=budget)
        return
    kept, report = bench.filter(dataset, budget_bytes=budget)
    assert [row["id"] for row in kept] == rows
    assert [(row["source"], row["target"]) for row in kept] == [pairs[row] for row in rows]
    facts = {"pairs": len(pairs), "kept": len(rows), "dropped": counts}
    assert report == {**facts, "corpora": {"c": facts}}
    assert sorted(path.name for path in (bench.folder / "corpus").iterdir()) == ["train.json", "train.parquet"]


def test_only_train_is_filtered(bench):
    dataset = fill(bench, train=[("a", "b")], dev=[("a", "b"), ("", ""), ("a", "b")])
    kept, report = bench.filter(bench.dataset(dataset.corpora["c"], filters=ALL), "dev")
    assert len(kept) == 3
    facts = {"pairs": 3, "kept": 3, "dropped": {}}
    assert report == {**facts, "corpora": {"c": facts}}


def test_word_and_side_boundaries_distinguish_pairs(bench):
    """A hash without word and side boundaries would take these pairs for equal."""
    pairs = [("a b", "c"), ("a", "b c"), ("ab", "c"), ("a b c", ""), ("", "a b c"), ("a", "bc")]
    dataset = fill(bench, train=pairs)
    kept, _ = bench.filter(bench.dataset(dataset.corpora["c"], filters=(DuplicatesSettings(),)))
    assert len(kept) == len(pairs)


def test_pairs_are_compared_by_words_not_text(bench):
    dataset = fill(bench, train=[("a  b", "c "), ("a b", "c")])
    kept, _ = bench.filter(bench.dataset(dataset.corpora["c"], filters=(DuplicatesSettings(),)))
    assert [row["source"] for row in kept] == ["a  b"]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=50))
def test_repeated_rows_are_all_but_the_first(hashes):
    records = np.array([(high, low, row) for row, (high, low) in enumerate(hashes)], dtype=duplicates.RECORD)
    expected = [row for row, pair in enumerate(hashes) if pair in hashes[:row]]
    assert sorted(duplicates.repeated_rows(records).tolist()) == expected


def test_buckets_on_disk_give_the_same_result_as_memory(bench, shared):
    names = [shared / "data" / "multi30k" / f"train.{language}" for language in ("de", "en")]
    source, target = (b"".join(name.read_bytes().splitlines(True)[:6000]) * 2 for name in names)
    corpus = bench.plain(source, target)
    dataset = bench.dataset(corpus, filters=(DuplicatesSettings(),))
    bench.read(dataset)
    kept, report = bench.filter(dataset)
    on_disk, report_on_disk = bench.filter(dataset, budget_bytes=50_000)
    assert kept == on_disk
    assert report == report_on_disk
    assert report["kept"] <= 6000


def test_buckets_of_killed_processes_are_deleted(bench):
    dataset = fill(bench, train=[("a", "b")] * 50)
    dataset = bench.dataset(dataset.corpora["c"], filters=(DuplicatesSettings(),))
    killed = os.fork()
    if killed == 0:
        try:
            duplicates.Filter._spill = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
            bench.filter(dataset, budget_bytes=1)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(killed, 0)[1]) == -signal.SIGKILL
    assert list(bench.folder.rglob("*.partial"))
    bench.filter(dataset, budget_bytes=1)
    assert not list(bench.folder.rglob("*.partial"))


def test_a_full_disk_while_writing_buckets_raises_user_error(bench, monkeypatch):
    def full(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    dataset = fill(bench, train=[("a", "b")] * 50)
    dataset = bench.dataset(dataset.corpora["c"], filters=(DuplicatesSettings(),))
    monkeypatch.setattr(duplicates.Filter, "_spill", full)
    with pytest.raises(UserError, match="is full"):
        bench.filter(dataset, budget_bytes=1)


def test_buckets_that_cannot_grow_raise_user_error(bench):
    dataset = fill(bench, train=[("a", "b")] * 50)
    dataset = bench.dataset(dataset.corpora["c"], filters=(DuplicatesSettings(),))
    with pytest.raises(UserError, match="would exceed the largest file size"), largest_file(10):
        bench.filter(dataset, budget_bytes=1)
    assert not list(bench.folder.rglob("*.partial"))


def test_a_file_in_place_of_the_folder_raises_user_error(bench):
    dataset = fill(bench, train=[("a", "b")])
    (bench.folder / "corpus").write_text("in the way")
    with pytest.raises(UserError, match="file"):
        bench.filter(bench.dataset(dataset.corpora["c"], filters=(DuplicatesSettings(),)), budget_bytes=1)


def test_length_and_held_out_filters_on_multi30k(bench, shared):
    texts = [(shared / "data" / "multi30k" / f"val.{language}").read_bytes() for language in ("cs", "en")]
    dataset = bench.dataset(bench.plain(*texts), filters=(LengthSettings(most=20), HeldOutSettings()))
    rows, _ = bench.read(dataset)
    kept, report = bench.filter(dataset)
    long = sum(max(len(row["source_words"]), len(row["target_words"])) > 20 for row in rows)
    assert report["dropped"] == {"length": long, "held_out": 0}
    assert all(max(len(row["source_words"]), len(row["target_words"])) <= 20 for row in kept)
