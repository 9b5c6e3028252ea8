"""Labels read off trees, against breadth-first search over explicit edges."""

import re
from itertools import product

import numpy as np
import pytest
import torch
from oracles import tree_pairs

from nmtcore.config.components.pair_labels import TreeDistanceSettings, TreeTraversalSettings
from nmtcore.config.components.parser_head import DepParseSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components
from nmtcore.model.components.tree_labels import tree_paths
from nmtcore.model.components.tree_traversal import traversals
from nmtcore.model.pooling import NO_WORD

MODEL = TransformerSettings(width=8, heads=2, encoder_layers=1, decoder_layers=1)
FAR = "far"


def forests(words):
    """Every choice of governors (-1: a root) without a circle: (words + 1) ** (words - 1) of them."""

    def reaches_root(governors, word):
        for _ in range(words):
            if word >= 0:
                word = governors[word]
        return word == -1

    for governors in product(range(-1, words), repeat=words):
        if all(reaches_root(governors, word) for word in range(words)):
            yield governors


def random_forest(random, words):
    """Often deep, mostly non-projective, with several roots."""
    order, reach = random.permutation(words), int(random.choice([1, 2, words]))
    governors = [-1] * words
    for i in range(1, words):
        if random.random() < 0.9:
            governors[order[i]] = int(order[random.integers(max(0, i - reach), i)])
    return governors


def names(settings):
    """What each label of a component means."""
    if isinstance(settings, TreeDistanceSettings):
        return [*range(settings.maximum + 1), FAR]
    return list(traversals(settings.maximum))


def cut(value, settings):
    """The name of the label that a distance or a traversal has."""
    length = value if isinstance(settings, TreeDistanceSettings) else len(value.replace("self", ""))
    return value if length <= settings.maximum else FAR


def component_of(settings):
    (component,) = build_components({"labels": settings}, MODEL)
    return component


def check(all_governors, settings):
    width = max(map(len, all_governors))
    governor_BW = torch.tensor([[*governors, *[-2] * (width - len(governors))] for governors in all_governors])
    component, meaning = component_of(settings), names(settings)
    found = component.path_labels(tree_paths(governor_BW)).tolist()
    kind = int(isinstance(settings, TreeTraversalSettings))
    for governors, labels in zip(all_governors, found, strict=True):
        for (i, j), values in tree_pairs(governors).items():
            assert meaning[labels[i][j]] == cut(values[kind], settings), (governors, i, j)


ALL_SETTINGS = [
    TreeDistanceSettings(maximum=2),
    TreeDistanceSettings(maximum=5),
    TreeDistanceSettings(maximum=20),
    TreeTraversalSettings(maximum=1),
    TreeTraversalSettings(maximum=3),
    TreeTraversalSettings(),
]


@pytest.mark.parametrize("settings", [ALL_SETTINGS[0], ALL_SETTINGS[4]], ids=repr)
@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_all_small_forests(words, settings):
    drawn = list(forests(words))
    assert len(drawn) == (words + 1) ** (words - 1)
    check(drawn, settings)


@pytest.mark.parametrize("settings", ALL_SETTINGS, ids=repr)
def test_random_forests_of_all_lengths_in_one_batch(settings):
    random = np.random.default_rng(0)
    drawn = [random_forest(random, int(random.integers(1, 61))) for _ in range(25)]
    check([*drawn, list(range(-1, 59)), [*range(1, 60), -1]], settings)


def test_paths_of_all_forests_of_six_words():
    """All 16807 forests in one batch; every seventh is searched."""
    drawn = list(forests(6))
    paths = tree_paths(torch.tensor(drawn))
    assert paths.rooted_BW.all()
    for n in range(0, len(drawn), 7):
        for (i, j), (distance, traversal) in tree_pairs(drawn[n]).items():
            up, down = int(paths.up_BWW[n, i, j]), int(paths.down_BWW[n, i, j])
            assert up + down == distance
            if traversal[0] in "LR":
                assert (up, bool(paths.left_BWW[n, i, j])) == (1, traversal[0] == "L")
            else:
                assert "U" * up + "D" * down == traversal.replace("self", "")


def test_distances_are_symmetric_and_traversals_are_turned_round():
    random = np.random.default_rng(1)
    governors = torch.tensor([random_forest(random, 30) for _ in range(5)])
    paths = tree_paths(governors)
    assert torch.equal(paths.up_BWW, paths.down_BWW.mT)


def test_the_vocabulary_of_traversals():
    def allowed(steps):
        return re.fullmatch("U*D*|[LR]D*", steps) and not re.match("UD", steps)

    every = {"".join(steps) for length in range(6) for steps in product("UDLR", repeat=length)}
    found = traversals(5)
    assert found[0] == "self"
    assert found[-1] == FAR
    assert len(set(found)) == len(found)
    assert set(found[1:-1]) == {steps for steps in every if steps and allowed(steps)}
    assert len(traversals(10)) == 78
    assert max(map(len, traversals(10))) == 10


def test_how_many_vectors_there_are():
    assert component_of(TreeTraversalSettings()).label_count == 79
    assert component_of(TreeDistanceSettings(maximum=5)).label_count == 8
    assert component_of(TreeDistanceSettings(maximum=20)).label_count == 23


def token_names(settings, governors, words):
    """The labels of one sentence's tokens in words; `words` names each token's word, None where it is none."""
    component = component_of(settings)
    meaning = [*names(settings), "outside", "none"]
    word_BS = torch.tensor([[NO_WORD if word is None else word for word in words]])
    labels = component.token_labels(torch.tensor([governors], dtype=torch.long).view(1, -1), word_BS)
    return [[meaning[label] for label in row] for row in labels[0].tolist()]


def test_pieces_have_the_labels_of_their_words():
    # "der" hangs from "Hund@@ e", which is a root as "bellt" is; then `</s>`.
    found = token_names(TreeDistanceSettings(maximum=2), [1, -1, -1], [0, 1, 1, 2, None])
    assert found == [
        [0, 1, 1, FAR, "outside"],
        [1, 0, 0, 2, "outside"],
        [1, 0, 0, 2, "outside"],
        [FAR, 2, 2, 0, "outside"],
        ["outside"] * 5,
    ]
    found = token_names(TreeTraversalSettings(), [1, -1, -1], [None, 0, 1, 1, 2, None])
    assert found == [
        ["outside"] * 6,
        ["outside", "self", "U", "U", "UUD", "outside"],
        ["outside", "D", "self", "self", "R", "outside"],
        ["outside", "D", "self", "self", "R", "outside"],
        ["outside", "LD", "L", "L", "self", "outside"],
        ["outside"] * 6,
    ]


@pytest.mark.parametrize("settings", ALL_SETTINGS[::3], ids=repr)
def test_a_sentence_without_annotation_has_no_labels(settings):
    assert token_names(settings, [-2, -2], [0, 1, 1, None]) == [["none"] * 4] * 4
    assert token_names(settings, [], [None]) == [["none"]]


def test_words_that_lead_to_no_root_have_no_labels():
    # Word 1 has no governor, word 0 hangs from it; words 3 and 4 hang from one another.
    found = token_names(TreeDistanceSettings(maximum=2), [1, -2, -1, 4, 3], [0, 1, 2, 3, 4, None])
    nothing = ["none"] * 6
    assert found[:2] == found[3:5] == [nothing, nothing]
    assert found[2] == ["none", "none", 0, "none", "none", "outside"]
    assert found[5] == ["none", "none", "outside", "none", "none", "outside"]


def test_what_a_batch_holds(make, draw):
    """The prefix of another component, pieces and padding; sentences by themselves have the same labels."""
    examples = draw(6, seed=11)
    settings = TreeDistanceSettings(maximum=2)
    model = make(DepParseSettings(layer=1), settings)
    batch = make_batch(examples, np.arange(6), model.components)
    component = model.components[1]
    labels = component.token_labels(batch.extra["tree_distance.governor"], batch.extra["tree_distance.word"])
    for row in range(6):
        words = examples.source.word_of_subword[row].tolist()
        governors = examples.source.features["governor"][row].tolist()
        tokens = [None, *words, None]
        expected = token_names(settings, governors, tokens)
        meaning = [*names(settings), "outside", "none"]
        found = labels[row, : len(tokens), : len(tokens)].tolist()
        assert [[meaning[label] for label in line] for line in found] == expected


def test_examples_without_governors_say_so(make, draw):
    examples = draw(2, seed=1)
    del examples.source.features["governor"]
    with pytest.raises(ValueError, match="tree_distance reads dependency trees"):
        make_batch(examples, np.arange(2), make(TreeDistanceSettings(maximum=5)).components)


def test_half_precision_does_not_touch_the_labels():
    governors = torch.tensor([list(range(-1, 299))])
    exact = tree_paths(governors)
    assert exact.up_BWW[0, 299, 298] == 1
    with torch.autocast("cpu", torch.bfloat16):
        for found, expected in zip(tree_paths(governors), exact, strict=True):
            assert torch.equal(found, expected)
