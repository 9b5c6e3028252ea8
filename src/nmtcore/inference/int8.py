"""Translation with matrix products in 8 bits, on a CPU: less time for large models, at some cost in quality.

Processors without instructions for 8 bits (VNNI) compute the same in fp32, and save no time.
"""

from functools import reduce

import torch
from torch import Tensor, nn

from nmtcore.errors import UserError
from nmtcore.model.base import TranslationModel

LARGEST = 127
EXACT = 2**24 // LARGEST**2
"""Entries of vectors whose product fp32 computes exactly, in any order."""
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

    The sums are exact; a vector's largest entry, and each row's, becomes 127 or -127.
    """

    def __init__(self, weight_ND: Tensor, bias_N: Tensor | None) -> None:
        quantised_ND, self.scale_N1 = _quantise(weight_ND.detach())
        self.in_8_bits = has_vnni()
        self.weight_DN = (quantised_ND if self.in_8_bits else quantised_ND.float()).T.contiguous()
        self.bias_N = bias_N

    def __call__(self, inputs: Tensor) -> Tensor:
        """Apply the layer: (..., D) to (..., N)."""
        rows_RD = inputs.reshape(-1, inputs.shape[-1])
        outputs_RN = rows_RD.new_empty(len(rows_RD), self.weight_DN.shape[1])
        for block_RD, block_RN in zip(rows_RD.split(BLOCK), outputs_RN.split(BLOCK), strict=True):
            quantised_RD, scale_R1 = _quantise(block_RD)
            product = torch._int_mm if self.in_8_bits else exact_product
            torch.mul(product(quantised_RD, self.weight_DN), scale_R1, out=block_RN)
            block_RN *= self.scale_N1.T
            if self.bias_N is not None:
                block_RN += self.bias_N
        return outputs_RN.unflatten(0, inputs.shape[:-1])


def has_vnni() -> bool:
    """Tell whether the processor multiplies 8 bits quickly; without VNNI, PyTorch's product takes 25 times fp32's time.

    Only x86 processors are judged.
    """
    can = torch.cpu.get_capabilities()
    return can.get("architecture") != "x86_64" or bool(can.get("avx512_vnni") or can.get("avx_vnni"))


def exact_product(rows_RD: Tensor, weight_DN: Tensor) -> Tensor:
    """Multiply whole numbers of 8 bits in fp32: (R, D), int8, and (D, N), fp32, to (R, N).

    Exact for D <= EXACT; longer vectors are multiplied in parts, and the sum of parts is rounded to fp32.
    """
    parts = zip(rows_RD.float().split(EXACT, dim=1), weight_DN.split(EXACT), strict=True)
    return reduce(torch.add, (part_RD @ part_DN for part_RD, part_DN in parts))


def _quantise(rows_RD: Tensor) -> tuple[Tensor, Tensor]:
    """Round each row to multiples of its scale: int8 (R, D), and the scales (R, 1)."""
    scale_R1 = rows_RD.abs().amax(dim=1, keepdim=True).clamp_min(torch.finfo(rows_RD.dtype).tiny) / LARGEST
    return (rows_RD / scale_R1).round_().to(torch.int8), scale_R1
