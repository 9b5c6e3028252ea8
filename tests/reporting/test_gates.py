"""Counts of gate norms by tag, against loops."""

from collections import Counter

import numpy as np
import pytest

from nmtcore.inference.schemas import GATES_SCHEMA
from nmtcore.parquet import write_rows
from nmtcore.reporting.gates import count_gates

TAGS = ["NOUN", "VERB", "DET"]


def gate_row(words, upos, norms):
    """Make a row; `upos` has a tag per word, and `norms` end in that of `</s>`."""
    tags = None if upos is None else [*(upos[word] for word in words), None]
    return {"pieces": ["x"] * len(norms), "words": [*words, -1], "upos": tags, "norms": norms}


def count(tmp_path, rows):
    write_rows(tmp_path / "gates.parquet", GATES_SCHEMA, ({"id": i, **row} for i, row in enumerate(rows)))
    return count_gates(tmp_path / "gates.parquet")


def test_counts_of_one_sentence(tmp_path):
    counts = count(tmp_path, [gate_row([0, 1, 1, 2], ["DET", "NOUN", "NOUN"], [2, 1, 4, 3, 0.5])])
    assert counts == {
        "sentences": 1,
        "tagged": 1,
        "tags": {
            "DET": {"highest": 0, "words": 1, "pieces": 1, "norm": 2},
            "NOUN": {"highest": 1, "words": 2, "pieces": 3, "norm": 8 / 3},
        },
        "norm": 2.5,
        "end_norm": 0.5,
        "end_lowest": 1,
    }


def test_counts_equal_loops(tmp_path):
    random = np.random.default_rng(5)
    rows = []
    for i in range(60):
        words = np.cumsum(random.random(random.integers(1, 9)) < 0.6)
        words = (words - words[0]).tolist()
        upos = None if i % 7 == 0 else [TAGS[k] for k in random.integers(0, 3, words[-1] + 1)]
        rows.append(gate_row(words, upos, random.integers(1, 20, len(words) + 1).astype(float).tolist()))
    counts = count(tmp_path, rows)
    highest, tagged = Counter(), 0
    for row in rows:
        if row["upos"] is None:
            continue
        tagged += 1
        best = 0
        for k in range(len(row["words"]) - 1):
            if row["norms"][k] > row["norms"][best]:
                best = k
        highest[row["upos"][best]] += 1
    assert (counts["sentences"], counts["tagged"]) == (60, tagged)
    assert {tag: values["highest"] for tag, values in counts["tags"].items()} == highest
    for tag, values in counts["tags"].items():
        pieces = [
            (number, word, norm)
            for number, row in enumerate(rows)
            for word, own, norm in zip(row["words"], row["upos"] or [], row["norms"], strict=False)
            if own == tag
        ]
        assert values["pieces"] == len(pieces)
        assert values["words"] == len({(number, word) for number, word, _ in pieces})
        assert values["norm"] == pytest.approx(sum(norm for _, _, norm in pieces) / len(pieces))


def test_sentences_without_tags_count_for_the_means_alone(tmp_path):
    counts = count(tmp_path, [gate_row([0, 0], None, [1, 2, 3])])
    assert counts == {"sentences": 1, "tagged": 0, "tags": {}, "norm": 1.5, "end_norm": 3, "end_lowest": 0}


def test_an_empty_reference_has_no_highest_norm(tmp_path):
    counts = count(tmp_path, [gate_row([], [], [2])])
    assert counts == {"sentences": 1, "tagged": 0, "tags": {}, "norm": None, "end_norm": 2, "end_lowest": 1}
    assert count(tmp_path, [])["norm"] is None
