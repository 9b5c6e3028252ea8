"""The transformer of Vaswani et al. 2017, without syntax: attention with hooks for components, layers, decoding.

Masks are True for real tokens.

Shapes: B sentences, D width, E head width, H heads, K keys, M beams, O packed, Q queries, S source, T target, Z rows.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from nmtcore.config.training import TransformerSettings
from nmtcore.errors import UserError
from nmtcore.model.base import DecoderState, PackedLinear, TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import (
    AttentionHooks,
    AttentionInputs,
    Component,
    Context,
    LanguageCode,
    Stack,
    layer_hooks,
)
from nmtcore.model.linear import Linear

KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Those of attention on a GPU. cuDNN's is left out: with a mask it can return NaN gradients (bf16, length % 128 == 64;
torch issue 196678), and its plans for each new shape make training take several times as long (docs/benchmarks.md)."""


class Attention(nn.Module):
    """`softmax(Q K^T / sqrt(E)) V` for all heads, concatenated and passed through an output layer.

    The fused kernel computes it, unless components have `hooks` in this layer.
    """

    def __init__(self, settings: TransformerSettings, hooks: Sequence[AttentionHooks]) -> None:
        super().__init__()
        self.heads, self.dropout, self.hooks = settings.heads, settings.attention_dropout, hooks
        self.output = Linear(settings.width, settings.width)

    def split(self, packed_BQOD: Tensor) -> tuple[Tensor, ...]:
        """Split the output of packed layers into heads: (B, H, Q, E) for each of the O layers."""
        return packed_BQOD.unflatten(-1, (self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)

    def attend(
        self,
        states_BQD: Tensor,
        queries_BHQE: Tensor,
        keys_values: Sequence[Tensor],
        context: Context,
        mask_B11K: Tensor | None,
    ) -> Tensor:
        """Compute the layer's output, (B, Q, D), from the keys that the mask allows.

        Without a mask, these are the keys up to the position of each query; the last query belongs to the last key.
        """
        (keys_BHKE, values_BHKE), dropout = keys_values, self.dropout if self.training else 0.0
        if self.hooks:
            inputs = AttentionInputs(
                states_BQD=states_BQD, queries_BHQE=queries_BHQE, keys_BHKE=keys_BHKE, context=context
            )
            weights_BHQK = F.dropout(self._weights(inputs, mask_B11K), dropout)
            mixed_BHQE = weights_BHQK.to(values_BHKE.dtype) @ values_BHKE
        else:
            causal = mask_B11K is None and queries_BHQE.size(2) > 1
            with sdpa_kernel(KERNELS) if queries_BHQE.is_cuda else nullcontext():
                mixed_BHQE = F.scaled_dot_product_attention(
                    queries_BHQE, keys_BHKE, values_BHKE, attn_mask=mask_B11K, dropout_p=dropout, is_causal=causal
                )
        return self.output(mixed_BHQE.transpose(1, 2).flatten(2))

    def _weights(self, inputs: AttentionInputs, mask_B11K: Tensor | None) -> Tensor:
        """Compute the softmax of the scores, with hooks, in fp32 at least."""
        for replace in [hook.queries_keys for hook in self.hooks if hook.queries_keys]:
            inputs.queries_BHQE, inputs.keys_BHKE = replace(inputs)
        scores_BHQK = (inputs.queries_BHQE * inputs.queries_BHQE.size(-1) ** -0.5) @ inputs.keys_BHKE.mT
        for bias in [hook.bias for hook in self.hooks if hook.bias]:
            scores_BHQK = scores_BHQK + bias(inputs)
        for change in [hook.scores for hook in self.hooks if hook.scores]:
            scores_BHQK = change(scores_BHQK, inputs)
        for observe in [hook.observe for hook in self.hooks if hook.observe]:
            observe(inputs, scores_BHQK)
        if mask_B11K is None:
            queries, keys = scores_BHQK.shape[-2:]
            mask_B11K = torch.ones(queries, keys, dtype=torch.bool, device=scores_BHQK.device).tril(keys - queries)
        zeros = torch.zeros_like(mask_B11K, dtype=scores_BHQK.dtype)
        # As a sum, whose gradient costs nothing.
        scores_BHQK = scores_BHQK + zeros.masked_fill_(~mask_B11K, float("-inf"))
        return scores_BHQK.softmax(-1, dtype=torch.promote_types(scores_BHQK.dtype, torch.float32))


class SelfAttention(Attention):
    """Attention of a sequence to itself; one linear layer computes queries, keys and values."""

    def __init__(self, settings: TransformerSettings, hooks: Sequence[AttentionHooks]) -> None:
        super().__init__(settings, hooks)
        self.queries_keys_values = PackedLinear(settings.width, 3, settings.width)

    def forward(
        self, states_BQD: Tensor, context: Context, mask_B11K: Tensor | None = None, cache: list[Tensor] | None = None
    ) -> Tensor:
        """Attend within sequences (see `attend` for the mask): (B, Q, D).

        `cache` has the keys and values of the positions before, (B, H, K, E) each; those of the new ones are added.
        """
        queries_BHQE, *keys_values = self.split(self.queries_keys_values(states_BQD))
        if cache is not None:
            keys_values = cache[:] = [torch.cat(pair, dim=2) for pair in zip(cache, keys_values, strict=True)]
        return self.attend(states_BQD, queries_BHQE, keys_values, context, mask_B11K)


class CrossAttention(Attention):
    """Attention of the target to the source, whose keys and values are computed once per sentence."""

    def __init__(self, settings: TransformerSettings, hooks: Sequence[AttentionHooks]) -> None:
        super().__init__(settings, hooks)
        self.queries = PackedLinear(settings.width, 1, settings.width)
        self.keys_values = PackedLinear(settings.width, 2, settings.width)

    def project(self, memory_BSD: Tensor) -> tuple[Tensor, ...]:
        """Compute the keys and values of the source, (B, H, S, E) each."""
        return self.split(self.keys_values(memory_BSD))

    def forward(self, states_BQD: Tensor, memory: Sequence[Tensor], context: Context, mask_B11S: Tensor) -> Tensor:
        """Attend to the source: (B, Q, D). In decoding, the queries of a sentence are its beams."""
        (queries_BHQE,) = self.split(self.queries(states_BQD))
        return self.attend(states_BQD, queries_BHQE, memory, context, mask_B11S)


class Residual(nn.Module):
    """Layer norm, dropout and sum around a block: `x + block(norm(x))` ("pre") or `norm(x + block(x))` ("post")."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(settings.width)
        self.norm_first, self.dropout = settings.norm == "pre", settings.dropout

    def forward(self, states: Tensor, block: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply the block with its norm, dropout and residual sum: (..., D) to (..., D)."""
        output = block(self.norm(states) if self.norm_first else states)
        total = states + F.dropout(output, self.dropout, self.training)
        return total if self.norm_first else self.norm(total)


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu_, "swish": F.silu, "gelu": F.gelu}
"""The functions by name; ReLU, whose gradient does not need its input, changes it in place."""


class FeedForward(nn.Module):
    """`W2 f(W1 x)`, with a ReLU or another activation f."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.inner = Linear(settings.width, settings.feed_forward)
        self.outer = Linear(settings.feed_forward, settings.width)
        self.activation, self.dropout = settings.activation, settings.activation_dropout

    def forward(self, states: Tensor) -> Tensor:
        """Transform each vector: (..., D) to (..., D)."""
        hidden = ACTIVATIONS[self.activation](self.inner(states))
        return self.outer(F.dropout(hidden, self.dropout, self.training))


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward block."""

    def __init__(self, settings: TransformerSettings, layer: int, components: Iterable[Component]) -> None:
        super().__init__()
        self.attention = SelfAttention(settings, layer_hooks(components, "encoder", layer))
        self.feed_forward = FeedForward(settings)
        self.around_attention, self.around_feed_forward = Residual(settings), Residual(settings)

    def forward(self, states_BSD: Tensor, context: Context, mask_B11S: Tensor) -> Tensor:
        """Apply the layer: (B, S, D)."""
        states_BSD = self.around_attention(states_BSD, lambda x: self.attention(x, context, mask_B11S))
        return self.around_feed_forward(states_BSD, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, and a feed-forward block."""

    def __init__(self, settings: TransformerSettings, layer: int, components: Iterable[Component]) -> None:
        super().__init__()
        self.attention = SelfAttention(settings, layer_hooks(components, "decoder", layer))
        self.cross = CrossAttention(settings, layer_hooks(components, "cross", layer))
        self.feed_forward = FeedForward(settings)
        self.around_attention, self.around_cross = Residual(settings), Residual(settings)
        self.around_feed_forward = Residual(settings)

    def forward(
        self,
        states: Tensor,
        context: Context,
        memory: Sequence[Tensor],
        mask_B11S: Tensor,
        cache: list[Tensor] | None = None,
    ) -> Tensor:
        """Apply the layer to whole targets (B, T, D), or with a cache to the newest position of each beam (B, M, D).

        `memory` is the output of `cross.project`. Padding is on the right, so that no real position sees it.
        """

        def to_target(x: Tensor) -> Tensor:
            rows = x if cache is None else x.reshape(-1, 1, x.size(-1))
            return self.attention(rows, context, cache=cache).view(x.shape)

        states = self.around_attention(states, to_target)
        states = self.around_cross(states, lambda x: self.cross(x, memory, context, mask_B11S))
        return self.around_feed_forward(states, self.feed_forward)


class Transformer(TranslationModel):
    r"""Encoder, decoder and tied output layer; `components` add syntax through the hooks of `components/base.py`.

    A head of an attention layer compares the query q of position i with the keys k of all positions, and returns the
    mean of their values v by these weights (Vaswani et al. 2017, equation 1; bugliarello2020, equation 2):

    .. math::

        e_{ij} = \frac{q_i \cdot k_j}{\sqrt{E}}, \qquad
        a_{ij} = \frac{\exp(e_{ij})}{\sum_l \exp(e_{il})}, \qquad
        o_i = \sum_j a_{ij} v_j

    Queries, keys and values are linear functions of the layer's input; E is the width of a head. The last states h of
    the decoder become probabilities by the embeddings W of the target's vocabulary (aycock2021, equation 3.7):

    .. math::

        p(y_t \mid y_{<t}, x) = \operatorname{softmax}(W h_t)

    A published model that is imported (`nmtcore import`) may have a bias there, too.
    """

    def __init__(
        self, settings: TransformerSettings, *, components: Sequence[Component] = (), **vocabularies: int
    ) -> None:
        if settings.language_code is not None:
            if settings.language_code >= vocabularies["source_size"]:
                raise UserError(
                    f"model: language_code is {settings.language_code}, but the source's vocabulary has only "
                    f"{vocabularies['source_size']} entries, counted from 0."
                )
            # Last: `<ROOT>` stays the first of all tokens.
            components = [*components, LanguageCode(settings.language_code)]
        super().__init__(settings, components=components, output_bias=settings.output_bias, **vocabularies)
        self.scale = math.sqrt(settings.width) if settings.scaled_embeddings else 1.0
        self.encoder_attention = settings.encoder_layers, settings.heads
        self.encoder = nn.ModuleList(EncoderLayer(settings, i, components) for i in range(settings.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(settings, i, components) for i in range(settings.decoder_layers))
        pre = settings.norm == "pre"
        self.encoder_norm = nn.LayerNorm(settings.width) if pre else nn.Identity()
        self.decoder_norm = nn.LayerNorm(settings.width) if pre else nn.Identity()

    def has_sinusoids(self, stack: Stack) -> bool:
        """Say whether positions are added to the embeddings of the encoder or the decoder."""
        replaced = any(component.replaces_positions(stack) for component in self.components)
        return self.settings.positions != "none" and not replaced

    def _placed(self, embedded: Tensor, stack: Stack, first: int = 0) -> Tensor:
        """Add positions, counted from `first`, to scaled embeddings (B, S, D), with dropout."""
        if self.has_sinusoids(stack):
            halves = self.settings.positions == "halves"
            positions_SD = sinusoids(*embedded.shape[1:], first=first, halves=halves, device=embedded.device)
            embedded = embedded + positions_SD.to(embedded.dtype)
        rate = self.settings.embedding_dropout
        return F.dropout(embedded, self.settings.dropout if rate is None else rate, self.training)

    def encode(self, batch: Batch) -> Context:
        """Run the encoder over the source, which begins a pass."""
        states_BSD, context = self.embed_source(batch, scale=self.scale)
        states_BSD = self._placed(states_BSD, "encoder")
        for layer in self.encoder:
            states_BSD = layer(states_BSD, context, context.mask_BS[:, None, None])
        context.memory_BSD = self.encoder_norm(states_BSD)
        return context

    def compile_parts(self, **options: Any) -> None:
        """Let torch compile the loss, and each layer; layers with the same code are compiled once."""
        super().compile_parts(**options)
        for layer in (*self.encoder, *self.decoder):
            layer.compile(**options)

    def decode(self, target_input_BT: Tensor, context: Context) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""
        states_BTD = self._embed_target(target_input_BT)
        for layer in self.decoder:
            memory = layer.cross.project(context.memory_BSD)
            states_BTD = layer(states_BTD, context, memory, context.mask_BS[:, None, None])
        return self.decoder_norm(states_BTD)

    def _embed_target(self, tokens_BT: Tensor, first: int = 0) -> Tensor:
        return self._placed(self.target_embedding(tokens_BT) * self.scale, "decoder", first)

    def start(self, context: Context) -> DecoderState:
        """Start step-by-step decoding: keys and values of the source, and of no decoded positions, in each layer."""
        memory = [layer.cross.project(context.memory_BSD) for layer in self.decoder]
        caches = [[keys_values[:, :, :0] for keys_values in layer] for layer in memory]
        return DecoderState(context.mask_BS, memory, caches)

    def step(self, tokens_Z: Tensor, state: DecoderState) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (Z, V)."""
        context, (any_keys, _) = Context(mask_BS=state.mask_BS), state.rows[0]
        states_Z1D = self._embed_target(tokens_Z[:, None], first=any_keys.size(2))
        states_BMD = states_Z1D.view(len(state.mask_BS), state.beams, -1)
        for layer, memory, cache in zip(self.decoder, state.memory, state.rows, strict=True):
            states_BMD = layer(states_BMD, context, memory, state.mask_BS[:, None, None], cache)
        return self.logits(self.decoder_norm(states_BMD).flatten(0, 1), context)


def sinusoids(
    length: int, width: int, *, first: int = 0, halves: bool = False, device: torch.device | None = None
) -> Tensor:
    """Compute positions, counted from `first`, in float64: (length, width); Vaswani et al. 2017, section 3.5.

    `PE(p, 2i) = sin(p / 10000^(2i/D))`, `PE(p, 2i+1) = cos(...)`. With `halves`, all sines come first, and the numbers
    are those of fp32, as in Marian.
    """
    positions_S1 = torch.arange(first, first + length, dtype=torch.float64, device=device).unsqueeze(1)
    angles = positions_S1 * 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64, device=device) / width)
    if halves:
        return torch.cat([angles.sin(), angles.cos()], dim=-1).float().double()
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
