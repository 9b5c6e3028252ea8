"""Samples of rows: size, order, dependence on the seed, and uniformity."""

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
def test_a_sample_is_an_ordered_subset_determined_by_its_seed(data, population, block, seed):
    size = data.draw(st.integers(0, population))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "BLOCK", block)
        drawn = list(draw_sample(population, size, seed=seed))
        assert list(draw_sample(population, size, seed=seed)) == drawn
    assert len(drawn) == size
    assert drawn == sorted(set(drawn))
    assert set(drawn) <= set(range(population))


@pytest.mark.parametrize("block", [2, 100])
def test_all_subsets_are_equally_likely(block, monkeypatch):
    monkeypatch.setattr(sampling, "BLOCK", block)
    draws = 6000
    seen = Counter(tuple(draw_sample(5, 2, seed=seed)) for seed in range(draws))
    sets = list(itertools.combinations(range(5), 2))
    assert set(seen) == set(sets)
    expected = draws / len(sets)
    # 9 degrees of freedom: the probability of a value above 35 is below 10^-4. The seeds are fixed.
    assert sum((seen[subset] - expected) ** 2 / expected for subset in sets) < 35


def test_another_seed_gives_another_sample_from_all_blocks(monkeypatch):
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
    sampled_dataset = dataset(bench, corpus, first=first, last=last, sample=sample)
    candidates = range(first, (last or count) + 1)
    if first > count or (last or 0) > count or len(candidates) < sample:
        with pytest.raises(UserError, match=r"asks for"):
            bench.read(sampled_dataset)
        return
    rows, report = bench.read(sampled_dataset)
    numbers = [candidates[number] for number in draw_sample(len(candidates), sample, seed=1)]
    assert [row["id"] for row in rows] == list(range(sample))
    assert [row["origin"] for row in rows] == [f"c:{number}" for number in numbers]
    assert [(row["source"], row["target"]) for row in rows] == [(str(number),) * 2 for number in numbers]
    assert report["pairs"] == sample


def test_a_part_is_sampled_with_its_seed(bench):
    corpus = bench.corpus("copied", text=bench.file("mono", lines(99)))
    for seed in (1, 2):
        rows, _ = bench.read(dataset(bench, corpus, sample=9, seed=seed))
        assert [int(row["source"]) - 1 for row in rows] == list(draw_sample(99, 9, seed=seed))


def test_too_few_rows_raise_user_error(bench):
    corpus = bench.corpus("copied", text=bench.file("mono", lines(9)))
    with pytest.raises(
        UserError, match=r"splits\.train asks for a sample of 4 rows of 'c', but .* only 3 from row 7 on"
    ):
        bench.read(dataset(bench, corpus, first=7, sample=4))
    with pytest.raises(UserError, match=r"only 2 from row 7 to 8"):
        bench.read(dataset(bench, corpus, first=7, last=8, sample=4))


def test_unequal_files_are_detected_beyond_the_sample(bench):
    with pytest.raises(UserError, match=r"has 9 lines.*has 8"):
        bench.read(dataset(bench, bench.plain(lines(9), lines(8)), last=4, sample=2))


def test_a_bad_row_raises_only_if_it_is_sampled(bench):
    text = bench.file("mono", gzip.compress(b"\xff\n" * 5 + lines(5).encode() + b"\xff\n" * 5))
    corpus = bench.corpus("copied", text=text)
    rows, _ = bench.read(dataset(bench, corpus, first=6, last=10, sample=3))
    assert len(rows) == 3
    with pytest.raises(LineError, match=r"mono, line \d+: is not valid UTF-8"):
        bench.read(dataset(bench, corpus, sample=12))


def test_a_corpus_that_shrinks_between_passes_raises_user_error(bench, monkeypatch):
    corpus = bench.corpus("copied", text=bench.file("mono", lines(9)))

    def shrinking(*args, **kwargs):
        bench.file("mono", lines(3))
        return iter([1, 7])

    monkeypatch.setattr(read, "draw_sample", shrinking)
    with pytest.raises(UserError, match="the files of 'c' became shorter"):
        bench.read(dataset(bench, corpus, sample=2))


def test_too_large_a_population_raises_user_error(bench, monkeypatch):
    monkeypatch.setattr(read, "MAX_POPULATION", 9)
    corpus = bench.corpus("copied", text=bench.file("mono", lines(9)))
    with pytest.raises(UserError, match="at most 8 are possible"):
        bench.read(dataset(bench, corpus, sample=2))
