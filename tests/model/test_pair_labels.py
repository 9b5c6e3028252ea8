"""Tests of attention with labelled pairs against double loops, and of its settings."""

import math

import numpy as np
import pytest
import torch
from model.comparing import check_baseline, check_logits
from oracles import TransformerOracle, tree_pairs

from nmtcore.config.components import (
    DepParseSettings,
    RelativePositionsSettings,
    TreeDistanceSettings,
    TreeTraversalSettings,
)
from nmtcore.model.batch import make_batch
from nmtcore.model.components.base import AttentionHooks, Build, Component
from nmtcore.model.components.pair_labels import traversals

SYSTEMS = {
    "relative": [RelativePositionsSettings(maximum=3)],
    "distance": [TreeDistanceSettings(maximum=2)],
    "traversal": [TreeTraversalSettings(maximum=3)],
    "base, distance": [TreeDistanceSettings(maximum=2, replaces_positions=False)],
    "base, traversal": [TreeTraversalSettings(replaces_positions=False)],
    "relative, traversal": [RelativePositionsSettings(maximum=3), TreeTraversalSettings(maximum=3)],
}


class LabelledOracle(TransformerOracle):
    """The oracle with a vector for each pair of tokens of one sentence."""

    def __init__(self, model, settings, words, governors) -> None:
        super().__init__(model)
        self.components = settings
        self.words, self.pairs = words, tree_pairs(governors) if -2 not in governors else None

    def has_sinusoids(self, name):
        return not any(
            isinstance(settings, RelativePositionsSettings)
            or (name == "source_embedding" and getattr(settings, "replaces_positions", False))
            for settings in self.components
        )

    def label(self, settings, i, j):
        """Return the label of a pair; None if it has no vector."""
        if isinstance(settings, RelativePositionsSettings):
            return j - i + settings.maximum if abs(j - i) <= settings.maximum else 2 * settings.maximum + 1
        if self.pairs is None:
            return None
        names = list(traversals(settings.maximum))
        count = len(names) if isinstance(settings, TreeTraversalSettings) else settings.maximum + 2
        if self.words[i] is None or self.words[j] is None:
            return count
        distance, traversal = self.pairs[self.words[i], self.words[j]]
        if isinstance(settings, TreeDistanceSettings):
            return min(distance, settings.maximum + 1)
        return names.index(traversal) if traversal in names else count - 1

    def vectors(self, name, i, j):
        """Sum the vectors of a pair."""
        stack, layer, _ = name.split(".")
        total = np.zeros(self.settings.width // self.settings.heads)
        for n, settings in enumerate(self.components):
            table = self.values.get(f"components.{n}.keys.{stack}.{layer}.weight")
            label = self.label(settings, i, j) if table is not None else None
            total += 0 if label is None else table[label]
        return total

    def scores(self, name, head, states, queries, keys):
        labelled = [[key + self.vectors(name, i, j) for j, key in enumerate(keys)] for i in range(len(keys))]
        return np.einsum("ie,ije->ij", queries, np.array(labelled)) / math.sqrt(queries.shape[1])


def oracle_of(model, settings, examples, row, *, prefix=0, oracle=LabelledOracle):
    words = [*[None] * prefix, *examples.source.word_of_subword[row].tolist(), None]
    return oracle(model, settings, words, examples.source.features["governor"][row].tolist())


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_logits_equal_those_of_the_oracle(name, norm, make, draw):
    model, examples = make(*SYSTEMS[name], norm=norm), draw(4, seed=0, longest=5)
    assert any(-2 in governors for governors in examples.source.features["governor"])
    batch = make_batch(examples, np.arange(4), model.components)
    check_logits(model, batch, lambda row: oracle_of(model, SYSTEMS[name], examples, row))


class NoSinusoids(Component):
    """Removes the sinusoids of some stacks."""

    def __init__(self, *stacks) -> None:
        super().__init__(None, Build(name="no_sinusoids"))
        self.stacks = stacks

    def replaces_positions(self, stack):
        return stack in self.stacks


REPLACED = {
    "relative": ("encoder", "decoder"),
    "traversal": ("encoder",),
    "base, distance": (),
    "base, traversal": (),
    "relative, traversal": ("encoder", "decoder"),
}


@pytest.mark.parametrize("name", REPLACED)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_tables_of_zeros_equal_the_baseline_without_the_replaced_sinusoids(name, norm, make, draw):
    model = make(*SYSTEMS[name], norm=norm)
    with torch.no_grad():
        for table in model.components.parameters():
            table.zero_()
    batch = make_batch(draw(5, seed=3), np.arange(5), model.components)
    check_baseline(model, make(extra_components=(NoSinusoids(*REPLACED[name]),), norm=norm), batch)
    assert any(table.grad.any() for table in model.components.parameters())


def test_sentences_without_annotation_equal_the_baseline(make, draw):
    examples = draw(5, seed=3)
    examples.source.features["governor"].values[:] = -2
    model = make(TreeTraversalSettings(replaces_positions=False))
    batch = make_batch(examples, np.arange(5), model.components)
    check_baseline(model, make(), batch)
    assert not any(table.grad.any() for table in model.components.parameters())


class Doubles(Component):
    """Doubles the scores of self-attention."""

    def attention_hooks(self, stack, layer):
        return AttentionHooks(scores=lambda scores, inputs: 2 * scores) if stack != "cross" else None


class DoubledOracle(LabelledOracle):
    def scores(self, *arguments):
        return 2 * super().scores(*arguments)


def test_other_components_change_scores_with_labels_and_parser_heads_are_trained_on_the_result(make, draw):
    settings = [RelativePositionsSettings(maximum=2), TreeDistanceSettings(maximum=3)]
    doubles = Doubles(None, Build(name="doubles"))
    model, examples = make(*settings, DepParseSettings(layer=1), extra_components=(doubles,)), draw(3, 4, longest=4)
    batch = make_batch(examples, np.arange(3), model.components)
    oracles = [oracle_of(model, settings, examples, row, prefix=1, oracle=DoubledOracle) for row in range(3)]
    check_logits(model, batch, oracles.__getitem__)
    for grad in (True, False):
        with torch.set_grad_enabled(grad):
            scores_BSS = model.encode(batch).notes["depparse"].detach().numpy()
        for scores_SS, oracle in zip(scores_BSS, oracles, strict=True):
            expected = oracle.head_scores["encoder.1.attention", 3]
            np.testing.assert_allclose(scores_SS[: len(expected), : len(expected)], expected, rtol=1e-9)
