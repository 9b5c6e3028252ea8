"""Tests with a language that cannot be translated without trees: each word becomes the translation of its governor.

The trees are random, so they cannot be predicted from the text. A component that reads the correct trees learns to
translate; with other trees, or without trees, a model can only guess.
"""

import numpy as np
import pytest
import torch
from factories import examples_of, forced_logits, side, target_mask

from nmtcore.config.components.settings import PascalSettings, TreeTraversalSettings
from nmtcore.model.batch import make_batch

pytestmark = pytest.mark.needs("training")

WORDS = 12
FIRST = 5
"""The id of the first word."""
SYSTEMS = {
    "tree_traversal": TreeTraversalSettings(replaces_positions=False),
    "pascal": PascalSettings(heads=4, layers=(0, 1)),
}


def random_tree(random, words):
    order = random.permutation(words)
    governors = np.full(words, -1)
    for i in range(1, words):
        governors[order[i]] = order[random.integers(0, i)]
    return governors


def language(count, seed, *, read):
    """Make sentence pairs in the planted language, annotated with their own trees (`gold`) or others (`random`)."""
    random, other = np.random.default_rng(seed), np.random.default_rng(seed + 1000)
    sources, targets, governors = [], [], []
    for _ in range(count):
        words = random.integers(0, WORDS, random.integers(5, 9))
        tree = random_tree(random, len(words))
        parents = np.where(tree < 0, np.arange(len(words)), tree)
        sources.append(FIRST + words)
        targets.append(FIRST + (words[parents] * 5 + 3) % WORDS)
        governors.append(tree if read == "gold" else random_tree(other, len(words)))
    positions = [np.where(tree < 0, np.arange(len(tree)), tree) for tree in governors]
    source = side(sources, features={"governor": governors, "parent_position": positions})
    return examples_of(source, side(targets))


def accuracy(model, examples):
    """Return the share of target words that the model ranks first, given the words before them."""
    batch = make_batch(examples, np.arange(len(examples)), model.components)
    with torch.no_grad():
        predicted_BT = forced_logits(model.eval(), batch).argmax(-1)
    words = target_mask(batch) & (batch.target_output_BT >= FIRST)
    return float((predicted_BT == batch.target_output_BT)[words].float().mean())


def train(make, components, *, read, updates=250):
    model = make(*components, width=48, encoder_layers=2, decoder_layers=1).float().train()
    examples, random = language(4000, 1, read=read), np.random.default_rng(0)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(updates):
        batch = make_batch(examples, random.integers(0, len(examples), 64), model.components)
        optimiser.zero_grad()
        model.loss(batch).objective().backward()
        optimiser.step()
    return accuracy(model, language(200, 2, read=read))


@pytest.fixture(scope="module")
def guessing(make):
    """What can be had without trees."""
    return train(make, (), read="gold")


@pytest.mark.parametrize("system", SYSTEMS)
def test_gold_heads_help_and_random_ones_do_not(system, make, guessing):
    gold, random = (train(make, (SYSTEMS[system],), read=read) for read in ("gold", "random"))
    assert gold > guessing + 0.4
    assert random < guessing + 0.05
