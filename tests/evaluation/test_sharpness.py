"""Sharpness of attention, against plain loops over the weights."""

import numpy as np
import pytest

from nmtcore.evaluation import sharpness
from nmtcore.evaluation.sharpness import count_sharpness
from nmtcore.inference.schemas import ATTENTION_SCHEMA
from nmtcore.parquet import write_rows
from nmtcore.tables.measures import MEASURES


def map_row(id, layer, head, weights, attention="encoder"):
    tokens = [f"t{i}" for i in range(len(weights[0]))]
    names = {"id": id, "part": 0, "attention": attention, "layer": layer, "head": head}
    queries = tokens[: len(weights)]
    return {**names, "queries": queries, "keys": tokens, "key_words": list(range(len(tokens))), "weights": weights}


def write_maps(path, rows):
    write_rows(path, ATTENTION_SCHEMA, rows)
    return path


def random_maps(seed, layers=2, heads=3, sentences=4):
    """Draw attention maps whose weights are rounded, with exact tenths among them."""
    random = np.random.default_rng(seed)
    lengths = [int(n) for n in random.integers(1, 9, sentences)]
    rows = []
    for id, length in enumerate(lengths):
        for layer in range(layers):
            for head in range(heads):
                weights = random.dirichlet(np.full(length, 0.4), length)
                rows.append(map_row(id, layer, head, np.round(weights, 1 + head * 2).tolist()))
        rows.append(map_row(id, None, None, [[0.5] * length] * length, attention="head_selection"))
        rows.append(map_row(id, 0, 0, [[0.95] * length], attention="cross"))
    return rows


def expected(rows):
    counts, maxima = [0] * 10, []
    for row in rows:
        for weights in row["weights"]:
            for weight in weights:
                # Weights are rounded to at most five decimals, so that this is exact.
                counts[min(9, round(weight * 100_000) // 10_000)] += 1
            maxima.append(max(weights))
    shares = [100 * count / sum(counts) for count in counts]
    return {"shares": pytest.approx(shares), "mean_maximum": pytest.approx(sum(maxima) / len(maxima), abs=1e-6)}


@pytest.mark.parametrize("size", [1, 1000])
def test_counts_are_those_of_a_plain_loop(tmp_path, monkeypatch, size):
    monkeypatch.setattr(sharpness, "ROWS_IN_MEMORY", size)
    seeds = [random_maps(seed) for seed in (1, 2)]
    rows = [row for maps in seeds for row in maps]
    result = count_sharpness([write_maps(tmp_path / f"{seed}.parquet", maps) for seed, maps in enumerate(seeds)])
    own = [row for row in rows if row["attention"] == "encoder"]
    assert list(result) == ["0", "1", "0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
    for name, summary in result.items():
        assert summary == expected([row for row in own if name in (f"{row['layer']}", f"{row['layer']}.{row['head']}")])


def test_layers_and_their_least_sharp_heads_equal_loops(tmp_path):
    seeds = {str(seed): random_maps(seed) for seed in (1, 2)}
    files = {seed: str(write_maps(tmp_path / f"{seed}.parquet", maps)) for seed, maps in seeds.items()}
    for layer in (0, 1):
        source = {"files": {"attention": files}, "split": "test", "layer": layer}
        means, least = [], []
        for maps in seeds.values():
            heads = [
                [max(weights) for row in maps if (row["attention"], row["layer"], row["head"]) == ("encoder", layer, n)
                 for weights in row["weights"]]
                for n in range(3)
            ]  # fmt: skip
            means.append(sum(map(sum, heads)) / sum(map(len, heads)))
            least.append(min(sum(maxima) / len(maxima) for maxima in heads))
        for name, numbers in (("sharpness", means), ("least_sharp_head", least)):
            assert MEASURES[name].values(source) == pytest.approx(numbers, abs=1e-6)
