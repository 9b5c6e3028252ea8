"""The best extensions of beams against sorting all of them."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.inference import topk
from nmtcore.inference.topk import SMALLEST_GROUP, best_entries, best_extensions

GROUP = SMALLEST_GROUP
INF, NAN = math.inf, math.nan
ROWS = st.lists(st.sampled_from([-1.0, 0.5, 2.0, -INF, INF, NAN]), min_size=40, max_size=40)


@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(1, 5),
    st.sampled_from([1, 2, 7, GROUP - 1, GROUP, GROUP + 1, 3 * GROUP, 5 * GROUP + 3]),
    st.integers(1, 12),
)
def test_extensions_match_sorting(seed, sentences, beams, vocabulary, count):
    generator = torch.Generator().manual_seed(seed)
    score_BM = torch.randn(sentences, beams, generator=generator, dtype=torch.float64)
    next_BMV = torch.randn(sentences, beams, vocabulary, generator=generator, dtype=torch.float64)
    extensions = best_extensions(score_BM, next_BMV, count=count)
    for b in range(sentences):
        sums = [(float(score_BM[b, m] + next_BMV[b, m, v]), m, v) for m in range(beams) for v in range(vocabulary)]
        expected = sorted(sums, reverse=True)[:count]
        assert list(zip(*(values_BC[b].tolist() for values_BC in extensions), strict=True)) == expected


def test_extensions_match_sorting_in_vocabularies_of_any_size():
    for vocabulary in (100, 7003, 32001):
        for beams, count in ((4, 8), (1, 1)):
            score_BM, next_BMV = torch.randn(3, beams), torch.randn(3, beams, vocabulary)
            extensions = best_extensions(score_BM, next_BMV, count=count)
            expected = (score_BM[:, :, None] + next_BMV).flatten(1).sort(dim=1, descending=True)
            assert torch.equal(extensions.log_probability_BC, expected.values[:, :count])
            assert torch.equal(extensions.beam_BC * vocabulary + extensions.token_BC, expected.indices[:, :count])


def test_entries_and_beams_of_minus_infinity_come_last():
    vocabulary = 5 * GROUP + 2
    score_BM = torch.tensor([[-1.0, -torch.inf]])
    next_BMV = torch.full((1, 2, vocabulary), -torch.inf)
    next_BMV[0, 0, 33], next_BMV[0, 0, vocabulary - 1], next_BMV[0, 0, 5], next_BMV[0, 1, 7] = -1.0, -1.5, -2.0, 0.0
    extensions = best_extensions(score_BM, next_BMV, count=5)
    assert extensions.log_probability_BC.tolist() == [[-2.0, -2.5, -3.0, -torch.inf, -torch.inf]]
    assert extensions.token_BC[0, :3].tolist() == [33, vocabulary - 1, 5]
    assert extensions.beam_BC[0, :3].tolist() == [0, 0, 0]
    assert extensions.token_BC.max() < vocabulary


@pytest.mark.parametrize("by_numpy", [True, False])
@given(
    entries=st.lists(st.lists(st.sampled_from([-1.0, 0.5, 2.0, -INF, INF, NAN]), min_size=40, max_size=40), min_size=1)
)
def test_best_entries_are_the_first_of_the_largest(entries, by_numpy):
    expected = [row.index(max(row, key=lambda value: (math.isnan(value), value))) for row in entries]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topk, "BEST_BY_NUMPY", by_numpy)
        assert best_entries(torch.tensor(entries)).tolist() == expected
