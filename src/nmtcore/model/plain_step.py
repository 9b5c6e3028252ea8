"""A step of a decoder layer without components: what `DecoderLayer.step` computes, to the last bit, in less time.

A step reads one token per row, so in a narrow model the calls of modules, with their lookups, and what components would
need take longer than the arithmetic. Here the parts of a layer are looked up once per search.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.model.attention import Memory, newest_queries, plain_attention
from nmtcore.model.components.base import Context
from nmtcore.model.layers import DecoderLayer, Residual

PLAIN_STEPS = True
"""Whether layers get a `PlainStep` where it does the same as their own; for tests."""

Function = Callable[[Tensor], Tensor]


def is_plain(layer: DecoderLayer) -> bool:
    """Return whether a `PlainStep` does what the layer's own step does.

    It does not if the layer has hooks, of components or registered with torch, or is being trained.
    """
    plain = layer.attention.is_plain and layer.cross.is_plain and not layer.training
    hooked = any(module._forward_hooks or module._forward_pre_hooks for module in layer.modules())
    return PLAIN_STEPS and plain and not hooked


class PlainStep:
    """Applies a layer to one new position."""

    def __init__(self, layer: DecoderLayer) -> None:
        self.heads = layer.attention.heads
        self.before_attention, self.after_attention = _around(layer.around_attention)
        self.queries_keys_values = _function(layer.attention.queries_keys_values)
        self.output = _function(layer.attention.output)
        self.before_cross, self.after_cross = _around(layer.around_cross)
        self.cross_queries = _function(layer.cross.queries)
        self.cross_output = _function(layer.cross.output)
        self.before_feed_forward, self.after_feed_forward = _around(layer.around_feed_forward)
        self.inner, self.outer = _function(layer.feed_forward.inner), _function(layer.feed_forward.outer)

    def __call__(
        self, states_BMD: Tensor, context: Context, cache: Tensor, position: int, memory: Memory, mask_B11S: Tensor
    ) -> Tensor:
        """Apply the layer to one new position of every beam, as `DecoderLayer.step` does: (B, M, D)."""
        shape = states_BMD.shape
        states_RD = states_BMD.view(-1, shape[2])

        packed_RW = self.queries_keys_values(self.before_attention(states_RD))
        mixed_RD = self.attend_to_target(packed_RW.view(len(states_RD), 3, self.heads, -1), cache, position)
        states_RD = self.after_attention(states_RD + self.output(mixed_RD))

        queries_BMD = self.cross_queries(self.before_cross(states_RD)).view(shape)
        mixed_BMHE = memory.attend(queries_BMD.unflatten(2, (self.heads, -1)), mask_B11S)
        states_RD = self.after_cross(states_RD + self.cross_output(mixed_BMHE.reshape(states_RD.shape)))

        inner_RF = F.relu(self.inner(self.before_feed_forward(states_RD)), inplace=True)
        return self.after_feed_forward(states_RD + self.outer(inner_RF)).view(shape)

    def attend_to_target(self, packed_R3HE: Tensor, cache_RZ2HE: Tensor, position: int) -> Tensor:
        """Write the position's keys and values to the cache, and attend to all in it with its queries: (R, D)."""
        mixed_RH1E = plain_attention(*newest_queries(packed_R3HE, cache_RZ2HE, position), None)
        return mixed_RH1E.flatten(1)


def _around(residual: Residual) -> tuple[Function, Function]:
    """Return what a residual applies before its block, and after its sum."""
    norm = _function(residual.norm)
    return (norm, _same) if residual.norm_first else (_same, norm)


def _same(states: Tensor) -> Tensor:
    return states


def _function(module: nn.Linear | nn.LayerNorm) -> Function:
    """Return the function that a module computes with its present parameters."""
    if "forward" in vars(module):  # replaced, as by `use_int8`
        return module.forward
    weight, bias = module.weight, module.bias
    if isinstance(module, nn.Linear):
        return lambda states: F.linear(states, weight, bias)
    shape, epsilon = module.normalized_shape, module.eps
    return lambda states: torch.layer_norm(states, shape, weight, bias, epsilon)
