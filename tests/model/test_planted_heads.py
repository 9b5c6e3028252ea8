"""A planted language whose trees head selection must find by translating: a word's ending depends on its head.

A sentence has one verb, the root; two or three nouns of different classes, governed by the verb; and one to three
adjectives, each of the class of the noun that governs it. Word order is free. Every word is translated by a stem and an
ending: a noun has the ending of its verb, an adjective that of its noun, and the verb its own.
"""

import numpy as np
import pytest
import torch
from factories import build_tiny_model, examples_of, run_settings, side

from nmtcore.config.components import HeadSelectionSettings
from nmtcore.config.training import RecurrentSettings
from nmtcore.model.batch import make_batch
from nmtcore.syntax.spanning_tree import maximum_spanning_tree

pytestmark = pytest.mark.needs("training")

CLASSES, ENDINGS, ADJECTIVES = 6, 5, 3
"""Classes of nouns and adjectives, endings, and adjectives per class. There is a noun for every class and ending."""
VERB = 5
"""The id of the first verb; those of nouns, adjectives and endings follow."""
NOUN = VERB + ENDINGS
ADJECTIVE = NOUN + CLASSES * ENDINGS
ENDING = ADJECTIVE + CLASSES * ADJECTIVES


def language(count, seed):
    """Make sentence pairs, and the heads of their words as indices, -1 for the root."""
    random = np.random.default_rng(seed)
    sources, targets, trees = [], [], []
    for _ in range(count):
        verb_ending, classes = random.integers(ENDINGS), random.permutation(CLASSES)[: random.integers(2, 4)]
        noun_endings = random.integers(0, ENDINGS, len(classes))
        governors = random.integers(0, len(classes), random.integers(1, 4))
        adjectives = ADJECTIVE + classes[governors] * ADJECTIVES + random.integers(0, ADJECTIVES, len(governors))
        words = np.array([VERB + verb_ending, *(NOUN + classes * ENDINGS + noun_endings), *adjectives])
        heads = np.array([-1, *np.zeros_like(classes), *(1 + governors)])
        endings = np.array([verb_ending, *np.full_like(classes, verb_ending), *noun_endings[governors]])
        order = random.permutation(len(words))
        position = np.append(np.argsort(order), -1)
        sources.append(words[order])
        targets.append(np.stack([words, ENDING + endings], axis=1)[order].flatten())
        trees.append(position[heads[order]])
    return examples_of(side(sources), side(targets)), trees


def trees_of(model, examples):
    batch = make_batch(examples, np.arange(len(examples)), model.components)
    with torch.no_grad():
        scores = model.eval().parser.parse_scores(model.encode(batch))
    return [maximum_spanning_tree(scores_WU, single_root=True) - 1 for scores_WU in scores]


def accuracy(trees, gold):
    """Return the share of words with the gold head, the root not counted."""
    pairs = zip(np.concatenate(trees), np.concatenate(gold), strict=True)
    return float(np.mean([head == gold_head for head, gold_head in pairs if gold_head >= 0]))


def test_training_finds_the_trees_that_no_chain_and_no_untrained_model_has():
    settings = RecurrentSettings(width=48, layers=1, dropout=0.0)
    run = run_settings(HeadSelectionSettings(), base="recurrent", model=settings)
    model = build_tiny_model(run, vocabulary=ENDING + ENDINGS)
    (examples, gold), (sentences, _) = language(300, 2), language(20_000, 1)
    before = accuracy(trees_of(model, examples), gold)
    random, optimiser = np.random.default_rng(0), torch.optim.Adam(model.train().parameters(), lr=3e-3)
    for _ in range(600):
        batch = make_batch(sentences, random.integers(0, len(sentences), 32), model.components)
        optimiser.zero_grad()
        model.loss(batch).objective().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
    after = accuracy(trees_of(model, examples), gold)
    left = accuracy([np.append(np.arange(1, len(heads)), -1) for heads in gold], gold)
    right = accuracy([np.arange(len(heads)) - 1 for heads in gold], gold)
    print(f"heads found: {after:.1%}; untrained {before:.1%}, left {left:.1%}, right {right:.1%}")
    assert before < max(left, right) + 0.05
    assert after > max(left, right) + 0.2
