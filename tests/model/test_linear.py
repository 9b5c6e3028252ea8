"""Tests of linear layers computed by oneDNN, on any processor: the operator itself is in every PyTorch for x86."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from nmtcore.model import linear
from nmtcore.model.base import PackedLinear

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
"""The error of fp32 in a small model."""


def count_products(monkeypatch):
    """Count the calls of the operator from here on, in the list that is returned."""
    calls, product = [], linear._product
    monkeypatch.setattr(linear, "_product", lambda *given: calls.append(1) or product(*given))
    return calls


@pytest.fixture
def amd(amd_processor, monkeypatch):
    """An AMD processor with AVX-512, on which even the smallest products are oneDNN's; the list of its calls."""
    for name in ("LEAST_ROWS", "LEAST_SIZE", "LEAST_SIZE_IN_TRAINING"):
        monkeypatch.setattr(linear, name, 1)
    assert amd_processor() == linear.ONEDNN
    return count_products(monkeypatch)


def tensors(*sizes):
    """Draw tensors that get gradients."""
    return [torch.randn(size).requires_grad_() for size in sizes]


def both_ways(function, monkeypatch):
    """Call a function with products by oneDNN, then by PyTorch."""
    with monkeypatch.context() as patch:
        patch.setattr(F, "linear", None)  # a layer that calls it fails
        by_onednn = function()
    with monkeypatch.context() as patch:
        patch.setattr(linear, "_on_cpu", lambda: linear.PYTORCH)
        return by_onednn, function()


@pytest.mark.parametrize("outputs", [3, 40], ids=["narrowing", "widening"])
@pytest.mark.parametrize("has_bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize(
    "change",
    [lambda x: x[:, 0], lambda x: x.transpose(0, 1), lambda x: x[:1, ..., ::2].expand(9, 6, 4)],
    ids=["2-D", "transposed", "strided and expanded"],
)
def test_values_and_first_and_second_derivatives(change, has_bias, outputs, amd, monkeypatch):
    torch.manual_seed(0)
    (inputs,) = tensors((9, 6, 8))
    weight, bias = tensors((outputs, change(inputs).size(-1)), (outputs,))
    given = [inputs, weight, *([bias] if has_bias else [])]

    def derivatives():
        output = linear.linear(change(inputs), *given[1:])
        first = torch.autograd.grad(output.square().mean(), given, create_graph=True)
        second = torch.autograd.grad(sum(own.square().sum() for own in first), given)
        return output, *first, *second

    by_onednn, expected = both_ways(derivatives, monkeypatch)
    assert amd
    torch.testing.assert_close(by_onednn, expected, **CLOSE)


@pytest.mark.parametrize(
    ("rows", "width", "training", "is_used"),
    [(64, 96, False, False), (15, 512, False, False), (16, 512, False, True), (1024, 96, True, False),
     (2048, 128, True, True)],
)  # fmt: skip
def test_only_large_products_go_to_onednn(rows, width, training, is_used, amd_processor, monkeypatch):
    amd_processor()
    calls, layer = count_products(monkeypatch), PackedLinear(width, 1, width)
    with nullcontext() if training else torch.no_grad():
        layer(torch.randn(rows, width))
    assert bool(calls) == is_used


@pytest.mark.parametrize(
    "processor",
    [{"cpuinfo": "vendor_id\t: GenuineIntel\n"}, {"capability": "AVX2"}],
    ids=["Intel", "AMD without AVX-512"],
)
def test_other_processors_compute_as_before(processor, amd_processor, monkeypatch):
    assert amd_processor(**processor) == linear.PYTORCH
    calls, layer, plain = count_products(monkeypatch), linear.Linear(256, 512), nn.Linear(256, 512)
    plain.load_state_dict(layer.state_dict())
    inputs = torch.randn(300, 256)
    for own in (layer, plain):
        own(inputs).square().sum().backward()
    assert torch.equal(layer(inputs), F.linear(inputs, layer.weight, layer.bias))
    assert torch.equal(layer.weight.grad, plain.weight.grad)
    assert not calls


@pytest.mark.parametrize("case", ["float64", "bf16", "autocast", "meta", "no rows"])
def test_what_is_not_fp32_on_the_cpu_is_left_to_pytorch(case, amd):
    dtype = {"float64": torch.float64, "bf16": torch.bfloat16}.get(case, torch.float32)
    layer = linear.Linear(8, 5).to(device="meta" if case == "meta" else "cpu", dtype=dtype)
    inputs = torch.randn(0 if case == "no rows" else 32, 8, dtype=dtype, device=layer.weight.device, requires_grad=True)
    with torch.autocast("cpu", enabled=case == "autocast"):
        output = layer(inputs)
    output.sum().backward()
    assert inputs.grad.shape == inputs.shape
    assert layer.weight.grad.shape == layer.weight.shape
    assert not amd


def less_precise(rows, weight, bias, *_):
    return F.linear(rows.bfloat16(), weight.bfloat16(), None if bias is None else bias.bfloat16()).float()


@pytest.mark.parametrize(
    "operator", [None, less_precise, lambda rows: rows], ids=["none", "imprecise", "other parameters"]
)
def test_an_operator_that_is_missing_or_computes_something_else_is_not_used(operator, amd_processor, monkeypatch):
    def called(*arguments):
        try:
            return operator(*arguments)
        except TypeError as error:  # torch's own error
            raise RuntimeError("expected at most 1 argument") from error

    operators = {} if operator is None else {"_linear_pointwise": called}
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace(**operators))
    assert amd_processor() == linear.PYTORCH
    inputs, weight = torch.randn(64, 300), torch.randn(300, 300)
    assert torch.equal(linear.linear(inputs, weight), F.linear(inputs, weight))


def test_compiled_layers_are_left_to_the_compiler(amd):
    layer = linear.Linear(8, 5)
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    inputs = torch.randn(32, 8)
    assert torch.equal(compiled(inputs), F.linear(inputs, layer.weight, layer.bias))
    assert not amd
