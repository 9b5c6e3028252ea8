"""Tests of labels computed from trees, against breadth-first search."""

import re
from itertools import product

import numpy as np
import pytest
import torch
from oracles import reaches_root, tree_pairs

from nmtcore.config.components import TreeDistanceSettings, TreeTraversalSettings
from nmtcore.config.training import TransformerSettings
from nmtcore.model.batch import NO_WORD
from nmtcore.model.build import build_components
from nmtcore.model.components.pair_labels import traversals, tree_paths

MODEL = TransformerSettings(width=8, heads=2, encoder_layers=1, decoder_layers=1)
FAR = "far"


def forests(words):
    """Yield every assignment of governors (-1: a root) without a cycle: (words + 1) ** (words - 1) forests."""
    for governors in product(range(-1, words), repeat=words):
        if all(reaches_root(word, governors) for word in range(words)):
            yield governors


def random_forest(random, words):
    """Draw a forest: often deep, mostly non-projective, with several roots."""
    order, reach = random.permutation(words), int(random.choice([1, 2, words]))
    governors = [-1] * words
    for i in range(1, words):
        if random.random() < 0.9:
            governors[order[i]] = int(order[random.integers(max(0, i - reach), i)])
    return governors


def path_names(settings):
    """Return the distance or traversal that each label of a component means."""
    if isinstance(settings, TreeDistanceSettings):
        return [*range(settings.maximum + 1), FAR]
    return list(traversals(settings.maximum))


def path_name(value, settings):
    """Return a distance or traversal, or "far" if it is beyond the maximum."""
    length = value if isinstance(settings, TreeDistanceSettings) else len(value.replace("self", ""))
    return value if length <= settings.maximum else FAR


def component_of(settings):
    (component,) = build_components({"labels": settings}, MODEL)
    return component


def check(all_governors, settings):
    width = max(map(len, all_governors))
    governor_BW = torch.tensor([[*governors, *[-2] * (width - len(governors))] for governors in all_governors])
    component, meaning = component_of(settings), path_names(settings)
    assert settings.label_count == len(meaning) + 1, "one for pairs with a token outside words"
    *paths, _ = tree_paths(governor_BW)
    all_labels = component.path_labels(*paths).tolist()
    index = int(isinstance(settings, TreeTraversalSettings))
    for governors, labels in zip(all_governors, all_labels, strict=True):
        for (i, j), values in tree_pairs(governors).items():
            assert meaning[labels[i][j]] == path_name(values[index], settings), (governors, i, j)


ALL_SETTINGS = [
    TreeDistanceSettings(maximum=2),
    TreeDistanceSettings(maximum=5),
    TreeDistanceSettings(maximum=20),
    TreeTraversalSettings(maximum=1),
    TreeTraversalSettings(maximum=3),
    TreeTraversalSettings(),
]


@pytest.mark.parametrize("settings", [ALL_SETTINGS[0], ALL_SETTINGS[4]], ids=repr)
def test_labels_of_all_small_forests(settings):
    for words in range(1, 6):
        drawn = list(forests(words))
        assert len(drawn) == (words + 1) ** (words - 1)
        check(drawn, settings)


@pytest.mark.parametrize("settings", ALL_SETTINGS, ids=repr)
def test_labels_of_random_forests_in_one_batch(settings):
    random = np.random.default_rng(0)
    drawn = [random_forest(random, int(random.integers(1, 61))) for _ in range(25)]
    check([*drawn, list(range(-1, 59)), [*range(1, 60), -1]], settings)


def test_traversal_labels_are_all_allowed_paths():
    def allowed(steps):
        return re.fullmatch("U*D*|[LR]D*", steps) and not re.match("UD", steps)

    every = {"".join(steps) for length in range(6) for steps in product("UDLR", repeat=length)}
    labels = traversals(5)
    assert labels[0] == "self"
    assert labels[-1] == FAR
    assert len(set(labels)) == len(labels)
    assert set(labels[1:-1]) == {steps for steps in every if steps and allowed(steps)}
    assert len(traversals(10)) == 78
    assert max(map(len, traversals(10))) == 10


def token_names(settings, governors, words):
    """Return the labels of one sentence's pairs of tokens by name; `words` has each token's word or None."""
    component = component_of(settings)
    meaning = [*path_names(settings), "outside", "none"]
    word_BS = torch.tensor([[NO_WORD if word is None else word for word in words]])
    labels = component.token_labels(torch.tensor([governors], dtype=torch.long).view(1, -1), word_BS)
    return [[meaning[label] for label in row] for row in labels[0].tolist()]


def test_words_without_a_path_to_a_root_have_the_zero_label():
    # Word 1 has no governor and governs word 0; words 3 and 4 govern each other.
    assert token_names(TreeDistanceSettings(maximum=2), [], [None]) == [["none"]]
    labels = token_names(TreeDistanceSettings(maximum=2), [1, -2, -1, 4, 3], [0, 1, 2, 3, 4, None])
    nothing = ["none"] * 6
    assert labels[:2] == labels[3:5] == [nothing, nothing]
    assert labels[2] == ["none", "none", 0, "none", "none", "outside"]
    assert labels[5] == ["none", "none", "outside", "none", "none", "outside"]


def test_autocast_does_not_change_the_labels():
    governors = torch.tensor([list(range(-1, 299))])
    exact = tree_paths(governors)
    assert exact[0][0, 299, 298] == 1
    with torch.autocast("cpu", torch.bfloat16):
        for actual, expected in zip(tree_paths(governors), exact, strict=True):
            assert torch.equal(actual, expected)
