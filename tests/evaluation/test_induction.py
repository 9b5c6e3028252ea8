"""Accuracy of induced trees: plain loops as the oracle, and the baselines of real treebanks."""

from pathlib import Path

import numpy as np
import pytest

from nmtcore.corpus.formats.conllu import parse_sentence, sentences
from nmtcore.corpus.text_lines import Input
from nmtcore.evaluation.induction import (
    MEASURES,
    baseline_trees,
    gold_tree,
    hits,
    induction_counts,
    score_induction,
    single_trees,
)
from nmtcore.syntax.random_syntax import random_trees


def edges(heads):
    """List the edges of a tree, without direction and without the root's."""
    return [{word, head} for word, head in enumerate(heads, start=1) if head != 0]


def loop_counts(predicted, gold, punctuation):
    """Count the scored words, and those that are correct by each measure, by comparing edges."""
    scored, correct = 0, [0, 0, 0]
    own_edges, gold_edges = edges(predicted), edges(gold)
    for word, (head, gold_head, mark) in enumerate(zip(predicted, gold, punctuation, strict=True), start=1):
        if mark or gold_head == 0:
            continue
        scored += 1
        correct[0] += head == gold_head
        correct[1] += {word, gold_head} in own_edges
        correct[2] += head != 0 and {word, head} in gold_edges
    return scored, correct


def test_hits_are_those_of_a_loop_over_edges():
    random = np.random.default_rng(3)
    for words in (1, 2, 3, 5, 9, 20):
        for _ in range(20):
            predicted, gold = random_trees(words, 2, random)
            upos = random.choice(["X", "PUNCT"], size=words, p=[0.8, 0.2]).tolist()
            tree = gold_tree(gold.tolist(), ["x"] * words, upos)
            scored, correct = loop_counts(predicted.tolist(), gold.tolist(), [tag == "PUNCT" for tag in upos])
            assert tree.scored_W.sum() == scored
            assert hits(predicted[None], tree).tolist() == [correct]


def tree(*heads, punctuation=()):
    upos = ["PUNCT" if word in punctuation else "X" for word in range(1, len(heads) + 1)]
    return gold_tree(heads, ["x"] * len(heads), upos)


def test_scores_of_a_small_treebank():
    # 1 <- 2 -> 3, 2 -> 4 (punctuation); then a sentence without a gold tree, and one with the root alone.
    gold = [tree(2, 0, 2, 2, punctuation=[4]), None, tree(0)]
    scores = score_induction(gold, {"mine": [[0, 1, 1, 3], [1, 2], [0]]})
    assert list(scores) == ["mine", "left", "right", "random"]
    # Word 1: its gold head 2 is its child. Word 3: neither 3-2 is predicted nor 3-1 gold.
    assert [scores["mine"][measure] for measure in MEASURES] == [0, 50, 0]
    assert [scores["left"][measure] for measure in MEASURES] == [50, 100, 50]
    assert [scores["right"][measure] for measure in MEASURES] == [50, 100, 50]
    counts = {"sentences": 2, "words": 5, "scored_words": 2, "nulls": 1}
    for values in scores.values():
        assert {key: values[key] for key in counts} == counts
    trees = {"mine": single_trees([[0, 1, 1, 3], [1, 2], [0]])} | baseline_trees(gold)
    for name, rows in trees.items():
        for measure, part in induction_counts(gold, rows).items():
            assert part.counts_BF[:, 1].tolist() == [2, 0, 0]
            assert part.corpus_score() == pytest.approx(scores[name][measure])


def test_nothing_to_score_gives_no_percentage():
    for gold in ([], [None], [tree(0)], [tree()], [tree(0, 1, punctuation=[2])]):
        scores = score_induction(gold, {})
        assert all(values[measure] is None for values in scores.values() for measure in MEASURES)
        assert scores["left"]["scored_words"] == 0


def test_branching_baselines_of_a_real_treebank(shared: Path):
    """Those of tran2018, Table 3, are 34.0 and 40.5 for the left-branching chain."""
    treebank = Input(shared / "data" / "ud" / "en_ewt_test.conllu", None)
    sides = [parse_sentence(piece, surface=False) for piece in sentences(treebank)]
    scores = score_induction([gold_tree(own.annotation.head, own.words, own.annotation.upos) for own in sides], {})
    assert [round(scores["left"][measure], 1) for measure in MEASURES] == [34.1, 41.4, 40.5]
    assert [round(scores["right"][measure], 1) for measure in MEASURES] == [7.3, 41.4, 36.4]
