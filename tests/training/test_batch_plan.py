"""Batches, micro-batches and validation batches cover all pairs within their size."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.training import BatchSettings
from nmtcore.features.arrays import compact_lengths
from nmtcore.training.batch_plan import Lengths, micro_batches, plan_epoch, rows_within_length, validation_batches

pairs = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=200)
batch_settings = st.builds(
    BatchSettings,
    unit=st.sampled_from(["tokens", "sentences"]),
    size=st.integers(1, 200),
    pool=st.integers(1, 5),
    device_size=st.none() | st.integers(1, 200),
)


def lengths_of(sizes: list[tuple[int, int]]) -> Lengths:
    source, target = np.array(sizes).T
    return Lengths(source=source, target=target)


def size(rows: np.ndarray, lengths: Lengths, unit: str) -> int:
    """Compute the size of a batch, pair by pair."""
    if unit == "sentences":
        return len(rows)
    return len(rows) * max(max(int(lengths.source[i]), int(lengths.target[i])) for i in rows)


@given(pairs, batch_settings, st.integers(0, 5), st.integers(0, 5))
def test_every_pair_is_in_one_batch_and_no_batch_is_too_large(sizes, settings, seed, epoch):
    lengths = lengths_of(sizes)
    kept = rows_within_length(lengths.source - 1, lengths.target - 1, max_length=20)
    assert kept.tolist() == [i for i, (a, b) in enumerate(sizes) if a <= 21 and b <= 21]
    plan = plan_epoch(lengths, kept, settings, seed=seed, epoch=epoch)
    batches = [plan[step] for step in range(len(plan))]
    assert sorted(row for batch in batches for row in batch) == kept.tolist()
    for batch in batches:
        assert len(batch) == 1 or size(batch, lengths, settings.unit) <= settings.size
        order = [(lengths.longer[row], lengths.shorter[row]) for row in batch]
        assert order == sorted(order)


@given(pairs, batch_settings, st.integers(1, 4))
def test_every_pair_of_a_batch_goes_to_one_device(sizes, settings, world_size):
    lengths = lengths_of(sizes)
    plan = plan_epoch(lengths, np.arange(len(sizes)), settings, seed=1, epoch=0)
    for step in range(len(plan)):
        parts = [
            micro_batches(plan[step], lengths, settings, rank=rank, world_size=world_size) for rank in range(world_size)
        ]
        pieces = [piece for part in parts for piece in part]
        assert sorted(row for piece in pieces for row in piece) == sorted(plan[step])
        counts = [sum(len(piece) for piece in part) for part in parts]
        assert max(counts) - min(counts) <= 1
        for piece in pieces:
            assert len(piece) == 1 or size(piece, lengths, settings.unit) <= (settings.device_size or settings.size)


def test_devices_get_every_nth_pair_in_micro_batches_of_their_size():
    longer = np.array([2, 3, 3, 4, 5, 5, 6, 7, 8, 9])
    lengths = Lengths(source=longer, target=longer - 1)
    settings = BatchSettings(size=90, device_size=12)
    parts = [micro_batches(np.arange(10), lengths, settings, rank=rank, world_size=3) for rank in range(3)]
    assert [[piece.tolist() for piece in part] for part in parts] == [[[0, 3], [6], [9]], [[1, 4], [7]], [[2, 5], [8]]]


def plain_plan(
    lengths: Lengths, kept: np.ndarray, settings: BatchSettings, *, seed: int, epoch: int
) -> list[list[int]]:
    """Plan an epoch with 64-bit arrays over all pairs, and cut pools into batches pair by pair."""
    generator = np.random.default_rng((seed, epoch))
    longer, shorter = lengths.longer.tolist(), lengths.shorter.tolist()
    rows = generator.permutation(kept.astype(np.int64)).tolist()
    total = len(rows) if settings.unit == "sentences" else sum(longer[row] for row in rows)
    per_pool = max(1, round(settings.pool * (settings.size * len(rows) / max(1, total))))
    batches: list[list[int]] = []
    for start in range(0, len(rows), per_pool):
        batches.append([])
        for row in sorted(rows[start : start + per_pool], key=lambda row: (longer[row], shorter[row])):
            each = 1 if settings.unit == "sentences" else longer[row]
            if batches[-1] and (len(batches[-1]) + 1) * each > settings.size:
                batches.append([])
            batches[-1].append(row)
    return [batches[i] for i in generator.permutation(len(batches))]


@pytest.mark.parametrize("dtype", [np.uint16, np.int64])
@given(pairs, batch_settings, st.integers(0, 5), st.integers(0, 5))
def test_plans_in_32_bits_equal_plain_plans(dtype, sizes, settings, seed, epoch):
    lengths = lengths_of(sizes)
    kept = rows_within_length(lengths.source, lengths.target, max_length=20)
    if not len(kept):
        return
    compact = Lengths(source=lengths.source.astype(dtype), target=lengths.target.astype(dtype))
    plan = plan_epoch(compact, kept, settings, seed=seed, epoch=epoch)
    assert plan.rows.dtype == kept.dtype == np.uint32
    planned = [plan[step].tolist() for step in range(len(plan))]
    assert planned == plain_plan(lengths, kept, settings, seed=seed, epoch=epoch)


def test_a_plan_of_many_pools_equals_the_plain_plan():
    """Also over blocks of rows (`features.arrays`), and with lengths beyond 16 bits."""
    random = np.random.default_rng(5)
    sizes = random.integers(1, 60, (230_000, 2))
    sizes[100] = 70_000
    offsets = np.concatenate([[0], np.cumsum(sizes[:, 0])])
    for count, dtype in ((100, np.uint16), (len(sizes), np.int64)):
        source = compact_lengths(offsets[: count + 1], added=2)
        assert source.dtype == dtype
        assert np.array_equal(source, sizes[:count, 0] + 2)
    lengths = Lengths(source=source, target=sizes[:, 1])
    kept = rows_within_length(lengths.source, lengths.target, max_length=50)
    assert np.array_equal(kept, np.flatnonzero((sizes[:, 0] <= 48) & (sizes[:, 1] <= 50)))
    settings = BatchSettings(size=4000, pool=20)
    plan = plan_epoch(lengths, kept, settings, seed=3, epoch=1)
    assert [plan[step].tolist() for step in range(len(plan))] == plain_plan(lengths, kept, settings, seed=3, epoch=1)


def test_a_batch_has_as_many_pairs_as_fit():
    lengths = lengths_of([(5, 4)] * 8 + [(6, 6)] * 4)
    plan = plan_epoch(lengths, np.arange(12), BatchSettings(size=20, pool=100), seed=1, epoch=0)
    assert sorted(len(plan[step]) for step in range(len(plan))) == [1, 3, 4, 4]


@given(pairs, batch_settings)
def test_validation_batches_contain_every_row_once(sizes, settings):
    lengths = lengths_of(sizes)
    batches = validation_batches(lengths, settings)
    assert sorted(row for batch in batches for row in batch) == list(range(len(sizes)))
    limit = settings.device_size or settings.size
    assert all(len(batch) == 1 or size(batch, lengths, settings.unit) <= limit for batch in batches)


def test_a_plan_depends_only_on_seed_and_epoch():
    lengths = lengths_of([(1 + i % 20, 1 + (i * 7) % 20) for i in range(300)])
    settings = BatchSettings(size=100, pool=4)

    def batches(*, seed: int, epoch: int) -> list[list[int]]:
        plan = plan_epoch(lengths, np.arange(300), settings, seed=seed, epoch=epoch)
        return [plan[step].tolist() for step in range(len(plan))]

    assert batches(seed=1, epoch=3) == batches(seed=1, epoch=3)
    assert batches(seed=1, epoch=3) != batches(seed=1, epoch=4)
    assert batches(seed=1, epoch=3) != batches(seed=2, epoch=3)


@pytest.mark.parametrize("unit", ["tokens", "sentences"])
def test_sorting_within_pools_saves_most_of_the_padding(unit):
    generator = np.random.default_rng(0)
    source = generator.integers(2, 60, 20_000)
    target = np.maximum(2, source + generator.integers(-4, 5, len(source)))
    lengths = Lengths(source=source, target=target)

    def padding(pool: int) -> float:
        settings = BatchSettings(unit=unit, size=4096 if unit == "tokens" else 64, pool=pool)
        plan = plan_epoch(lengths, np.arange(len(source)), settings, seed=1, epoch=0)
        batches = [plan[step] for step in range(len(plan))]
        positions = sum(len(b) * (lengths.source[b].max() + lengths.target[b].max()) for b in batches)
        return 1 - (lengths.source.sum() + lengths.target.sum()) / positions

    assert padding(20) < 0.15 < padding(1) / 2


def test_batches_of_a_pool_are_shuffled():
    lengths = lengths_of([(1 + i % 50, 1 + i % 50) for i in range(2000)])
    plan = plan_epoch(lengths, np.arange(2000), BatchSettings(size=200, pool=1000), seed=1, epoch=0)
    longest = [lengths.source[plan[step]].max() for step in range(len(plan))]
    assert longest != sorted(longest)
    assert abs(np.corrcoef(longest, range(len(longest)))[0, 1]) < 0.3
