"""The layers of encoder and decoder (Vaswani et al. 2017, section 3.1)."""

from collections.abc import Callable, Iterable

import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.attention import CrossAttention, KeysValues, SelfAttention
from nmtcore.model.components.base import Component, Context
from nmtcore.model.dropout import dropout


class Residual(nn.Module):
    """Layer norm, dropout and sum around a block: `x + block(norm(x))` ("pre") or `norm(x + block(x))` ("post")."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(settings.width)
        self.norm_first = settings.norm == "pre"
        self.dropout = settings.dropout

    def forward(self, states: Tensor, block: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply the block with its norm, dropout and residual sum: (..., D) to (..., D)."""
        output = block(self.norm(states) if self.norm_first else states)
        total = states + dropout(output, self.dropout, self.training)
        return total if self.norm_first else self.norm(total)


class FeedForward(nn.Module):
    """`W2 relu(W1 x)`."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.inner = nn.Linear(settings.width, settings.feed_forward)
        self.outer = nn.Linear(settings.feed_forward, settings.width)
        self.dropout = settings.activation_dropout

    def forward(self, states: Tensor) -> Tensor:
        """Transform each vector: (..., D) to (..., D)."""
        return self.outer(dropout(F.relu(self.inner(states), inplace=True), self.dropout, self.training))


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward block."""

    def __init__(self, settings: TransformerSettings, layer: int, components: Iterable[Component]) -> None:
        super().__init__()
        self.attention = SelfAttention(settings, "encoder", layer, components)
        self.feed_forward = FeedForward(settings)
        self.around_attention = Residual(settings)
        self.around_feed_forward = Residual(settings)

    def forward(self, states_BSD: Tensor, context: Context, mask_B11S: Tensor) -> Tensor:
        """Apply the layer: (B, S, D)."""
        states_BSD = self.around_attention(states_BSD, lambda x: self.attention(x, context, mask_B11K=mask_B11S))
        return self.around_feed_forward(states_BSD, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, and a feed-forward block."""

    def __init__(self, settings: TransformerSettings, layer: int, components: Iterable[Component]) -> None:
        super().__init__()
        self.attention = SelfAttention(settings, "decoder", layer, components)
        self.cross = CrossAttention(settings, "cross", layer, components)
        self.feed_forward = FeedForward(settings)
        self.around_attention = Residual(settings)
        self.around_cross = Residual(settings)
        self.around_feed_forward = Residual(settings)

    def forward(self, states_BTD: Tensor, memory_BSD: Tensor, context: Context, mask_B11S: Tensor) -> Tensor:
        """Apply the layer to whole targets: (B, T, D). Padding is on the right, so the causal mask hides it too."""
        states_BTD = self.around_attention(
            states_BTD, lambda x: self.attention(x, context, mask_B11K=None, causal=True)
        )
        memory = self.cross.project(memory_BSD)
        states_BTD = self.around_cross(states_BTD, lambda x: self.cross(x, memory, context, mask_B11K=mask_B11S))
        return self.around_feed_forward(states_BTD, self.feed_forward)

    def step(
        self,
        states_BMD: Tensor,
        context: Context,
        cache_RZ2HE: Tensor,
        position: int,
        memory: KeysValues,
        mask_B11S: Tensor,
    ) -> Tensor:
        """Apply the layer to one new position of every beam: (B, M, D). `memory` is the source's keys and values."""
        shape = states_BMD.shape

        def self_attention(x: Tensor) -> Tensor:
            return self.attention.step(x.reshape(-1, 1, x.size(-1)), context, cache_RZ2HE, position).view(shape)

        states_BMD = self.around_attention(states_BMD, self_attention)
        states_BMD = self.around_cross(states_BMD, lambda x: self.cross(x, memory, context, mask_B11K=mask_B11S))
        return self.around_feed_forward(states_BMD, self.feed_forward)
