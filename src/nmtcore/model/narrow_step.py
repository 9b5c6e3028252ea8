"""A step of a decoder layer with narrow heads, on a CPU: attention as few operations over all rows and heads.

A batched product of queries and keys costs a call per row and head, which takes longer than the arithmetic if heads are
narrow. Here rows and heads are the last dimensions of all tensors, so that each operation runs along them.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from nmtcore.model.attention import KeysValues, Memory
from nmtcore.model.cache import Cache, CacheByPosition, take_rows
from nmtcore.model.layers import DecoderLayer
from nmtcore.model.plain_step import PlainStep, is_plain

WIDEST_NARROW_HEAD = 32
"""Wider heads take longer in this way (docs/benchmarks.md). 0: no head is narrow; for tests."""


class MemoryByPosition(NamedTuple):
    """The source's keys and values in a layer, positions first, for one beam per sentence."""

    pairs_S2EBH: Tensor
    mask_SBH: Tensor
    """0 for a real token, -inf for padding."""

    @classmethod
    def of(cls, keys_values: KeysValues, mask_B11S: Tensor) -> "MemoryByPosition":
        """Lay out keys, values and mask."""
        heads = keys_values.keys_BHKE.size(1)
        pairs_S2EBH = torch.stack(keys_values).permute(3, 0, 4, 1, 2).contiguous()
        return cls(pairs_S2EBH, mask_B11S.permute(3, 1, 0, 2).squeeze(1).expand(-1, -1, heads).contiguous())

    def attend(self, queries_B1HE: Tensor, mask_B11S: Tensor) -> Tensor:
        """Attend to the source, with the mask as it was laid out: (B, 1, H, E)."""
        queries_EBH = _scaled(queries_B1HE.squeeze(1)).permute(2, 0, 1).contiguous()
        keys_SEBH, values_SEBH = self.pairs_S2EBH.unbind(1)
        scores_SBH = (keys_SEBH * queries_EBH).sum(1).add_(self.mask_SBH)
        mixed_EBH = (values_SEBH * scores_SBH.softmax(0).unsqueeze(1)).sum(0)
        return mixed_EBH.permute(1, 2, 0).unsqueeze(1)

    def of_sentences(self, sentences_B: Tensor) -> "MemoryByPosition":
        """Select sentences by their indices."""
        return MemoryByPosition(*(take_rows(values, sentences_B) for values in self))

    def for_beams(self, beams: int) -> Memory:
        """Return itself for one beam; for several, the usual layout, with which they take less time."""
        if beams == 1:
            return self
        keys_BHSE, values_BHSE = self.pairs_S2EBH.permute(1, 3, 4, 0, 2)
        return KeysValues(keys_BHSE, values_BHSE).for_steps()


class NarrowStep(PlainStep):
    """Applies a layer to one new position, with a `CacheByPosition`."""

    def attend_to_target(self, packed_R3HE: Tensor, cache_Z2ERH: Tensor, position: int) -> Tensor:
        """Write the position's keys and values to the cache, and attend to all in it with its queries: (R, D)."""
        cache_Z2ERH[position] = packed_R3HE[:, 1:].permute(1, 3, 0, 2)
        keys_ZERH, values_ZERH = cache_Z2ERH[: position + 1].unbind(1)
        scores_ZRH = (keys_ZERH * _scaled(packed_R3HE[:, 0]).permute(2, 0, 1).contiguous()).sum(1)
        mixed_ERH = (values_ZERH * scores_ZRH.softmax(0).unsqueeze(1)).sum(0)
        return mixed_ERH.permute(1, 2, 0).flatten(1)


def start_steps(
    layers: Sequence[DecoderLayer], keys_values: Sequence[KeysValues], mask_B11S: Tensor
) -> tuple[list[Callable[..., Tensor]], list[Memory], Cache]:
    """Start to decode with a layer's fastest step; `keys_values` are the source's, per layer.

    Returns, per layer, the step, which computes what `DecoderLayer.step` does for as long as the layer's parameters
    stay, and its memory; and the cache of all layers.
    """
    keys_BHSE = keys_values[0].keys_BHKE
    if all(map(is_plain, layers)) and _is_narrow(keys_BHSE):
        memory = [MemoryByPosition.of(pair, mask_B11S) for pair in keys_values]
        return [NarrowStep(layer) for layer in layers], memory, CacheByPosition(keys_BHSE, len(layers))
    steps = [PlainStep(layer) if is_plain(layer) else layer.step for layer in layers]
    return steps, [pair.for_steps() for pair in keys_values], Cache(keys_BHSE, len(layers))


def _is_narrow(keys_BHSE: Tensor) -> bool:
    """Return whether heads are narrow, and of a sort that NumPy can copy."""
    on_cpu = keys_BHSE.device.type == "cpu" and not keys_BHSE.requires_grad
    return on_cpu and keys_BHSE.dtype in (torch.float32, torch.float64) and keys_BHSE.size(3) <= WIDEST_NARROW_HEAD


def _scaled(queries: Tensor) -> Tensor:
    return queries * queries.size(-1) ** -0.5
