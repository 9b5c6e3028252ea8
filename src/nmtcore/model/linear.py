"""Linear layers, computed by oneDNN on the processors where it is faster than what PyTorch takes by itself.

PyTorch's MKL runs its code for AVX2 on AMD's processors. Where these have AVX-512, oneDNN, a part of PyTorch,
is up to 2.3 times as fast (docs/benchmarks.md). Everywhere else, and for small products, all here is `F.linear`.
"""

from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import Function

from nmtcore.model.device import processor

PYTORCH, ONEDNN = "PyTorch", "oneDNN"

LEAST_ROWS = 16
LEAST_SIZE, LEAST_SIZE_IN_TRAINING = 1_500_000, 30_000_000
"""The number of rows, and of multiplications, from which oneDNN pays. A call takes it 17 microseconds longer; and the
first of each shape, of which training has ever new ones, nearly a millisecond."""


class Linear(nn.Linear):
    """A linear layer that calls `linear`."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Apply the layer: (..., inputs) to (..., outputs)."""
        return linear(inputs, self.weight, self.bias)


def linear(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute `F.linear(inputs, weight, bias)`, by oneDNN where that is faster."""
    if torch.compiler.is_compiling() or _on_cpu() != ONEDNN or torch.is_autocast_enabled("cpu"):
        return F.linear(inputs, weight, bias)
    given = [inputs, weight] if bias is None else [inputs, weight, bias]
    training = torch.is_grad_enabled() and any(x.requires_grad for x in given)
    rows, size = inputs.numel() // max(1, inputs.size(-1)), inputs.numel() * len(weight)
    pays = rows >= LEAST_ROWS and size >= (LEAST_SIZE_IN_TRAINING if training else LEAST_SIZE)
    if not pays or any(x.dtype != torch.float32 or x.device.type != "cpu" for x in given):
        return F.linear(inputs, weight, bias)
    output = (_Product.apply if training else _product)(inputs.flatten(0, -2), weight, bias)
    return output.unflatten(0, inputs.shape[:-1])


def products_by(device: torch.device | str) -> str:
    """Name what computes large products of linear layers on a device: `ONEDNN` or `PYTORCH`."""
    return _on_cpu() if torch.device(device).type == "cpu" else PYTORCH


@cache
def _on_cpu() -> str:
    faster = torch.backends.cpu.get_cpu_capability() == "AVX512" and processor("vendor_id") == "AuthenticAMD"
    return ONEDNN if faster and hasattr(torch.ops.mkldnn, "_linear_pointwise") and _is_right() else PYTORCH


def _is_right() -> bool:
    """Say whether the operator, which is private, computes a layer and its gradients with the precision of fp32."""
    generator = torch.Generator().manual_seed(0)  # its own, so that no draw of a run changes
    x, w, g, b = (torch.randn(size, generator=generator) for size in ((48, 64), (80, 64), (48, 80), (80,)))
    try:
        products = [_product(x, w, b), _product(g, w.t(), None), _product(g.t(), x.t(), None)]
    except RuntimeError:  # the operator has other parameters
        return False
    x, w, g, b = (tensor.double() for tensor in (x, w, g, b))
    exact = [x @ w.t() + b, g @ w, g.t() @ x]
    return all(torch.allclose(p.double(), e, rtol=0, atol=1e-4) for p, e in zip(products, exact, strict=True))


def _product(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    return torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")


class _Product(Function):
    """The operator, which has no gradient of its own, with its gradient."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(rows, weight)
        return _product(rows, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rows, weight = ctx.saved_tensors
        wanted = ctx.needs_input_grad
        return (
            _Product.apply(gradient, weight.t(), None) if wanted[0] else None,
            _weight_gradient(gradient, rows) if wanted[1] else None,
            gradient.sum(0) if wanted[2] else None,
        )


def _weight_gradient(gradient: Tensor, rows: Tensor) -> Tensor:
    """Multiply without a transposed copy of the wider factor: the operator makes one of the first, if it is transposed.

    The transposed result is copied as well, when it becomes the weight's gradient.
    """
    (count, inputs), outputs = rows.shape, gradient.size(1)
    if inputs * (count + outputs) < count * outputs:
        return _Product.apply(rows.t(), gradient.t(), None).t()
    return _Product.apply(gradient.t(), rows.t(), None)
