"""Batches, micro-batches and validation batches cover all pairs within their size."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.config.training import BatchSettings
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
    sizes = np.array(sizes)
    return Lengths(longer=sizes.max(axis=1), shorter=sizes.min(axis=1))


def size(rows: np.ndarray, lengths: Lengths, unit: str) -> int:
    """Compute the size of a batch, pair by pair."""
    if unit == "sentences":
        return len(rows)
    return len(rows) * max(int(lengths.longer[i]) for i in rows)


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


@given(pairs, batch_settings, st.integers(0, 5), st.integers(0, 5))
def test_plans_in_32_bits_equal_plain_plans(sizes, settings, seed, epoch):
    lengths = lengths_of(sizes)
    kept = rows_within_length(*np.array(sizes).T, max_length=20)
    assert kept.tolist() == [i for i, pair in enumerate(sizes) if max(pair) <= 20]
    if not len(kept):
        return
    compact = Lengths(longer=lengths.longer.astype(np.uint16), shorter=lengths.shorter.astype(np.uint16))
    plan = plan_epoch(compact, kept, settings, seed=seed, epoch=epoch)
    assert plan.rows.dtype == kept.dtype == np.uint32
    planned = [plan[step].tolist() for step in range(len(plan))]
    assert planned == plain_plan(lengths, kept, settings, seed=seed, epoch=epoch)


@given(pairs, batch_settings)
def test_validation_batches_contain_every_row_once(sizes, settings):
    lengths = lengths_of(sizes)
    batches = validation_batches(lengths, settings)
    assert sorted(row for batch in batches for row in batch) == list(range(len(sizes)))
    limit = settings.device_size or settings.size
    assert all(len(batch) == 1 or size(batch, lengths, settings.unit) <= limit for batch in batches)
