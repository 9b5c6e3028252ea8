"""Multi-head attention (Vaswani et al. 2017, equation 1), with places for components.

B batch, Q query positions, S key positions, D width, H heads, K head width. Masks are True where a token is real.
"""

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.components.base import AttentionHooks, Component, Context, Heads, Stack


class Packed(nn.Linear):
    """Several square linear layers as one: (..., D) to (..., parts * D), with one matrix multiplication."""

    def __init__(self, width: int, parts: int) -> None:
        super().__init__(width, parts * width)
        self.parts = parts

    def by_heads(self, states_BQD: Tensor, heads: int) -> tuple[Tensor, ...]:
        """Make the parts, each cut into heads: (B, H, Q, K)."""
        packed = self(states_BQD).unflatten(-1, (self.parts, heads, -1))
        return packed.permute(2, 0, 3, 1, 4).unbind(0)


class Attention(nn.Module):
    """`softmax(Q K^T / sqrt(K)) V`, heads side by side, through an output layer.

    Runs the fused kernel, unless a component changes scores or what is mixed. On a CPU the two forms are equally
    fast at the sizes of these models; only for gradients of a bias the explicit form is faster there by 10 to 20 %,
    and it is taken.
    """

    def __init__(
        self, settings: TransformerSettings, stack: Stack, layer: int, components: Iterable[Component]
    ) -> None:
        super().__init__()
        self.heads = settings.heads
        self.dropout = settings.attention_dropout
        self.output = nn.Linear(settings.width, settings.width)
        found = [c.attention_hooks(stack, layer) for c in components]
        hooks = [h for h in found if h is not None]
        self._queries_keys = _present(hooks, "queries_keys")
        self._bias = _present(hooks, "bias")
        self._scores = _present(hooks, "scores")
        self._mixed = _present(hooks, "mixed")
        self._observe = _present(hooks, "observe")

    @property
    def fused(self) -> bool:
        """Whether no component needs the scores spelled out."""
        # Who observes wants the scores as they are compared: with the bias.
        return not (self._scores or self._mixed or (self._bias and self._observe))

    def split(self, states_BQD: Tensor) -> Tensor:
        """Cut vectors into heads: (B, Q, D) to (B, H, Q, K)."""
        return states_BQD.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def attend(self, heads: Heads, values_BHSK: Tensor, *, mask: Tensor | None, causal: bool = False) -> Tensor:
        """Mix the values by the comparison of queries and keys; `mask` broadcasts to (B, H, Q, S).

        `causal` hides the keys after the query's position, instead of `mask`.
        """
        for change in self._queries_keys:
            heads.queries_BHQK, heads.keys_BHSK = change(heads)
        bias = sum((add(heads) for add in self._bias[1:]), self._bias[0](heads)) if self._bias else None
        if self.fused and not (bias is not None and bias.requires_grad and bias.device.type == "cpu"):
            mixed_BHQK = self._fused(heads, values_BHSK, bias, mask, causal=causal)
        else:
            mixed_BHQK = self._explicit(heads, values_BHSK, bias, _causal_mask(heads) if causal else mask)
        return self.output(mixed_BHQK.transpose(1, 2).flatten(2))

    def _fused(
        self, heads: Heads, values_BHSK: Tensor, bias: Tensor | None, mask: Tensor | None, *, causal: bool
    ) -> Tensor:
        for observe in self._observe:
            observe(heads, None)
        if bias is not None:
            mask, causal = _masked(bias, _causal_mask(heads) if causal else mask), False
        return F.scaled_dot_product_attention(
            heads.queries_BHQK,
            heads.keys_BHSK,
            values_BHSK,
            attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal,
        )

    def _explicit(self, heads: Heads, values_BHSK: Tensor, bias: Tensor | None, mask: Tensor | None) -> Tensor:
        scores_BHQS = head_scores(heads.queries_BHQK, heads.keys_BHSK)
        if bias is not None:
            scores_BHQS = scores_BHQS + bias
        for change in self._scores:
            scores_BHQS = change(scores_BHQS, heads)
        for observe in self._observe:
            observe(heads, scores_BHQS)
        scores_BHQS = _masked(scores_BHQS, mask)
        weights_BHQS = torch.softmax(scores_BHQS.float() if scores_BHQS.dtype.itemsize < 4 else scores_BHQS, dim=-1)
        weights_BHQS = F.dropout(weights_BHQS, self.dropout, self.training).to(values_BHSK.dtype)
        mixed_BHQK = weights_BHQS @ values_BHSK
        for change in self._mixed:
            mixed_BHQK = change(mixed_BHQK, weights_BHQS, heads)
        return mixed_BHQK


class SelfAttention(Attention):
    """Attention of a sequence over itself; queries, keys and values come from one linear layer."""

    def __init__(
        self, settings: TransformerSettings, stack: Stack, layer: int, components: Iterable[Component]
    ) -> None:
        super().__init__(settings, stack, layer, components)
        self.queries_keys_values = Packed(settings.width, 3)

    def project(self, states_BQD: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Make queries, keys and values, each (B, H, Q, K)."""
        return self.queries_keys_values.by_heads(states_BQD, self.heads)

    def forward(self, states_BSD: Tensor, context: Context, *, mask: Tensor | None, causal: bool = False) -> Tensor:
        """Attend within whole sequences."""
        queries, keys, values = self.project(states_BSD)
        heads = Heads(states_BQD=states_BSD, queries_BHQK=queries, keys_BHSK=keys, context=context)
        return self.attend(heads, values, mask=mask, causal=causal)

    def step(self, states_R1D: Tensor, context: Context, cache_2RHCK: Tensor, position: int) -> Tensor:
        """Attend from one new position to those before it and itself; its key and value go into the cache."""
        queries, keys, values = self.project(states_R1D)
        cache_2RHCK[0, :, :, position : position + 1] = keys
        cache_2RHCK[1, :, :, position : position + 1] = values
        keys, values = cache_2RHCK[:, :, :, : position + 1]
        heads = Heads(states_BQD=states_R1D, queries_BHQK=queries, keys_BHSK=keys, context=context)
        return self.attend(heads, values, mask=None)


class CrossAttention(Attention):
    """Attention of the target over the source, whose keys and values are made once a sentence."""

    def __init__(
        self, settings: TransformerSettings, stack: Stack, layer: int, components: Iterable[Component]
    ) -> None:
        super().__init__(settings, stack, layer, components)
        self.queries = nn.Linear(settings.width, settings.width)
        self.keys_values = Packed(settings.width, 2)

    def project(self, memory_BSD: Tensor) -> tuple[Tensor, Tensor]:
        """Make keys and values, each (B, H, S, K)."""
        return self.keys_values.by_heads(memory_BSD, self.heads)

    def forward(
        self, states_BQD: Tensor, keys_BHSK: Tensor, values_BHSK: Tensor, context: Context, *, mask: Tensor
    ) -> Tensor:
        """Attend to the source; in decoding the queries of a sentence are its beams."""
        queries = self.split(self.queries(states_BQD))
        heads = Heads(states_BQD=states_BQD, queries_BHQK=queries, keys_BHSK=keys_BHSK, context=context)
        return self.attend(heads, values_BHSK, mask=mask)


def head_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Compute `q . k / sqrt(K)`: (..., Q, K) and (..., S, K) to (..., Q, S)."""
    return (queries * queries.size(-1) ** -0.5) @ keys.transpose(-1, -2)


def _masked(scores: Tensor, mask: Tensor | None) -> Tensor:
    return scores if mask is None else scores.masked_fill(~mask, float("-inf"))


def _causal_mask(heads: Heads) -> Tensor:
    length = heads.keys_BHSK.size(2)
    return torch.ones(length, length, dtype=torch.bool, device=heads.keys_BHSK.device).tril()


def _present(hooks: list[AttentionHooks], name: str) -> tuple:
    return tuple(getattr(h, name) for h in hooks if getattr(h, name) is not None)
