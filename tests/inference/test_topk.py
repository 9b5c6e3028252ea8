import torch
from hypothesis import given
from hypothesis import strategies as st

from nmtcore.inference.topk import GROUP, best_extensions


@given(
    st.integers(0, 10**6),
    st.integers(1, 4),
    st.integers(1, 5),
    st.sampled_from([1, 2, 7, GROUP - 1, GROUP, GROUP + 1, 3 * GROUP, 5 * GROUP + 3]),
    st.integers(1, 12),
)
def test_it_finds_what_sorting_finds(seed, sentences, beams, vocabulary, count):
    generator = torch.Generator().manual_seed(seed)
    score = torch.randn(sentences, beams, generator=generator, dtype=torch.float64)
    following = torch.randn(sentences, beams, vocabulary, generator=generator, dtype=torch.float64)
    values, parents, tokens = best_extensions(score, following, count=count)
    for n in range(sentences):
        every = [(float(score[n, k] + following[n, k, v]), k, v) for k in range(beams) for v in range(vocabulary)]
        expected = sorted(every, reverse=True)[:count]
        assert list(zip(values[n].tolist(), parents[n].tolist(), tokens[n].tolist(), strict=True)) == expected


def test_entries_and_beams_of_minus_infinity_come_last():
    score = torch.tensor([[-1.0, -torch.inf]])
    following = torch.full((1, 2, GROUP + 2), -torch.inf)
    following[0, 0, 33], following[0, 0, 5], following[0, 1, 7] = -1.0, -2.0, 0.0
    values, parents, tokens = best_extensions(score, following, count=4)
    assert values.tolist() == [[-2.0, -3.0, -torch.inf, -torch.inf]]
    assert tokens[0, :2].tolist() == [33, 5]
    assert parents[0, :2].tolist() == [0, 0]
    assert tokens.max() < GROUP + 2
