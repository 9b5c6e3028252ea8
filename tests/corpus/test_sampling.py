"""Samples of rows: exactly so many, in order, the same for a seed, and every row as likely as another."""

import gzip
import itertools
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nmtcore.config.corpora import PartSettings
from nmtcore.corpus import read, sampling
from nmtcore.corpus.sampling import draw_sample
from nmtcore.errors import LineError, UserError


@given(data=st.data(), population=st.integers(0, 60), block=st.integers(1, 25), seed=st.integers(0, 99))
def test_a_sample_is_an_ordered_subset_that_its_seed_determines(data, population, block, seed):
    size = data.draw(st.integers(0, population))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "BLOCK", block)
        drawn = list(draw_sample(population, size, seed=seed))
        assert list(draw_sample(population, size, seed=seed)) == drawn
    assert len(drawn) == size
    assert drawn == sorted(set(drawn))
    assert set(drawn) <= set(range(population))


@pytest.mark.parametrize("block", [2, 3, 5, 100])
def test_every_set_is_equally_likely(block, monkeypatch):
    monkeypatch.setattr(sampling, "BLOCK", block)
    draws = 6000
    seen = Counter(tuple(draw_sample(5, 2, seed=seed)) for seed in range(draws))
    sets = list(itertools.combinations(range(5), 2))
    assert set(seen) == set(sets)
    expected = draws / len(sets)
    # 9 degrees of freedom: above 35 with a probability below 10^-4; the seeds are fixed, so this never wavers.
    assert sum((seen[each] - expected) ** 2 / expected for each in sets) < 35


def test_another_seed_is_another_sample_over_several_blocks(monkeypatch):
    monkeypatch.setattr(sampling, "BLOCK", 1000)
    one, two = (list(draw_sample(10_000, 500, seed=seed)) for seed in (1, 2))
    assert one != two
    assert all(any(first <= number < first + 1000 for number in one) for first in range(0, 10_000, 1000))


def lines(count: int) -> str:
    return "".join(f"{number}\n" for number in range(1, count + 1))


def dataset(bench, corpus, **part):
    splits = {"train": (PartSettings(corpus="c", **part),), "dev": (PartSettings(corpus="c"),)}
    return bench.dataset(corpus, splits=splits, main_test="dev")


@given(
    count=st.integers(1, 40), first=st.integers(1, 40), length=st.none() | st.integers(1, 40),
    sample=st.integers(1, 40),
    chunk=st.integers(1, 7),
)  # fmt: skip
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_ids_count_sampled_rows_and_origins_keep_their_numbers(bench, monkeypatch, count, first, length, sample, chunk):
    monkeypatch.setattr(read, "ROWS_PER_CHUNK", chunk)
    last = None if length is None else first + length - 1
    corpus = bench.corpus("copied", text=bench.file("mono", lines(count)))
    wanted = dataset(bench, corpus, first=first, last=last, sample=sample)
    there = range(first, (last or count) + 1)
    if first > count or (last or 0) > count or len(there) < sample:
        with pytest.raises(UserError, match=r"asks for"):
            bench.read(wanted)
        return
    rows, report = bench.read(wanted)
    numbers = [there[number] for number in draw_sample(len(there), sample, seed=1)]
    assert [row["id"] for row in rows] == list(range(sample))
    assert [row["origin"] for row in rows] == [f"c:{number}" for number in numbers]
    assert [(row["source"], row["target"]) for row in rows] == [(str(number),) * 2 for number in numbers]
    assert report["pairs"] == sample


def test_the_seed_of_a_part_is_the_seed_of_its_sample(bench):
    corpus = bench.corpus("copied", text=bench.file("mono", lines(99)))
    for seed in (1, 2):
        rows, _ = bench.read(dataset(bench, corpus, sample=9, seed=seed))
        assert [int(row["source"]) - 1 for row in rows] == list(draw_sample(99, 9, seed=seed))


def test_too_few_rows_are_a_sentence(bench):
    corpus = bench.corpus("copied", text=bench.file("mono", lines(9)))
    with pytest.raises(
        UserError, match=r"splits\.train asks for a sample of 4 rows of 'c', but .* only 3 from row 7 on"
    ):
        bench.read(dataset(bench, corpus, first=7, sample=4))
    with pytest.raises(UserError, match=r"only 2 from row 7 to 8"):
        bench.read(dataset(bench, corpus, first=7, last=8, sample=4))


def test_files_that_do_not_fit_are_seen_beyond_the_sample(bench):
    with pytest.raises(UserError, match=r"has 9 lines.*has 8"):
        bench.read(dataset(bench, bench.plain(lines(9), lines(8)), last=4, sample=2))


def test_a_bad_row_is_bad_only_where_it_is_drawn(bench):
    text = bench.file("mono", gzip.compress(b"\xff\n" * 5 + lines(5).encode() + b"\xff\n" * 5))
    corpus = bench.corpus("copied", text=text)
    rows, _ = bench.read(dataset(bench, corpus, first=6, last=10, sample=3))
    assert len(rows) == 3
    with pytest.raises(LineError, match=r"mono, line \d+: is not valid UTF-8"):
        bench.read(dataset(bench, corpus, sample=12))


def test_a_corpus_that_shrinks_between_the_passes_is_a_sentence(bench, monkeypatch):
    corpus = bench.corpus("copied", text=bench.file("mono", lines(9)))

    def shrinking(*args, **kwargs):
        bench.file("mono", lines(3))
        return iter([1, 7])

    monkeypatch.setattr(read, "draw_sample", shrinking)
    with pytest.raises(UserError, match="the files of 'c' became shorter"):
        bench.read(dataset(bench, corpus, sample=2))


def test_more_rows_than_can_be_sampled_are_a_sentence(bench, monkeypatch):
    monkeypatch.setattr(read, "MAX_POPULATION", 9)
    corpus = bench.corpus("copied", text=bench.file("mono", lines(9)))
    with pytest.raises(UserError, match="at most 8 are possible"):
        bench.read(dataset(bench, corpus, sample=2))
