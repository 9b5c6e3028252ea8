"""Grammar induction: accuracy of induced trees against gold trees, and baselines that know no syntax.

As in tran2018 (section 6, Table 3): punctuation is not scored, nor are words whose gold head is the root, so that all
systems and baselines are scored on the same words.

Shapes: A draws, B sentences, U nodes, W words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nmtcore.evaluation.attachment import is_punctuation
from nmtcore.evaluation.counts import SentenceCounts, checksum_of_test, share_of_counts
from nmtcore.syntax.random_syntax import random_trees
from nmtcore.syntax.trees import HEAD_OF_ROOT

MEASURES = {
    "directed": "directed",
    "undirected_gold_edges": "undirected over gold edges",
    "undirected_predicted_edges": "undirected over predicted edges",
}
"""Percentages of the scored words, with their names in text.

directed: the predicted head is the gold head. undirected_gold_edges: the predicted tree joins the word with its gold
head, in either direction. undirected_predicted_edges: the gold tree joins the word with its predicted head.

tran2018 does not say which of the two it counts. On the test sets of UD 2.0, the twelve published numbers of the
baselines `left` and `right` differ from ours by 11.7 points in sum over gold edges, by 22.6 over predicted edges, and
by 10.2 over gold edges if words whose predicted head is the root are not scored either, which is not done here. No
count gives the German ones. Table 3 is compared with gold edges.
"""

BASELINES = frozenset({"left", "right", "random"})
"""The names of the baselines among the scored trees."""

RANDOM_TREES = 100
"""Random trees per sentence; their scores are averaged."""

RANDOM_SEED = 1
"""Seed of the random trees, the same for all systems and seeds, so that they have the same baseline."""


class GoldTree(NamedTuple):
    """A gold tree and the words that are scored."""

    heads_W: np.ndarray
    """1-based, 0 = root."""
    scored_W: np.ndarray
    """True for words other than punctuation whose head is not the root."""


def gold_tree(heads: Sequence[int], words: Sequence[str], upos: Sequence[str] | None) -> GoldTree:
    """Make a gold tree; `is_punctuation` says which words are punctuation."""
    heads_W = np.asarray(heads, dtype=np.int64)
    return GoldTree(heads_W, (heads_W != HEAD_OF_ROOT) & ~np.asarray(is_punctuation(words, upos), dtype=bool))


def score_induction(
    gold: Sequence[GoldTree | None], predicted: dict[str, Iterable[Sequence[int]]]
) -> dict[str, dict[str, Any]]:
    """Score predicted trees, by name, and the baselines left, right and random: {name: {measure: percentage}}.

    left: the head of every word is the next word, of the last one the root. right: the head is the previous word, of
    the first one the root. Both chains include punctuation. random: the mean of `RANDOM_TREES` random trees per
    sentence (`random_trees`).

    A sentence without gold heads (None) is counted under nulls and otherwise ignored. Every entry also has the numbers
    of sentences, words and scored_words (the same for all) and nulls. A percentage is None if no word is scored.
    """
    counted = [tree for tree in gold if tree is not None]
    scored = sum(int(tree.scored_W.sum()) for tree in counted)
    counts = {
        "sentences": len(counted),
        "words": sum(len(tree.heads_W) for tree in counted),
        "scored_words": scored,
        "nulls": len(gold) - len(counted),
    }
    trees = {name: single_trees(rows) for name, rows in predicted.items()} | baseline_trees(gold)
    return {
        name: {
            measure: sentence_counts.corpus_score() if scored else None
            for measure, sentence_counts in induction_counts(gold, rows).items()
        }
        | counts
        for name, rows in trees.items()
    }


def single_trees(rows: Iterable[Sequence[int]]) -> Iterator[np.ndarray]:
    """Yield the predicted heads of every sentence as (1, W)."""
    return (np.asarray(heads, dtype=np.int64)[None] for heads in rows)


def baseline_trees(gold: Sequence[GoldTree | None]) -> dict[str, Iterator[np.ndarray]]:
    """Return the trees of each baseline, by its name: (A, W) for each sentence, without words if it has no gold tree.

    A is 1, and for random trees `RANDOM_TREES`.
    """
    generator = np.random.default_rng(RANDOM_SEED)
    lengths = [0 if tree is None else len(tree.heads_W) for tree in gold]
    return {
        "left": (left_branching(length)[None] for length in lengths),
        "right": (np.arange(length)[None] for length in lengths),
        "random": (random_trees(length, RANDOM_TREES, generator) for length in lengths),
    }


def left_branching(words: int) -> np.ndarray:
    """Return a chain in which the head of every word is the next word: (W,)."""
    heads_W = np.arange(2, words + 2)
    heads_W[words - 1 :] = HEAD_OF_ROOT
    return heads_W


def hits(heads_AW: np.ndarray, gold: GoldTree) -> np.ndarray:
    """Count the scored words with a correct head by each of `MEASURES`: (A, 3), for A trees of one sentence."""
    words_W = np.arange(1, len(gold.heads_W) + 1)
    directed_AW = heads_AW == gold.heads_W
    # Column 0 of the padded heads is the root's, which has no head: -1 is no word.
    padded_AU = np.pad(heads_AW, ((0, 0), (1, 0)), constant_values=-1)
    gold_child_AW = padded_AU[:, gold.heads_W] == words_W
    gold_heads_U = np.concatenate([[-1], gold.heads_W])
    predicted_child_AW = gold_heads_U[heads_AW] == words_W
    correct = (directed_AW, directed_AW | gold_child_AW, directed_AW | predicted_child_AW)
    return np.stack([correct_AW[:, gold.scored_W].sum(axis=1) for correct_AW in correct], axis=1)


def checksum_of_treebank(gold: Sequence[GoldTree | None]) -> str:
    """Return a checksum of the gold trees and of the words that are scored."""
    return checksum_of_test(None if tree is None else (tree.heads_W.tolist(), tree.scored_W.tolist()) for tree in gold)


def induction_counts(gold: Sequence[GoldTree | None], trees: Iterable[np.ndarray]) -> dict[str, SentenceCounts]:
    """Count the scored words of each sentence that are right, and all of them, by each of `MEASURES`.

    `trees` has the heads of each sentence (A, W); the counts of its A trees are averaged. A sentence without a gold
    tree has no such words.
    """
    counts = [
        np.zeros(len(MEASURES)) if tree is None else hits(heads_AW, tree).mean(axis=0)
        for tree, heads_AW in zip(gold, trees, strict=True)
    ]
    hits_B3 = np.array(counts, dtype=float).reshape(len(counts), len(MEASURES))
    words_B = np.array([0 if tree is None else tree.scored_W.sum() for tree in gold], dtype=float)
    shared = {"score": share_of_counts, "test": checksum_of_treebank(gold)}
    return {
        measure: SentenceCounts(
            counts_BF=np.stack([hits_B3[:, column], words_B], axis=1), signature=f"induced trees|{label}", **shared
        )
        for column, (measure, label) in enumerate(MEASURES.items())
    }


def counts_by_trees(
    gold: Sequence[GoldTree | None], predicted: Mapping[str, Sequence[Sequence[int]]]
) -> dict[str, SentenceCounts]:
    """Count the sentences of trees: those named `spanning_tree` by `directed`..., others by `NAME_directed`..."""
    return {
        measure if name == "spanning_tree" else f"{name}_{measure}": sentence_counts
        for name, rows in predicted.items()
        for measure, sentence_counts in induction_counts(gold, single_trees(rows)).items()
    }
