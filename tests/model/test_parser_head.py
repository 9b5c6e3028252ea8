"""Tests of the heads of `depparse` and `diagonalparse` against double loops."""

import dataclasses

import numpy as np
import pytest
import torch
from model.comparing import check_baseline
from model.trees import TREES, pairs
from oracles import TransformerOracle, governor_columns, pointing_loss, previous_columns, softmax

from nmtcore.config.components.settings import DepParseSettings, DiagonalParseSettings
from nmtcore.model.batch import make_batch
from nmtcore.syntax.trees import NO_COLUMN

HEADS = {"depparse": DepParseSettings, "diagonalparse": DiagonalParseSettings}


def expected_columns(name, words, governors):
    """Return the target of each source column, including `</s>` and prefix."""
    if name == "depparse":
        return [None, *governor_columns(words, governors), None]
    return [*previous_columns(words), None]


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("tree", TREES)
def test_targets_equal_those_of_the_oracle(make, name, tree):
    words, governors = TREES[tree]
    batch = make_batch(pairs((words, governors)), np.array([0]), make(HEADS[name](layer=1)).components)
    targets = [None if t == NO_COLUMN else t for t in batch.extra[f"{name}.targets"][0].tolist()]
    assert targets == expected_columns(name, words, governors)
    assert batch.counts[name] == sum(t is not None for t in targets)


def test_targets_written_out_by_hand(make):
    # <ROOT> der Hund@@ e bellt </s>: "Hunde" is the governor of "der", "bellt" of "Hunde", the root of "bellt".
    examples = pairs(([0, 1, 1, 2], [1, 2, -1]))
    batch = make_batch(examples, np.array([0]), make(DepParseSettings(layer=0)).components)
    assert batch.source_BS.tolist() == [[4, 5, 6, 7, 8, 3]]
    assert batch.extra["depparse.targets"].tolist() == [[NO_COLUMN, 2, 4, 2, 0, NO_COLUMN]]
    batch = make_batch(examples, np.array([0]), make(DiagonalParseSettings(layer=0)).components)
    assert batch.source_BS.tolist() == [[5, 6, 7, 8, 3]]
    assert batch.extra["diagonalparse.targets"].tolist() == [[0, 0, 1, 1, NO_COLUMN]]


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize(("norm", "layer", "head"), [("pre", 0, -1), ("post", 2, 1), ("pre", 2, 3)])
def test_loss_and_parses_equal_those_of_the_oracle(make, draw, name, norm, layer, head):
    model, examples = make(HEADS[name](layer=layer, head=head), norm=norm), draw(8, seed=layer, longest=5)
    batch = make_batch(examples, np.arange(8), model.components)
    encoded, oracle, total, count = model.encode(batch), TransformerOracle(model), 0.0, 0
    parses = model.parser.parse_scores(encoded.context)
    for i in range(8):
        words, governors = examples.source.word_of_subword[i].tolist(), examples.source.features["governor"][i].tolist()
        targets = expected_columns(name, words, governors)
        oracle.encode(batch.source_BS[i][batch.source_mask_BS[i]].tolist())
        scores = oracle.head_scores[f"encoder.{layer}.attention", head % 4]
        total += pointing_loss(scores, targets, candidates=len(targets) - 1)
        count += sum(t is not None for t in targets)
        offset = int(name == "depparse")
        firsts = [offset + words.index(w) for w in range(len(governors))]
        columns = [0, *firsts] if name == "depparse" else firsts
        expected = [[np.log(softmax(scores[r][: len(targets) - 1])[c]) for c in columns] for r in firsts]
        assert parses[i].dtype == np.float32
        np.testing.assert_allclose(parses[i], np.array(expected), rtol=1e-5, atol=1e-5)
    part = model.loss(batch).parts[1]
    assert (part.name, part.count, part.weight) == (name, count, 1.0)
    assert part.sum.item() == pytest.approx(total)


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_weight_zero_equals_the_baseline_on_the_same_source(make, draw, name, norm):
    model = make(HEADS[name](layer=1, weight=0.0), norm=norm)
    check_baseline(model, make(norm=norm), make_batch(draw(6, seed=2), np.arange(6), model.components))


@pytest.mark.parametrize("name", HEADS)
def test_a_sentence_without_words_has_loss_zero_and_finite_gradients(make, name):
    model = make(HEADS[name](layer=0))
    batch = make_batch(pairs(([], [])), np.array([0]), model.components)
    losses = model.loss(batch)
    assert losses.parts[1].sum.item() == 0
    assert losses.parts[1].count == 0
    losses.objective().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    assert model.parser.parse_scores(model.encode(batch).context)[0].shape == (0, int(name == "depparse"))


def test_trees_are_not_needed_for_parsing(make, draw):
    model, examples = make(DepParseSettings(layer=1)), draw(3, seed=1)
    bare = dataclasses.replace(examples, source=dataclasses.replace(examples.source, features={}))
    batch = make_batch(bare, np.arange(3), model.components)
    with_trees = make_batch(examples, np.arange(3), model.components)
    for scores, scores_with_trees in zip(
        *(model.parser.parse_scores(model.encode(b).context) for b in (batch, with_trees)), strict=True
    ):
        np.testing.assert_array_equal(scores, scores_with_trees)


def test_scores_are_supervised_after_other_components_changed_them(make, draw):
    from nmtcore.model.components.base import AttentionHooks, Build, Component

    class Shifts(Component):
        def attention_hooks(self, stack, layer):
            return AttentionHooks(scores=lambda scores, inputs: scores * 3) if stack == "encoder" else None

    model = make(DepParseSettings(layer=0), extra_components=(Shifts(None, Build(name="shifts")),))
    batch = make_batch(draw(3, seed=5), np.arange(3), model.components)
    plain = make(DepParseSettings(layer=0))
    plain.load_state_dict(model.state_dict())
    shifted, raw = (m.encode(batch).context.notes["depparse"] for m in (model, plain))
    torch.testing.assert_close(shifted, 3 * raw)
