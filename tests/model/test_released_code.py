"""Where released code departs from its paper (docs/released-code.md): both as oracles, and components beside them.

The oracles of the released codes are written from what the code does; nothing of it is run or copied here.

Shapes: B sentences, H heads, S source.
"""

import math
from itertools import product, starmap
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from model.trees import pairs
from oracles import pointing_loss, softmax, tree_distribution

from nmtcore.config.components import (
    DepParseSettings,
    PascalSettings,
    SisaSettings,
    TagAttentionSettings,
    TreeDistanceSettings,
    TreeTraversalSettings,
)
from nmtcore.config.training import TransformerSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.build import build_components
from nmtcore.model.components.pair_labels import tree_paths
from nmtcore.model.trees import tree_marginals

HEADS = 4
"""Of the layers of small models."""


def chain(words):
    """A sentence of whole words, each of which is governed by the previous one."""
    return list(range(words)), list(range(-1, words - 1))


def scaled_by(scaled_heads, *, heads, sentences):
    """Say for each head of each sentence whose parents scale it in bugliarello2020's code; None: nobody's.

    Scores of all heads lie sentence by sentence, and the last `scaled_heads * sentences` of them are multiplied by as
    many matrices of parents, each sentence's `scaled_heads` times.
    """
    first = sentences * (heads - scaled_heads)
    rows = [None] * first + [row // scaled_heads for row in range(sentences * scaled_heads)]
    return np.array(rows, dtype=object).reshape(sentences, heads)


def factors_of(model, batch):
    """Return the factors of all scores of the first layer: (B, H, S, S)."""
    (pascal,) = model.components
    context = SimpleNamespace(notes={}, extra=batch.extra)
    ones_BHSS = torch.ones(len(batch), HEADS, *[batch.source_BS.size(1)] * 2, dtype=torch.float64)
    return pascal.attention_hooks("encoder", 0).scores(ones_BHSS, SimpleNamespace(context=context))


@pytest.mark.parametrize("scaled_heads", [1, 2, 3, 4])
def test_pascal_scales_each_sentence_by_its_own_parents(make, draw, scaled_heads):
    model = make(PascalSettings(heads=scaled_heads))
    examples = pairs(*[([0, 1, 2, 3], governors) for governors in ([-1, 0, 0, 0], [1, -1, 1, 2], [3, 3, 3, -1])])
    for sentences in (1, 3):
        batch = make_batch(examples, np.arange(sentences), model.components)
        ours_BHSS = factors_of(model, batch)
        of_sentence_BSS = ours_BHSS[:, 0]
        released_BHSS = torch.ones_like(ours_BHSS)
        for (sentence, head), other in np.ndenumerate(scaled_by(scaled_heads, heads=HEADS, sentences=sentences)):
            if other is not None:
                released_BHSS[sentence, head] = of_sentence_BSS[other]
        # The released code counts heads from the last one.
        is_equal = torch.equal(ours_BHSS.flip(1), released_BHSS)
        assert is_equal == (sentences == 1 or scaled_heads == HEADS)


@pytest.mark.parametrize(("scaled_heads", "own", "others"), [(2, 2, 254), (5, 7, 633), (7, 28, 868), (8, 1024, 0)])
def test_the_heads_of_a_batch_that_the_released_pascal_scales(scaled_heads, own, others):
    sentences = 128
    scaled_BH = scaled_by(scaled_heads, heads=8, sentences=sentences)
    is_own_BH = scaled_BH == np.arange(sentences)[:, None]
    assert is_own_BH.sum() == own
    assert (scaled_BH != None).sum() - own == others  # noqa: E711


def test_padding_on_the_left_moves_tokens_away_from_their_parents(make):
    model = make(PascalSettings(heads=HEADS))
    batch = make_batch(pairs(chain(6), chain(3)), np.arange(2), model.components)
    (long_SS, short_SS), real, width = factors_of(model, batch)[:, 0], 4, 7
    alone = factors_of(model, make_batch(pairs(chain(3)), np.arange(1), model.components))[0, 0]
    torch.testing.assert_close(short_SS[:real, :real], alone)
    # Tokens on the right, rows of parents on the left, and the last column as the parent of `</s>` and of padding.
    parents = np.array([0, 0, 1, *[width - 1] * (width - 3)])
    columns = np.arange(width)
    released_SS = np.exp(-((columns - parents[:, None]) ** 2) / 2) / math.sqrt(2 * math.pi)
    assert not np.allclose(released_SS[-real:, -real:], alone)
    np.testing.assert_allclose(released_SS[:3, :3], long_SS[:3, :3])


def sharp(targets, columns, margin=60.0):
    """Scores of an attention head that points from each row to its target without any doubt."""
    scores = np.zeros((columns, columns))
    for row, target in enumerate(targets):
        if target is not None:
            scores[row, target] = margin
    return scores


def head_loss(model, batch, scores_SS):
    """The loss of a head for a batch of one sentence whose scores are given."""
    (component,), notes = model.components, {}
    context = SimpleNamespace(notes=notes, extra=batch.extra)
    component.set_note(context, torch.from_numpy(scores_SS)[None])
    return float(component.loss(context))


def released_parser_loss(scores_SS, targets, columns):
    """Mean cross-entropy of the code of pham2018: of the softmax of the attention weights, over all rows."""
    rows = [*targets, *[0] * (columns - len(targets))]
    return -sum(math.log(softmax(softmax(row))[target]) for row, target in zip(scores_SS, rows, strict=True)) / columns


def test_a_softmax_of_a_softmax_cannot_learn_a_head_for_sure(make):
    model = make(DepParseSettings(layer=0))
    words, governors = chain(18)
    batch = make_batch(pairs((words, governors)), np.arange(1), model.components)
    columns = batch.source_BS.size(1)
    assert columns == 20
    targets = [None, *range(18), None]  # `<ROOT>` and `</s>` are not supervised here
    assert head_loss(model, batch, sharp(targets, columns)) == pytest.approx(0, abs=1e-12)
    random_SS = np.random.default_rng(1).normal(size=(columns, columns))
    assert head_loss(model, batch, random_SS) == pytest.approx(pointing_loss(random_SS, targets, columns - 1))
    # The released targets are 0 for `<ROOT>` and 1 for `</s>`.
    supervised = [0, *range(18), 1]
    best = released_parser_loss(sharp(supervised, columns), supervised, columns)
    assert best == pytest.approx(math.log(1 + (columns - 1) / math.e)) == pytest.approx(2.08, abs=0.005)
    uniform = released_parser_loss(np.zeros((columns, columns)), supervised, columns)
    assert uniform == pytest.approx(math.log(columns)) == pytest.approx(3.00, abs=0.005)


def test_rows_of_padding_pull_to_the_root_in_the_released_loss():
    supervised, columns = [0, 0, 1, 2, 1], 9
    to_root = [*supervised, *[0] * 4]
    elsewhere = [*supervised, *[3] * 4]
    losses = [released_parser_loss(sharp(targets, columns), supervised, columns) for targets in (to_root, elsewhere)]
    assert losses[0] < losses[1]


def released_sisa_loss(scores_SS, targets):
    """Summed cross-entropy of bugliarello2020's code: a softmax over rows, of weights normalised over columns."""
    weights_SS = np.array([softmax(row) for row in scores_SS])
    return -sum(math.log(softmax(weights_SS[:, column])[target]) for column, target in enumerate(targets))


def test_the_released_sisa_trains_governors_to_attend_to_dependents(make):
    model = make(SisaSettings())
    governors = [1, 3, 1, -1, 3]
    targets = [1, 3, 1, 3, 3]
    batch = make_batch(pairs((list(range(5)), governors)), np.arange(1), model.components)
    to_governors = sharp([*targets, None], 6)
    assert head_loss(model, batch, to_governors) == pytest.approx(0, abs=1e-12)
    assert head_loss(model, batch, to_governors.T) > 60
    released = [released_sisa_loss(scores, [*targets, 5]) for scores in (to_governors, to_governors.T)]
    assert released[1] < released[0]


def partition(labels, names):
    """Group names by label."""
    groups = {}
    for label, name in zip(labels, names, strict=True):
        groups.setdefault(label, set()).add(name)
    return sorted(map(sorted, groups.values()))


@pytest.mark.parametrize("maximum", [5, 20])
def test_the_released_tree_distances_are_those_of_a_maximum_that_is_smaller_by_two(maximum):
    distances = list(range(25))
    (governor_BW,) = torch.tensor([[chain(25)[1]]])
    *paths, _ = tree_paths(governor_BW)

    def ours(most):
        (component,) = build_components({"labels": TreeDistanceSettings(maximum=most)}, TransformerSettings())
        return partition(component.path_labels(*paths)[0, 0].tolist(), distances)

    released = partition([min(distance + 1, maximum) for distance in distances], distances)
    assert ours(maximum - 2) == released != ours(maximum)


def released_traversal_id(up, down, side):
    """Number a path as the code of pham2018 does: L or R for a sibling, `U*D*` for all others; then clip to 20."""
    if up + down > 10:
        return 1
    if up == down == 1:
        return 2 if side == "L" else 3
    steps = up + down
    return min(4 + steps * (steps + 1) // 2 + up, 20)


def test_the_released_traversals_have_fewer_labels():
    # The side matters for paths that begin at a sibling alone.
    paths = [(up, down, side) for up, down in product(range(12), repeat=2) for side in "LR" if up == 1 or side == "L"]
    up, down, sides = zip(*paths, strict=True)
    is_left = [side == "L" for side in sides]
    (component,) = build_components({"labels": TreeTraversalSettings()}, TransformerSettings())
    ours = component.path_labels(*(torch.tensor(column)[None, None] for column in (up, down, is_left)))[0, 0].tolist()
    groups = partition(starmap(released_traversal_id, paths), paths)
    assert (len(partition(ours, paths)), len(groups)) == (78, 19)
    (together,) = [group for group in groups if (5, 0, "L") in group]
    assert {(1, 4, "L"), (1, 4, "R"), (2, 3, "L"), (0, 10, "L")} <= set(together)
    assert {(2, 2, "L"), (1, 3, "L"), (0, 5, "L")}.isdisjoint(together)
    assert [(1, 2, "L"), (1, 2, "R")] in groups, "below the sibling itself, its side is lost"


def test_the_released_tree_attention_knows_only_how_likely_a_word_is_to_be_the_root():
    scores_SS = np.random.default_rng(1).normal(size=(5, 5))
    words_BS = torch.ones(1, 5, dtype=torch.bool)
    released_SS = np.diag(np.diag(scores_SS))  # all scores between two words become 0
    root_S = softmax(np.diag(scores_SS))
    closed_SS = (1 + root_S[:, None] - root_S[None, :]) / 5
    np.fill_diagonal(closed_SS, root_S)
    np.testing.assert_allclose(tree_marginals(torch.from_numpy(released_SS)[None], words_BS)[0], closed_SS)
    ours_SS = tree_marginals(torch.from_numpy(scores_SS)[None], words_BS)[0]
    np.testing.assert_allclose(ours_SS, tree_distribution(scores_SS)[0])
    assert not np.allclose(ours_SS, closed_SS, atol=0.1)


def test_the_released_decay_is_a_setting(make):
    def weights(settings):
        (component,) = make(settings).components
        for epoch in range(1, 15):
            component.begin_epoch(epoch)
            yield component.loss_weight

    released = [0.8**epoch if 0.8**epoch >= 0.1 else 0 for epoch in range(14)]
    assert list(weights(TagAttentionSettings(decay=0.8))) == pytest.approx(released)
    thesis = [0.65 ** (epoch - 1) if 0.65 ** (epoch - 1) > 0.1 else 0 for epoch in range(1, 15)]
    assert list(weights(TagAttentionSettings())) == pytest.approx(thesis)
    assert (np.count_nonzero(released), np.count_nonzero(thesis)) == (11, 6)
