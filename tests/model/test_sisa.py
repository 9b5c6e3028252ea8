"""Tests of the biaffine head against double loops: attention, training targets, parses."""

import numpy as np
import pytest
import torch
from factories import target_mask
from model.trees import TREES, columns_of_word, pairs, parent_of
from oracles import TransformerOracle, pointing_loss, softmax

from nmtcore.config.components.settings import DepParseSettings, SisaSettings
from nmtcore.model.batch import make_batch
from nmtcore.syntax.trees import NO_COLUMN


class BiaffineOracle(TransformerOracle):
    """The oracle with a SISA head: `[q; 1] U [k; 1]` with a full matrix U, pair by pair."""

    def __init__(self, model, settings):
        super().__init__(model)
        (self.prefix,) = {n.rsplit(".", 2)[0] for n in self.values if n.endswith("biaffine.weight")}
        self.sisa = settings

    def scores(self, name, head, states, queries, keys):
        if name == f"encoder.{self.sisa.layer}.attention" and head == self.sisa.head % self.settings.heads:
            return self.biaffine(states)
        return super().scores(name, head, states, queries, keys)

    def biaffine(self, x):
        def leaky(rows):
            return np.where(rows > 0, rows, self.sisa.slope * rows)

        queries, keys = (leaky(self.linear(f"{self.prefix}.{projection}", x)) for projection in ("queries", "keys"))
        weight, bias = (self.values[f"{self.prefix}.biaffine.{parameter}"] for parameter in ("weight", "bias"))
        width = len(bias)
        operator = np.zeros((width + 1, width + 1))
        operator[:width, :width], operator[width, :width] = weight.T, bias
        # An arbitrary bias of the queries and constant, which cancel in the softmax.
        operator[:, width] = np.linspace(-3, 2, width + 1)
        scores = np.zeros((len(x), len(x)))
        for i in range(len(x)):
            for j in range(len(x)):
                scores[i, j] = np.append(queries[i], 1) @ operator @ np.append(keys[j], 1)
        return scores


def expected_columns(words, governors, offset=0):
    """Return the target of each source column: for all subwords of a word the governor's first subword."""
    targets = [
        None if governors[word] == -2 else offset + columns_of_word(parent_of(word, governors), words)[0]
        for word in words
    ]
    return [*[None] * offset, *targets, None]


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("prefix", [(), (DepParseSettings(layer=2),)])
def test_targets_equal_those_of_loops(make, tree, prefix):
    batch = make_batch(pairs(TREES[tree]), np.array([0]), make(*prefix, SisaSettings()).components)
    actual = [None if t == NO_COLUMN else t for t in batch.extra["sisa.targets"][0].tolist()]
    assert actual == expected_columns(*TREES[tree], offset=len(prefix))
    assert batch.counts["sisa"] == sum(t is not None for t in actual)


@pytest.mark.parametrize("prefix", [(), (DepParseSettings(layer=2, weight=0.0),)])
@pytest.mark.parametrize(
    ("norm", "settings"),
    [
        ("post", SisaSettings()),
        ("pre", SisaSettings(layer=2, head=1)),
        ("pre", SisaSettings(layer=1, head=-1, slope=0.4)),
    ],
)
def test_logits_loss_and_parses_equal_those_of_the_oracle(make, draw, norm, settings, prefix):
    model, examples = make(settings, *prefix, norm=norm), draw(8, seed=settings.layer, longest=5)
    batch, offset = make_batch(examples, np.arange(8), model.components), len(prefix)
    encoded, oracle, total, count = model.encode(batch), BiaffineOracle(model, settings), 0.0, 0
    logits = model.logits(model.decode(batch.target_input_BT, encoded), encoded.context).detach().numpy()
    parses = model.parser.parse_scores(encoded.context)
    assert model.parser.points_to_root
    for i in range(8):
        words, governors = examples.source.word_of_subword[i].tolist(), examples.source.features["governor"][i].tolist()
        source = batch.source_BS[i][batch.source_mask_BS[i]].tolist()
        target = batch.target_input_BT[i][target_mask(batch)[i]].tolist()
        np.testing.assert_allclose(logits[i, : len(target)], oracle.logits(source, target), rtol=1e-8, atol=1e-8)
        # Neither `</s>` nor `<ROOT>` can be a governor.
        scores = oracle.head_scores[f"encoder.{settings.layer}.attention", settings.head % 4]
        scores = scores[offset:, offset : offset + len(words)]
        targets = expected_columns(words, governors)
        total += pointing_loss(scores, targets, candidates=len(words))
        count += sum(t is not None for t in targets)
        firsts = [words.index(w) for w in range(len(governors))]
        log = np.array([[np.log(softmax(scores[r])[c]) for c in firsts] for r in firsts])
        assert parses[i].dtype == np.float32
        np.testing.assert_allclose(parses[i][:, 0], log.diagonal(), rtol=1e-5, atol=1e-5)
        np.fill_diagonal(log, -np.inf)
        np.testing.assert_allclose(parses[i][:, 1:], log, rtol=1e-5, atol=1e-5)
    part = model.loss(batch).parts[1]
    assert (part.name, part.count, part.weight) == ("sisa", count, 1.0)
    assert part.sum.item() == pytest.approx(total)


def test_initial_scores_are_as_large_as_those_of_a_plain_head(make, draw):
    """The parser's first loss is near that of a uniform distribution, not that of a one-hot head."""
    model = make(SisaSettings(), width=256, heads=4, encoder_layers=1)
    batch = make_batch(draw(40, seed=3, longest=30), np.arange(40), model.components)
    with torch.no_grad():
        parser = model.loss(batch).parts[1]
    flat = np.log(batch.source_mask_BS.sum(1).double().mean().item())
    assert parser.name == "sisa"
    assert abs(parser.sum.item() / parser.count - flat) < 1
