import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.training import BatchSettings
from nmtcore.training.batch_plan import Lengths, blocks, plan_epoch, rows_within_length, share

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
    """What a batch takes, counted pair by pair."""
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
def test_devices_share_a_batch_without_loss(sizes, settings, ranks):
    lengths = lengths_of(sizes)
    plan = plan_epoch(lengths, np.arange(len(sizes)), settings, seed=1, epoch=0)
    for step in range(len(plan)):
        shares = [share(plan[step], lengths.longer, settings, rank=r, ranks=ranks) for r in range(ranks)]
        pieces = [piece for pieces in shares for piece in pieces]
        assert sorted(row for piece in pieces for row in piece) == sorted(plan[step])
        counts = [sum(len(piece) for piece in pieces) for pieces in shares]
        assert max(counts) - min(counts) <= 1
        for piece in pieces:
            assert len(piece) == 1 or size(piece, lengths, settings.unit) <= (settings.device_size or settings.size)


def test_devices_get_every_so_manieth_pair_in_pieces_of_their_own_size():
    longer = np.array([2, 3, 3, 4, 5, 5, 6, 7, 8, 9])
    settings = BatchSettings(size=90, device_size=12)
    shares = [share(np.arange(10), longer, settings, rank=r, ranks=3) for r in range(3)]
    pieces = [[piece.tolist() for piece in pieces] for pieces in shares]
    assert pieces == [[[0, 3], [6], [9]], [[1, 4], [7]], [[2, 5], [8]]]


def test_a_batch_takes_as_many_pairs_as_fit():
    lengths = lengths_of([(5, 4)] * 8 + [(6, 6)] * 4)
    plan = plan_epoch(lengths, np.arange(12), BatchSettings(size=20, pool=100), seed=1, epoch=0)
    assert sorted(len(plan[step]) for step in range(len(plan))) == [1, 3, 4, 4]


@given(pairs, batch_settings)
def test_blocks_hold_every_row_once(sizes, settings):
    lengths = lengths_of(sizes)
    found = blocks(lengths, settings)
    assert sorted(row for block in found for row in block) == list(range(len(sizes)))
    limit = settings.device_size or settings.size
    assert all(len(block) == 1 or size(block, lengths, settings.unit) <= limit for block in found)


def test_a_plan_depends_on_seed_and_epoch_alone():
    lengths = lengths_of([(1 + i % 20, 1 + (i * 7) % 20) for i in range(300)])
    settings = BatchSettings(size=100, pool=4)

    def plan(**where: int) -> list[list[int]]:
        made = plan_epoch(lengths, np.arange(300), settings, **where)
        return [made[step].tolist() for step in range(len(made))]

    assert plan(seed=1, epoch=3) == plan(seed=1, epoch=3)
    assert plan(seed=1, epoch=3) != plan(seed=1, epoch=4)
    assert plan(seed=1, epoch=3) != plan(seed=2, epoch=3)


@pytest.mark.parametrize("unit", ["tokens", "sentences"])
def test_sorting_within_pools_saves_most_of_the_padding(unit):
    generator = np.random.default_rng(0)
    source = generator.integers(2, 60, 20_000)
    lengths = Lengths(source=source, target=np.maximum(2, source + generator.integers(-4, 5, len(source))))

    def padded(pool: int) -> float:
        settings = BatchSettings(unit=unit, size=4096 if unit == "tokens" else 64, pool=pool)
        plan = plan_epoch(lengths, np.arange(len(source)), settings, seed=1, epoch=0)
        batches = [plan[step] for step in range(len(plan))]
        places = sum(len(b) * (lengths.source[b].max() + lengths.target[b].max()) for b in batches)
        return 1 - (lengths.source.sum() + lengths.target.sum()) / places

    assert padded(20) < 0.15 < padded(1) / 2


def test_batches_of_a_pool_come_in_random_order_of_length():
    lengths = lengths_of([(1 + i % 50, 1 + i % 50) for i in range(2000)])
    plan = plan_epoch(lengths, np.arange(2000), BatchSettings(size=200, pool=1000), seed=1, epoch=0)
    longest = [lengths.source[plan[step]].max() for step in range(len(plan))]
    assert longest != sorted(longest)
    assert abs(np.corrcoef(longest, range(len(longest)))[0, 1]) < 0.3
