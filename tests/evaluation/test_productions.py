"""Productions per head tag: plain loops as the oracle, and the published shares of English."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nmtcore.corpus.formats.conllu import parse_sentence, sentences
from nmtcore.corpus.text_lines import Input
from nmtcore.evaluation.productions import count_productions, parse_productions, production_shares, treebank_productions
from nmtcore.inference.schemas import Parse, write_parses
from nmtcore.parquet import write_rows
from nmtcore.syntax.random_syntax import random_trees

TREE_SCHEMA = pa.schema([("head", pa.list_(pa.int32())), ("upos", pa.list_(pa.string()))])
TAGS = ["VERB", "NOUN", "DET", "PUNCT"]


def write_trees(path, trees):
    write_rows(path, TREE_SCHEMA, [{"head": head, "upos": upos} for head, upos in trees])
    return path


def test_counts_are_those_of_a_loop_over_pairs_of_words():
    random = np.random.default_rng(5)
    trees = [
        (random_trees(words, 1, random)[0].tolist(), random.choice(TAGS, size=words).tolist())
        for words in (1, 2, 3, 8, 20)
        for _ in range(10)
    ]
    expected = {}
    for heads, tags in trees:
        for head in range(1, len(heads) + 1):
            for word in range(1, len(heads) + 1):
                if heads[word - 1] == head and tags[word - 1] != "PUNCT":
                    pair = (tags[head - 1], tags[word - 1])
                    expected[pair] = expected.get(pair, 0) + 1
    counts = count_productions(trees)
    assert {(head, tag): count for head, by_tag in counts.items() for tag, count in by_tag.items()} == expected
    for by_tag in production_shares(counts).values():
        assert sum(by_tag.values()) == pytest.approx(100)


def test_productions_of_a_small_treebank(tmp_path: Path):
    trees = [
        ([2, 3, 0, 3], ["DET", "NOUN", "VERB", "PUNCT"]),
        (None, None),
        ([0, 1], None),
        ([], []),
        ([0, 1], ["VERB", "ADV"]),
    ]
    path = write_trees(tmp_path / "trees.parquet", trees)
    assert treebank_productions(path) == {
        "gold": {"NOUN": {"DET": 1}, "VERB": {"ADV": 1, "NOUN": 1}},
        "left": {"ADV": {"VERB": 1}, "NOUN": {"DET": 1}, "PUNCT": {"VERB": 1}, "VERB": {"NOUN": 1}},
    }
    assert treebank_productions(path, stop=4)["gold"] == {"NOUN": {"DET": 1}, "VERB": {"NOUN": 1}}
    heads = [[2, 0, 2, 3], [0], [0, 1], [], [2, 0]]
    parses = [Parse(argmax=[1] * len(tree), one_root=tree, many_roots=tree) for tree in heads]
    write_parses(tmp_path / "parses.parquet", range(5), parses)
    assert parse_productions(tmp_path / "parses.parquet", path) == {"ADV": {"VERB": 1}, "NOUN": {"DET": 1, "VERB": 1}}


def test_gold_shares_of_english_are_near_the_published_ones(tmp_path: Path, shared: Path):
    """tran2018, Table 4; the paper names no treebank. On EWT's test set all eight shares are within two points."""
    published = {
        "VERB": {"NOUN": 25.1, "PRON": 18.6, "ADV": 9.1, "VERB": 12.8},
        "NOUN": {"DET": 23.2, "ADP": 17.2, "NOUN": 18.4, "ADJ": 13.9},
    }
    treebank = Input(shared / "data/ud/en_ewt_test.conllu", None)
    sides = [parse_sentence(piece, surface=False) for piece in sentences(treebank)]
    path = write_trees(tmp_path / "t.parquet", [(side.annotation.head, side.annotation.upos) for side in sides])
    shares = production_shares(treebank_productions(path)["gold"])
    for head, by_tag in published.items():
        for tag, share in by_tag.items():
            assert shares[head][tag] == pytest.approx(share, abs=2.0)
    assert round(shares["VERB"]["NOUN"], 1) == 23.2
