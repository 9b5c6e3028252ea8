"""The recurrent model and head selection against loops in float64, and their neutral settings."""

import numpy as np
import pytest
import torch
from model.comparing import check_baseline, check_logits
from oracles import Recurrent as Oracle
from torch.nn.functional import one_hot

from nmtcore.config.components import HeadSelectionSettings
from nmtcore.config.training import RecurrentSettings
from nmtcore.model.batch import make_batch
from nmtcore.model.components.base import Build
from nmtcore.model.components.head_selection import HeadSelection, straight_through
from nmtcore.model.recurrent import Recurrent

VOCABULARY = 30
SELECTIONS = [
    HeadSelectionSettings(weights=weights, annotations=annotations, hard=hard)
    for weights, annotations, hard in [
        ("tree", "shared", False),
        ("tree", "separate", False),
        ("tree", "one_set", False),
        ("tree", "shared", True),
        ("flat", "shared", False),
        ("flat", "separate", False),
    ]
]


def model_of(selection: HeadSelectionSettings | None = None, *, joint=False):
    torch.manual_seed(0)
    settings = RecurrentSettings(width=8, layers=2, dropout=0.5)
    components = [] if selection is None else [HeadSelection(selection, Build(name="heads", model=settings))]
    model = Recurrent(settings, source_size=VOCABULARY, target_size=VOCABULARY, joint=joint, components=components)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.double().eval()


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("selection", [None, *SELECTIONS])
def test_logits_equal_loops(draw, selection, joint):
    model = model_of(selection, joint=joint)
    examples = draw(6, 3, longest=3).take(np.array([0, 1, 2, 3]))
    examples = examples.take(np.flatnonzero(examples.source.ids.lengths <= 4))
    batch = make_batch(examples, np.arange(len(examples)), tuple(model.components))
    check_logits(model, batch, lambda row: Oracle(model))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_closed_gate_equals_the_model_without_head_selection(draw, selection):
    model = model_of(selection)
    gate = model.components[0].gate
    torch.nn.init.zeros_(gate.weight)
    torch.nn.init.constant_(gate.bias, -1e9)
    check_baseline(model, model_of(), make_batch(draw(4, 1), np.arange(4)))


def from_gates(gates_ZG, share_ZG, cell_ZD):
    """Do what torch's kernel does on a GPU by the public function that calls it there."""
    gates_ZG = gates_ZG + share_ZG
    size = gates_ZG.size(1)
    states = torch.zeros_like(cell_ZD), cell_ZD
    identity, none = torch.eye(size, dtype=cell_ZD.dtype), torch.zeros(size, cell_ZD.size(1), dtype=cell_ZD.dtype)
    return *torch.lstm_cell(gates_ZG, states, identity, none), gates_ZG


@pytest.mark.parametrize("kernel", [False, True])
def test_gradients_are_those_of_the_loss_also_with_the_kernel_of_a_gpu(draw, monkeypatch, kernel):
    model = model_of(SELECTIONS[0])
    batch = make_batch(draw(4, 1), np.arange(4), tuple(model.components))
    expected = model.loss(batch).objective()
    monkeypatch.setattr(Recurrent, "_has_kernel", lambda model, gates: kernel)
    monkeypatch.setattr(torch.ops.aten, "_thnn_fused_lstm_cell", from_gates)
    torch.testing.assert_close(model.loss(batch).objective(), expected, rtol=1e-12, atol=0)
    weights = [weight for name, weight in model.named_parameters() if name.startswith(("decoder", "target"))]
    assert torch.autograd.gradcheck(lambda *_: model.loss(batch).objective(), weights, atol=1e-8, fast_mode=True)


def test_hard_weights_pass_gradients_straight_through():
    torch.manual_seed(0)
    weights_BSS = torch.rand(2, 3, 3, dtype=torch.float64, requires_grad=True)
    words_BS = torch.tensor([[True, True, True], [True, True, False]])
    hard_BSS = straight_through(weights_BSS, words_BS)
    for row, words in enumerate([3, 2]):
        best_S = weights_BSS[row].argmax(dim=0)[:words]
        assert torch.equal(hard_BSS[row, :, :words].round(decimals=12), one_hot(best_S, 3).T.double())
    assert not hard_BSS[1, :, 2].round(decimals=12).any()
    along_BSS = torch.randn(2, 3, 3, dtype=torch.float64)
    (gradient_BSS,) = torch.autograd.grad(hard_BSS, weights_BSS, along_BSS)
    assert torch.equal(gradient_BSS, along_BSS)
