"""The transformer of Vaswani et al. 2017, without syntax: attention with hooks for components, layers, decoding.

Masks are True for real tokens.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.base import Encoded, TranslationModel, selected_rows
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Component, Context, Stack, layer_hooks

KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Those of attention on a GPU. cuDNN's is left out: with a mask it can return NaN gradients (bf16, length % 128 == 64;
torch issue 196678), and its plans for each new shape make training take several times as long (docs/benchmarks.md)."""


class PackedLinear(nn.Linear):
    """Several square linear layers in one matrix multiplication: (..., D) to (..., parts * D)."""

    def __init__(self, width: int, parts: int) -> None:
        super().__init__(width, parts * width)
        self.parts = parts


class LayerCache:
    """Keys and values of the decoded positions in one layer, (R, H, T, E) each."""

    def __init__(self) -> None:
        self.keys_values: tuple[Tensor, ...] | None = None

    def append(self, *newest: Tensor) -> tuple[Tensor, ...]:
        """Add the keys and values of the newest position, (R, H, 1, E) each; return those of all positions."""
        if self.keys_values is not None:
            newest = tuple(torch.cat(pair, dim=2) for pair in zip(self.keys_values, newest, strict=True))
        self.keys_values = newest
        return newest

    def select(self, rows_R: Tensor) -> None:
        """Continue with these rows; some may be repeated, others left out."""
        self.keys_values = tuple(values.index_select(0, rows_R) for values in self.keys_values)


class Attention(nn.Module):
    """`softmax(Q K^T / sqrt(E)) V` for all heads, concatenated and passed through an output layer.

    The fused kernel computes it, unless components have `hooks` in this layer.
    """

    def __init__(self, settings: TransformerSettings, hooks: Sequence[AttentionHooks]) -> None:
        super().__init__()
        self.heads, self.dropout, self.hooks = settings.heads, settings.attention_dropout, hooks
        self.output = nn.Linear(settings.width, settings.width)

    def split(self, packed: Tensor, parts: int) -> tuple[Tensor, ...]:
        """Split the output of linear layers into heads: (B, Q, parts * D) to `parts` times (B, H, Q, E)."""
        return packed.unflatten(-1, (parts, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)

    def attend(
        self, inputs: AttentionInputs, values_BHKE: Tensor, *, mask_B11K: Tensor | None = None, causal: bool = False
    ) -> Tensor:
        """Compute the layer's output, (B, Q, D), from the keys that the mask allows.

        `causal` hides the keys after the query's position; there must be no mask then.
        """
        dropout = self.dropout if self.training else 0.0
        if self.hooks:
            mixed_BHQE = self._explicit(inputs, values_BHKE, mask_B11K, causal, dropout)
        else:
            queries_BHQE, keys_BHKE = inputs.queries_BHQE, inputs.keys_BHKE
            with sdpa_kernel(KERNELS) if queries_BHQE.is_cuda else nullcontext():
                mixed_BHQE = F.scaled_dot_product_attention(
                    queries_BHQE, keys_BHKE, values_BHKE, attn_mask=mask_B11K, dropout_p=dropout, is_causal=causal
                )
        return self.output(mixed_BHQE.transpose(1, 2).flatten(2))

    def _explicit(
        self, inputs: AttentionInputs, values_BHKE: Tensor, mask_B11K: Tensor | None, causal: bool, dropout: float
    ) -> Tensor:
        """Compute the same with hooks; the softmax in fp32 at least."""
        for replace in [own.queries_keys for own in self.hooks if own.queries_keys]:
            inputs.queries_BHQE, inputs.keys_BHKE = replace(inputs)
        scores_BHQK = (inputs.queries_BHQE * inputs.queries_BHQE.size(-1) ** -0.5) @ inputs.keys_BHKE.mT
        for bias in [own.bias for own in self.hooks if own.bias]:
            scores_BHQK = scores_BHQK + bias(inputs)
        for change in [own.scores for own in self.hooks if own.scores]:
            scores_BHQK = change(scores_BHQK, inputs)
        for observe in [own.observe for own in self.hooks if own.observe]:
            observe(inputs, scores_BHQK)
        if causal:
            mask_B11K = torch.ones(scores_BHQK.shape[-2:], dtype=torch.bool, device=scores_BHQK.device).tril()
        if mask_B11K is not None:  # as a sum, whose gradient costs nothing
            zeros = torch.zeros_like(mask_B11K, dtype=scores_BHQK.dtype)
            scores_BHQK = scores_BHQK + zeros.masked_fill_(~mask_B11K, float("-inf"))
        weights_BHQK = scores_BHQK.softmax(-1, dtype=torch.promote_types(scores_BHQK.dtype, torch.float32))
        weights_BHQK = F.dropout(weights_BHQK, dropout).to(values_BHKE.dtype)
        mixed_BHQE = weights_BHQK @ values_BHKE
        for change in [own.mixed for own in self.hooks if own.mixed]:
            mixed_BHQE = change(mixed_BHQE, weights_BHQK, inputs)
        return mixed_BHQE


class SelfAttention(Attention):
    """Attention of a sequence to itself; one linear layer computes queries, keys and values."""

    def __init__(self, settings: TransformerSettings, hooks: Sequence[AttentionHooks]) -> None:
        super().__init__(settings, hooks)
        self.queries_keys_values = PackedLinear(settings.width, 3)

    def forward(
        self, states_BQD: Tensor, context: Context, *, cache: LayerCache | None = None, **mask: Tensor | bool | None
    ) -> Tensor:
        """Attend within sequences, or with a cache from the newest position to all in it: (B, Q, D).

        `mask` are the keywords of `attend`.
        """
        queries_BHQE, *keys_values = self.split(self.queries_keys_values(states_BQD), 3)
        keys_BHKE, values_BHKE = keys_values if cache is None else cache.append(*keys_values)
        inputs = AttentionInputs(states_BQD=states_BQD, queries_BHQE=queries_BHQE, keys_BHKE=keys_BHKE, context=context)
        return self.attend(inputs, values_BHKE, **mask)


class CrossAttention(Attention):
    """Attention of the target to the source, whose keys and values are computed once per sentence."""

    def __init__(self, settings: TransformerSettings, hooks: Sequence[AttentionHooks]) -> None:
        super().__init__(settings, hooks)
        self.queries = nn.Linear(settings.width, settings.width)
        self.keys_values = PackedLinear(settings.width, 2)

    def project(self, memory_BSD: Tensor) -> tuple[Tensor, ...]:
        """Compute the keys and values of the source, (B, H, S, E) each."""
        return self.split(self.keys_values(memory_BSD), 2)

    def forward(self, states_BQD: Tensor, memory: tuple[Tensor, ...], context: Context, mask_B11S: Tensor) -> Tensor:
        """Attend to the source: (B, Q, D). In decoding, the queries of a sentence are its beams."""
        (queries_BHQE,), (keys_BHSE, values_BHSE) = self.split(self.queries(states_BQD), 1), memory
        inputs = AttentionInputs(states_BQD=states_BQD, queries_BHQE=queries_BHQE, keys_BHKE=keys_BHSE, context=context)
        return self.attend(inputs, values_BHSE, mask_B11K=mask_B11S)


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


class FeedForward(nn.Module):
    """`W2 relu(W1 x)`."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.inner = nn.Linear(settings.width, settings.feed_forward)
        self.outer = nn.Linear(settings.feed_forward, settings.width)
        self.dropout = settings.activation_dropout

    def forward(self, states: Tensor) -> Tensor:
        """Transform each vector: (..., D) to (..., D)."""
        return self.outer(F.dropout(F.relu(self.inner(states), inplace=True), self.dropout, self.training))


class EncoderLayer(nn.Module):
    """Self-attention and a feed-forward block."""

    def __init__(self, settings: TransformerSettings, layer: int, components: Iterable[Component]) -> None:
        super().__init__()
        self.attention = SelfAttention(settings, layer_hooks(components, "encoder", layer))
        self.feed_forward = FeedForward(settings)
        self.around_attention, self.around_feed_forward = Residual(settings), Residual(settings)

    def forward(self, states_BSD: Tensor, context: Context, mask_B11S: Tensor) -> Tensor:
        """Apply the layer: (B, S, D)."""
        states_BSD = self.around_attention(states_BSD, lambda x: self.attention(x, context, mask_B11K=mask_B11S))
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
        memory: tuple[Tensor, ...],
        mask_B11S: Tensor,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """Apply the layer to whole targets (B, T, D), or with a cache to the newest position of each beam (B, M, D).

        `memory` is the output of `cross.project`. Padding is on the right, so that the causal mask hides it too.
        """

        def to_target(x: Tensor) -> Tensor:
            if cache is None:
                return self.attention(x, context, causal=True)
            return self.attention(x.reshape(-1, 1, x.size(-1)), context, cache=cache).view(x.shape)

        states = self.around_attention(states, to_target)
        states = self.around_cross(states, lambda x: self.cross(x, memory, context, mask_B11S))
        return self.around_feed_forward(states, self.feed_forward)


class TransformerState:
    """Keys and values of the source (once per sentence) and of the decoded positions (once per beam).

    It starts with one beam per sentence; `select` can change the number of beams. Row r of a step belongs to sentence
    r // beams.
    """

    def __init__(self, memory: Sequence[tuple[Tensor, ...]], mask_BS: Tensor) -> None:
        self.memory = memory
        """The source's keys and values in each layer."""
        self.caches = [LayerCache() for _ in memory]
        self.mask_BS = mask_BS
        self.beams, self.length = 1, 0
        """Beams per sentence, and decoded positions."""

    @property
    def sentences(self) -> int:
        """Number of sentences that are still being decoded."""
        return len(self.mask_BS)

    def select(self, beams_BM: Tensor, sentences_B: Tensor | None = None) -> None:
        """Continue beam `beams_BM[b, m]` of sentence `sentences_B[b]` as beam m of sentence b; drop all others.

        Without `sentences_B`, the sentences stay; the number of beams may change.
        """
        rows_R = selected_rows(beams_BM, sentences_B, self.beams)
        for cache in self.caches:
            cache.select(rows_R)
        self.beams = beams_BM.size(1)
        if sentences_B is not None:
            self.memory = [tuple(values.index_select(0, sentences_B) for values in layer) for layer in self.memory]
            self.mask_BS = self.mask_BS.index_select(0, sentences_B)


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
    """

    def __init__(
        self,
        settings: TransformerSettings,
        *,
        source_size: int,
        target_size: int,
        joint: bool,
        components: Sequence[Component] = (),
    ) -> None:
        super().__init__(settings, source_size=source_size, target_size=target_size, joint=joint, components=components)
        own_dropout = settings.embedding_dropout
        self.embedding_dropout = settings.dropout if own_dropout is None else own_dropout
        self.encoder = nn.ModuleList(EncoderLayer(settings, i, components) for i in range(settings.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(settings, i, components) for i in range(settings.decoder_layers))
        pre = settings.norm == "pre"
        self.encoder_norm = nn.LayerNorm(settings.width) if pre else nn.Identity()
        self.decoder_norm = nn.LayerNorm(settings.width) if pre else nn.Identity()

    def has_sinusoids(self, stack: Stack) -> bool:
        """Say whether positions are added to the embeddings of the encoder or the decoder."""
        replaced = any(component.replaces_positions(stack) for component in self.components)
        return self.settings.positions == "sinusoidal" and not replaced

    def _placed(self, embedded: Tensor, stack: Stack, first: int = 0) -> Tensor:
        """Add positions, counted from `first`, to scaled embeddings (B, S, D), with dropout."""
        if self.has_sinusoids(stack):
            last = first + embedded.size(1)
            length = max(256, 1 << (last - 1).bit_length())  # few different tables
            table_PD = _sinusoid_table(length, embedded.size(2), embedded.dtype, embedded.device)
            embedded = embedded + table_PD[first:last]
        return F.dropout(embedded, self.embedding_dropout, self.training)

    def encode(self, batch: Batch) -> Encoded:
        """Run the encoder over the source."""
        context = Context(mask_BS=batch.source_mask_BS, extra=batch.extra)
        states_BSD = self.source_embedding(batch.source_BS) * math.sqrt(self.settings.width)
        for component in self.components:
            states_BSD = component.embed_source(states_BSD, context)
        states_BSD = self._placed(states_BSD, "encoder")
        for layer in self.encoder:
            states_BSD = layer(states_BSD, context, context.mask_BS[:, None, None])
        return Encoded(memory_BSD=self.encoder_norm(states_BSD), context=context)

    @property
    def encoder_attention(self) -> tuple[int, int]:
        """The number of layers of self-attention in the encoder, and of heads per layer."""
        return self.settings.encoder_layers, self.settings.heads

    def compilable_layers(self) -> Sequence[nn.Module]:
        """List the layers of both stacks."""
        return [*self.encoder, *self.decoder]

    def decode(self, target_input_BT: Tensor, encoded: Encoded) -> Tensor:
        """Run the decoder over whole targets: (B, T, D)."""
        states_BTD = self._placed(self.target_embedding(target_input_BT) * math.sqrt(self.settings.width), "decoder")
        for layer in self.decoder:
            memory = layer.cross.project(encoded.memory_BSD)
            states_BTD = layer(states_BTD, encoded.context, memory, encoded.mask_BS[:, None, None])
        return self.decoder_norm(states_BTD)

    def start(self, encoded: Encoded) -> TransformerState:
        """Start step-by-step decoding with one beam per sentence."""
        return TransformerState([layer.cross.project(encoded.memory_BSD) for layer in self.decoder], encoded.mask_BS)

    def step(self, tokens_R: Tensor, state: TransformerState) -> Tensor:
        """Score the next token of every row, given its newest token (`<s>` in the first step): (R, V)."""
        context = Context(mask_BS=state.mask_BS)
        states_R1D = self.target_embedding(tokens_R)[:, None] * math.sqrt(self.settings.width)
        states_BMD = self._placed(states_R1D, "decoder", state.length).view(state.sentences, state.beams, -1)
        for layer, memory, cache in zip(self.decoder, state.memory, state.caches, strict=True):
            states_BMD = layer(states_BMD, context, memory, state.mask_BS[:, None, None], cache)
        state.length += 1
        return self.logits(self.decoder_norm(states_BMD).flatten(0, 1), context)


def sinusoids(length: int, width: int) -> Tensor:
    """Compute the positions of section 3.5 of Vaswani et al. 2017 in float64: (length, width).

    `PE(p, 2i) = sin(p / 10000^(2i/D))`, `PE(p, 2i+1) = cos(...)`.
    """
    positions_P1 = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    rates_I = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles_PI = positions_P1 * rates_I
    return torch.stack([angles_PI.sin(), angles_PI.cos()], dim=-1).flatten(1)


@lru_cache(maxsize=8)
def _sinusoid_table(length: int, width: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return sinusoids(length, width).to(device, dtype)
