"""Heads that are trained to parse, against double loops: attention, loss and parses."""

import numpy as np
import pytest
import torch
from model.comparing import check_baseline, check_logits, fixed_dropout
from model.trees import TREES, pairs, parent_of
from oracles import TransformerOracle, governor_columns, pointing_loss, previous_columns, softmax

from nmtcore.config.components import DepParseSettings, DiagonalParseSettings, SisaSettings
from nmtcore.model.batch import make_batch
from nmtcore.segmentation.vocabulary import ROOT_ID

PREFIX = DepParseSettings(layer=2, weight=0.0)
CODE = {"language_code": 9}
CASES = [
    (DepParseSettings(layer=0), (), {"norm": "pre"}),
    (DepParseSettings(layer=2, head=1), (), {"norm": "post"}),
    (DepParseSettings(layer=1), (), {"norm": "post", **CODE}),
    (DepParseSettings(layer=0, root="itself"), (), {"norm": "post", **CODE}),
    (DepParseSettings(layer=2, head=1, root="itself"), (PREFIX,), {"norm": "pre"}),
    (DiagonalParseSettings(layer=0), (), {"norm": "pre"}),
    (DiagonalParseSettings(layer=2, head=1), (PREFIX,), {"norm": "post", **CODE}),
    (SisaSettings(), (), {"norm": "post"}),
    (SisaSettings(layer=2, head=1), (PREFIX,), {"norm": "pre"}),
    (SisaSettings(layer=1, head=-1, slope=0.4), (), {"norm": "pre", **CODE}),
]


class BiaffineOracle(TransformerOracle):
    """The oracle with a SISA head: `[q; 1] U [k; 1]` with a full matrix U, pair by pair."""

    def __init__(self, model, settings):
        super().__init__(model)
        self.sisa = settings

    def scores(self, name, head, states, queries, keys):
        if name == f"encoder.{self.sisa.layer}.attention" and head == self.sisa.head % self.settings.heads:
            return self.biaffine(states)
        return super().scores(name, head, states, queries, keys)

    def biaffine(self, x):
        def leaky(rows):
            return np.where(rows > 0, rows, self.sisa.slope * rows)

        queries, keys = (leaky(self.linear(f"components.0.{projection}", x)) for projection in ("queries", "keys"))
        weight, bias = (self.values[f"components.0.biaffine.{parameter}"] for parameter in ("weight", "bias"))
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


def has_symbol(settings):
    return getattr(settings, "root", None) == "symbol"


def expected_columns(settings, words, governors):
    """Return the target of each source column: `<ROOT>` if there is one, subwords, `</s>`."""
    if has_symbol(settings):
        return [None, *governor_columns(words, governors), None]
    if isinstance(settings, DiagonalParseSettings):
        return [*previous_columns(words), None]
    columns = []
    for column, word in enumerate(words):
        points = isinstance(settings, SisaSettings) or words.index(word) == column
        target = parent_of(word, governors) if points else word
        columns.append(None if governors[word] == -2 else words.index(target))
    return [*columns, None]


def expected_parse(settings, scores, words):
    """Compute the log-probabilities of heads; without `<ROOT>`, a root points to itself."""
    root = int(has_symbol(settings))
    firsts = [root + words.index(word) for word in sorted(set(words))]
    log = np.array([np.log(softmax(scores[row]))[[0] * root + firsts] for row in firsts])
    log = log.reshape(len(firsts), root + len(firsts))
    if not has_symbol(settings) and not isinstance(settings, DiagonalParseSettings):
        log = np.concatenate([log.diagonal()[:, None], log], axis=1)
        np.fill_diagonal(log[:, 1:], -np.inf)
    return log


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("trees", ["drawn", "odd"])
@pytest.mark.parametrize(("settings", "prefix", "base"), CASES)
def test_logits_loss_and_parses_equal_those_of_the_oracle(make, draw, settings, prefix, base, trees, training):
    model = make(settings, *prefix, **base)
    examples = draw(6, seed=settings.layer, longest=4) if trees == "drawn" else pairs(*TREES.values())
    batch, name = make_batch(examples, np.arange(len(examples)), model.components), model.components[0].name
    before = [*[ROOT_ID] * (has_symbol(settings) or prefix != ()), *[CODE["language_code"]] * ("language_code" in base)]
    assert (batch.source_BS[:, : len(before)] == torch.tensor(before)).all()
    others = range(int(has_symbol(settings)), len(before))
    oracles = []
    for _ in range(len(examples)):
        oracles.append(BiaffineOracle(model, settings) if name == "sisa" else TransformerOracle(model))
    check_logits(model, batch, oracles.__getitem__, training=(training,))
    with fixed_dropout():
        parses, losses = model.parser.parse_scores(model.encode(batch)), model.loss(batch)
    total, count = 0.0, 0
    for i, (oracle, parse) in enumerate(zip(oracles, parses, strict=True)):
        words, governors = examples.source.word_of_subword[i].tolist(), examples.source.features["governor"][i].tolist()
        targets, scores = expected_columns(settings, words, governors), oracle.head_scores
        scores = scores[f"encoder.{settings.layer}.attention", settings.head % 4]
        scores = np.delete(np.delete(scores, others, axis=0), others, axis=1)[:, :-1]
        total += pointing_loss(scores, targets, candidates=len(targets) - 1)
        count += sum(target is not None for target in targets)
        assert parse.dtype == np.float32
        np.testing.assert_allclose(parse, expected_parse(settings, scores, words), rtol=1e-5, atol=1e-5)
    assert (losses.parts[1].name, losses.parts[1].count, losses.parts[1].weight) == (name, count, 1.0)
    assert losses.parts[1].sum.item() == pytest.approx(total)
    losses.objective().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


BESIDE = [
    DepParseSettings(layer=1, weight=0.0),
    DepParseSettings(layer=1, weight=0.0, root="itself"),
    DiagonalParseSettings(layer=1, weight=0.0),
]


@pytest.mark.parametrize("settings", BESIDE)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_weight_zero_equals_the_baseline_on_the_same_source(make, draw, settings, norm):
    model = make(settings, norm=norm)
    check_baseline(model, make(norm=norm), make_batch(draw(6, seed=2), np.arange(6), model.components))


def test_initial_scores_of_sisa_are_as_large_as_those_of_a_plain_head(make, draw):
    """The parser's first loss is near that of a uniform distribution, not that of a one-hot head."""
    model = make(SisaSettings(), width=256, heads=4, encoder_layers=1)
    batch = make_batch(draw(40, seed=3, longest=30), np.arange(40), model.components)
    with torch.no_grad():
        parser = model.loss(batch).parts[1]
    flat = np.log(batch.source_mask_BS.sum(1).double().mean().item())
    assert abs(parser.sum.item() / parser.count - flat) < 1
