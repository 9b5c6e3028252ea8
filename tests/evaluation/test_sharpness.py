"""Sharpness of attention, against plain loops over the weights."""

import math

import numpy as np
import pytest

from nmtcore.evaluation import sharpness
from nmtcore.evaluation.sharpness import count_sharpness
from nmtcore.inference.schemas import ATTENTION_SCHEMA
from nmtcore.parquet import write_rows


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
    # A row of zeros, which rounding to one decimal can give, has no entropy.
    return [row for row in rows if all(sum(weights) > 0 for weights in row["weights"])]


def expected(rows):
    counts, maxima, entropies = [0] * 10, [], []
    for row in rows:
        for weights in row["weights"]:
            for weight in weights:
                # Weights are rounded to at most five decimals, so that this is exact.
                counts[min(9, round(weight * 100_000) // 10_000)] += 1
            maxima.append(max(weights))
            shares = [weight / sum(weights) for weight in weights if weight > 0]
            entropies.append(-sum(share * math.log2(share) for share in shares))
    means = {"mean_maximum": sum(maxima) / len(maxima), "mean_entropy": sum(entropies) / len(entropies)}
    return counts, len(maxima), means


def check(summary, rows):
    counts, queries, means = expected(rows)
    assert (summary["counts"], summary["queries"]) == (counts, queries)
    assert {name: summary[name] for name in means} == pytest.approx(means, abs=1e-6)


@pytest.mark.parametrize("size", [1, 1000])
def test_counts_are_those_of_a_plain_loop(tmp_path, monkeypatch, size):
    monkeypatch.setattr(sharpness, "ROWS_IN_MEMORY", size)
    seeds = [random_maps(seed) for seed in (1, 2)]
    rows = [row for maps in seeds for row in maps]
    result = count_sharpness([write_maps(tmp_path / f"{seed}.parquet", maps) for seed, maps in enumerate(seeds)])
    own = [row for row in rows if row["attention"] == "encoder"]
    assert result["sentences"] == len({row["id"] for row in own}) == 4
    assert list(result["layers"]) == ["0", "1"]
    assert list(result["heads"]) == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
    for layer, summary in result["layers"].items():
        check(summary, [row for row in own if row["layer"] == int(layer)])
    for name, summary in result["heads"].items():
        check(summary, [row for row in own if f"{row['layer']}.{row['head']}" == name])
