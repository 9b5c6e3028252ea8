"""Translation with matrix products in 8 bits, on a CPU: less time for large models, at some cost in quality."""

import torch
from torch import Tensor, nn

from nmtcore.errors import UserError
from nmtcore.model.base import TranslationModel

LARGEST = 127
BLOCK = 64
"""Vectors at a time: their sums stay in the processor's caches until they are scaled."""


def use_int8(model: TranslationModel) -> None:
    """Let all linear layers and the output layer of a model compute in 8 bits; its parameters stay.

    Raises `UserError` if the model is not on a CPU.
    """
    if model.target_embedding.weight.device.type != "cpu":
        raise UserError("int8 is for CPUs: add --device cpu, or leave --precision at fp32.")
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.forward = Int8Linear(module.weight, module.bias)
    model.output_layer = Int8Linear(model.target_embedding.weight, model.output_bias)


class Int8Linear:
    """`W x + b` with W and x rounded to 8 bits: a scale per row of W, and one per vector x, computed as it comes.

    The sums are exact (int32); a vector's largest entry, and each row's, becomes 127 or -127.
    """

    def __init__(self, weight_ND: Tensor, bias_N: Tensor | None) -> None:
        quantised_ND, self.scale_N1 = _quantise(weight_ND.detach())
        self.weight_DN = quantised_ND.T.contiguous()
        self.bias_N = bias_N

    def __call__(self, inputs: Tensor) -> Tensor:
        """Apply the layer: (..., D) to (..., N)."""
        rows_RD = inputs.reshape(-1, inputs.shape[-1])
        outputs_RN = rows_RD.new_empty(len(rows_RD), self.weight_DN.shape[1])
        for block_RD, block_RN in zip(rows_RD.split(BLOCK), outputs_RN.split(BLOCK), strict=True):
            quantised_RD, scale_R1 = _quantise(block_RD)
            torch.mul(torch._int_mm(quantised_RD, self.weight_DN), scale_R1, out=block_RN)
            block_RN *= self.scale_N1.T
            if self.bias_N is not None:
                block_RN += self.bias_N
        return outputs_RN.unflatten(0, inputs.shape[:-1])


def _quantise(rows_RD: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row to multiples of its scale: int8 (R, D), and the scales (R, 1)."""
    scale_R1 = rows_RD.abs().amax(dim=1, keepdim=True).clamp_min(torch.finfo(rows_RD.dtype).tiny) / LARGEST
    return (rows_RD / scale_R1).round_().to(torch.int8), scale_R1
