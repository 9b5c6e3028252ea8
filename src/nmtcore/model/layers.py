"""The layers of encoder and decoder (Vaswani et al. 2017, section 3.1).

B batch, S source length, T target length, D width, H heads, K head width, C room of the cache.
"""

from collections.abc import Callable, Iterable

import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.attention import CrossAttention, SelfAttention
from nmtcore.model.components.base import Component, Context


class Residual(nn.Module):
    """What stands around each block: `x + block(norm(x))` ("pre") or `norm(x + block(x))` ("post")."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(settings.width)
        self.before = settings.norm == "pre"
        self.dropout = settings.dropout

    def forward(self, states: Tensor, block: Callable[[Tensor], Tensor]) -> Tensor:
        """Run `block` with its norm, its dropout and the residual sum."""
        changed = block(self.norm(states) if self.before else states)
        total = states + F.dropout(changed, self.dropout, self.training)
        return total if self.before else self.norm(total)


class FeedForward(nn.Module):
    """`W2 relu(W1 x)`."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.inner = nn.Linear(settings.width, settings.feed_forward)
        self.outer = nn.Linear(settings.feed_forward, settings.width)
        self.dropout = settings.activation_dropout

    def forward(self, states: Tensor) -> Tensor:
        """Map each vector by itself."""
        return self.outer(F.dropout(F.relu(self.inner(states), inplace=True), self.dropout, self.training))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, settings: TransformerSettings, layer: int, components: Iterable[Component]) -> None:
        super().__init__()
        self.attention = SelfAttention(settings, "encoder", layer, components)
        self.feed_forward = FeedForward(settings)
        self.around_attention = Residual(settings)
        self.around_feed_forward = Residual(settings)

    def forward(self, states_BSD: Tensor, context: Context, mask_B11S: Tensor) -> Tensor:
        """Run the layer."""
        states_BSD = self.around_attention(states_BSD, lambda x: self.attention(x, context, mask=mask_B11S))
        return self.around_feed_forward(states_BSD, self.feed_forward)


class DecoderLayer(nn.Module):
    """Self-attention over what came before, attention over the source, feed-forward."""

    def __init__(self, settings: TransformerSettings, layer: int, components: Iterable[Component]) -> None:
        super().__init__()
        self.attention = SelfAttention(settings, "decoder", layer, components)
        self.cross = CrossAttention(settings, "cross", layer, components)
        self.feed_forward = FeedForward(settings)
        self.around_attention = Residual(settings)
        self.around_cross = Residual(settings)
        self.around_feed_forward = Residual(settings)

    def forward(self, states_BTD: Tensor, memory_BSD: Tensor, context: Context, mask_B11S: Tensor) -> Tensor:
        """Run the layer on whole sequences. Padding stands on the right, so that the causal mask hides it as well."""
        states_BTD = self.around_attention(states_BTD, lambda x: self.attention(x, context, mask=None, causal=True))
        keys, values = self.cross.project(memory_BSD)
        states_BTD = self.around_cross(states_BTD, lambda x: self.cross(x, keys, values, context, mask=mask_B11S))
        return self.around_feed_forward(states_BTD, self.feed_forward)

    def step(
        self,
        states_BND: Tensor,
        context: Context,
        *,
        cache_2RHCK: Tensor,
        position: int,
        memory: tuple[Tensor, Tensor],
        mask_B11S: Tensor,
    ) -> Tensor:
        """Run the layer on one new position of N beams a sentence; `memory` holds the source's keys and values."""
        shape = states_BND.shape

        def over_itself(x: Tensor) -> Tensor:
            return self.attention.step(x.reshape(-1, 1, x.size(-1)), context, cache_2RHCK, position).view(shape)

        states_BND = self.around_attention(states_BND, over_itself)
        states_BND = self.around_cross(states_BND, lambda x: self.cross(x, *memory, context, mask=mask_B11S))
        return self.around_feed_forward(states_BND, self.feed_forward)
