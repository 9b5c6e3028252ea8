"""Multi-head attention (Vaswani et al. 2017, equation 1) with hooks for components.

A mask is added to the scores: 0 for a real token, -inf for padding (`additive_mask`).
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Component, Context, Stack
from nmtcore.model.dropout import dropout

SMALL_HEAD = 16
"""Heads narrower than this are slow in the fused kernel of a CPU."""
FEW_QUERIES = 8
MASK_IN_PRODUCT = True
"""Whether scores that no component needs are masked within their product, without gradients; for tests."""


class Memory(Protocol):
    """The source's keys and values in one layer, laid out for the steps of decoding."""

    def attend(self, queries_BMHE: Tensor, mask_B11S: Tensor) -> Tensor:
        """Attend to the source without components, dropout or gradients: (B, M, H, E)."""

    def of_sentences(self, sentences_B: Tensor) -> "Memory":
        """Select sentences by their indices."""

    def for_beams(self, beams: int) -> "Memory":
        """Return the same keys and values, laid out for queries of this number of beams."""


class KeysValues(NamedTuple):
    """Keys and values of the same positions."""

    keys_BHKE: Tensor
    values_BHKE: Tensor

    def for_steps(self) -> "KeysValues":
        """Lay the keys out as the right-hand side of a matrix product, for queries that come one by one."""
        return KeysValues(self.keys_BHKE.mT.contiguous().mT, self.values_BHKE.contiguous())

    def attend(self, queries_BMHE: Tensor, mask_B11K: Tensor) -> Tensor:
        """Attend to the positions without components, dropout or gradients: (B, M, H, E)."""
        return plain_attention(queries_BMHE.transpose(1, 2), *self, mask_B11K).transpose(1, 2)

    def of_sentences(self, sentences_B: Tensor) -> "KeysValues":
        """Select sentences by their indices; the layout stays."""
        keys_BHEK = self.keys_BHKE.mT.index_select(0, sentences_B)
        return KeysValues(keys_BHEK.mT, self.values_BHKE.index_select(0, sentences_B))

    def for_beams(self, beams: int) -> "KeysValues":
        """Return itself: the layout suits any number of beams."""
        return self


def additive_mask(mask_BS: Tensor, states: Tensor) -> Tensor:
    """Turn a mask that is True for real tokens into one that is added to scores, once for all layers: (B, 1, 1, S).

    Its type is that of the scores: the one that matrix products have under autocast, or else that of `states`.
    """
    device = states.device.type
    dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else states.dtype
    mask_B11S = mask_BS[:, None, None, :]
    return torch.zeros_like(mask_B11S, dtype=dtype).masked_fill_(~mask_B11S, float("-inf"))


class PackedLinear(nn.Linear):
    """Several square linear layers in one matrix multiplication: (..., D) to (..., parts * D)."""

    def __init__(self, width: int, parts: int) -> None:
        super().__init__(width, parts * width)
        self.parts = parts

    def project_heads(self, states_BQD: Tensor, heads: int) -> tuple[Tensor, ...]:
        """Apply each layer and split its output into heads: one tensor (B, H, Q, E) per layer."""
        packed = self(states_BQD).unflatten(-1, (self.parts, heads, -1))
        return packed.permute(2, 0, 3, 1, 4).unbind(0)


class Attention(nn.Module):
    """`softmax(Q K^T / sqrt(E)) V` for all heads, concatenated and passed through an output layer.

    Runs the fused kernel unless a component needs the scores or the weights (`fusible`).
    """

    def __init__(
        self, settings: TransformerSettings, stack: Stack, layer: int, components: Iterable[Component]
    ) -> None:
        super().__init__()
        self.heads = settings.heads
        self.dropout = settings.attention_dropout
        self.output = nn.Linear(settings.width, settings.width)
        optional = [component.attention_hooks(stack, layer) for component in components]
        hooks = [h for h in optional if h is not None]
        self._queries_keys = _hook_functions(hooks, "queries_keys")
        self._bias = _hook_functions(hooks, "bias")
        self._scores = _hook_functions(hooks, "scores")
        self._mixed = _hook_functions(hooks, "mixed")
        self._observe = _hook_functions(hooks, "observe")

    @property
    def fusible(self) -> bool:
        """Whether the components' hooks allow the fused kernel."""
        # Observers must see the scores with the bias, which the kernel adds internally.
        # `bool`: a compiled layer would be split at `not` of a tuple that is not empty.
        return not (bool(self._scores) or bool(self._mixed) or (bool(self._bias) and bool(self._observe)))

    @property
    def is_plain(self) -> bool:
        """Whether no component has hooks in this layer."""
        return not (self._queries_keys or self._bias or self._scores or self._mixed or self._observe)

    @property
    def _scores_are_plain(self) -> bool:
        """Whether no component needs scores before the mask."""
        return not (bool(self._scores) or bool(self._observe))

    def split_heads(self, states_BQD: Tensor) -> Tensor:
        """Split vectors into heads: (B, Q, D) to (B, H, Q, E)."""
        return states_BQD.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def attend(
        self, inputs: AttentionInputs, values_BHKE: Tensor, *, mask_B11K: Tensor | None, causal: bool = False
    ) -> Tensor:
        """Compute the layer's output: (B, Q, D).

        `causal` hides the keys after the query's position; `mask_B11K` must then be None.
        """
        for replace in self._queries_keys:
            inputs.queries_BHQE, inputs.keys_BHKE = replace(inputs)
        biases = [compute(inputs) for compute in self._bias]
        bias = sum(biases[1:], biases[0]) if biases else None
        mix = self._fused if self._use_fused_kernel(inputs, bias, mask_B11K) else self._explicit
        mixed_BHQE = mix(inputs, values_BHKE, bias, mask_B11K, causal=causal)
        return self.output(mixed_BHQE.transpose(1, 2).flatten(2))

    def _use_fused_kernel(self, inputs: AttentionInputs, bias: Tensor | None, mask_B11K: Tensor | None) -> bool:
        """Choose between the fused kernel and the explicit form, which compute the same output.

        If the hooks allow the kernel, there are exceptions, for speed, on a CPU: those of `fused_is_faster`, and the
        gradient of a bias, for which the kernel needs about 10 % more CPU time than the explicit form, forward and
        backward (median of 12 ratios, 1.04 to 1.20; without a bias 1.00 to 1.08).
        """
        if not self.fusible:
            return False
        if torch.is_grad_enabled():
            return bias is None or not bias.requires_grad or inputs.queries_BHQE.device.type != "cpu"
        return mask_B11K is None or fused_is_faster(inputs.queries_BHQE)

    def _fused(
        self,
        inputs: AttentionInputs,
        values_BHKE: Tensor,
        bias: Tensor | None,
        mask_B11K: Tensor | None,
        *,
        causal: bool,
    ) -> Tensor:
        for observe in self._observe:
            observe(inputs, None)
        mask = mask_B11K
        if bias is not None:
            mask, causal = _masked(bias, inputs, mask_B11K, causal=causal), False
        return F.scaled_dot_product_attention(
            inputs.queries_BHQE,
            inputs.keys_BHKE,
            values_BHKE,
            attn_mask=None if mask is None else mask.to(inputs.queries_BHQE.dtype),
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal,
        )

    def _explicit(
        self,
        inputs: AttentionInputs,
        values_BHKE: Tensor,
        bias: Tensor | None,
        mask_B11K: Tensor | None,
        *,
        causal: bool,
    ) -> Tensor:
        plain = MASK_IN_PRODUCT and bias is None and self._scores_are_plain
        if plain and mask_B11K is not None and not torch.is_grad_enabled():
            scores_BHQK, mask_B11K = masked_scores(inputs.queries_BHQE, inputs.keys_BHKE, mask_B11K), None
        else:
            scores_BHQK = head_scores(inputs.queries_BHQE, inputs.keys_BHKE)
        if bias is not None:
            scores_BHQK = scores_BHQK + bias
        for change in self._scores:
            scores_BHQK = change(scores_BHQK, inputs)
        for observe in self._observe:
            observe(inputs, scores_BHQK)
        weights_BHQK = attention_weights(_masked(scores_BHQK, inputs, mask_B11K, causal=causal))
        weights_BHQK = dropout(weights_BHQK, self.dropout, self.training).to(values_BHKE.dtype)
        mixed_BHQE = product(weights_BHQK, values_BHKE)
        for change in self._mixed:
            mixed_BHQE = change(mixed_BHQE, weights_BHQK, inputs)
        return mixed_BHQE


class SelfAttention(Attention):
    """Attention of a sequence to itself; one linear layer computes queries, keys and values."""

    def __init__(
        self, settings: TransformerSettings, stack: Stack, layer: int, components: Iterable[Component]
    ) -> None:
        super().__init__(settings, stack, layer, components)
        self.queries_keys_values = PackedLinear(settings.width, 3)

    def forward(
        self, states_BQD: Tensor, context: Context, *, mask_B11K: Tensor | None, causal: bool = False
    ) -> Tensor:
        """Attend within whole sequences: (B, Q, D)."""
        queries_BHQE, keys_BHKE, values_BHKE = self.queries_keys_values.project_heads(states_BQD, self.heads)
        inputs = AttentionInputs(states_BQD=states_BQD, queries_BHQE=queries_BHQE, keys_BHKE=keys_BHKE, context=context)
        return self.attend(inputs, values_BHKE, mask_B11K=mask_B11K, causal=causal)

    def step(self, states_R1D: Tensor, context: Context, cache_RZ2HE: Tensor, position: int) -> Tensor:
        """Attend from one new position to itself and those before it; write its key and value to the cache."""
        packed_R3HE = self.queries_keys_values(states_R1D).view(len(states_R1D), 3, self.heads, -1)
        queries_RH1E, keys_RHKE, values_RHKE = newest_queries(packed_R3HE, cache_RZ2HE, position)
        inputs = AttentionInputs(states_BQD=states_R1D, queries_BHQE=queries_RH1E, keys_BHKE=keys_RHKE, context=context)
        return self.attend(inputs, values_RHKE, mask_B11K=None)


class CrossAttention(Attention):
    """Attention of the target to the source, whose keys and values are computed once per sentence."""

    def __init__(
        self, settings: TransformerSettings, stack: Stack, layer: int, components: Iterable[Component]
    ) -> None:
        super().__init__(settings, stack, layer, components)
        self.queries = nn.Linear(settings.width, settings.width)
        self.keys_values = PackedLinear(settings.width, 2)

    def project(self, memory_BSD: Tensor) -> KeysValues:
        """Compute the keys and values of the source."""
        return KeysValues(*self.keys_values.project_heads(memory_BSD, self.heads))

    def forward(self, states_BQD: Tensor, memory: KeysValues, context: Context, *, mask_B11K: Tensor) -> Tensor:
        """Attend to the source: (B, Q, D). In decoding, the queries of a sentence are its beams."""
        queries_BHQE = self.split_heads(self.queries(states_BQD))
        inputs = AttentionInputs(
            states_BQD=states_BQD, queries_BHQE=queries_BHQE, keys_BHKE=memory.keys_BHKE, context=context
        )
        return self.attend(inputs, memory.values_BHKE, mask_B11K=mask_B11K)


def newest_queries(packed_R3HE: Tensor, cache_RZ2HE: Tensor, position: int) -> tuple[Tensor, Tensor, Tensor]:
    """Write the keys and values of the position to the cache; return its queries, and all keys and values so far."""
    cache_RZ2HE[:, position] = packed_R3HE[:, 1:]
    keys_RHKE, values_RHKE = cache_RZ2HE[:, : position + 1].permute(2, 0, 3, 1, 4).unbind(0)
    return packed_R3HE[:, 0].unsqueeze(2), keys_RHKE, values_RHKE


def plain_attention(queries_BHQE: Tensor, keys_BHKE: Tensor, values_BHKE: Tensor, mask_B11K: Tensor | None) -> Tensor:
    """Compute what `Attention.attend` gives to its output layer, without components, dropout or gradients."""
    if mask_B11K is None or fused_is_faster(queries_BHQE):
        return F.scaled_dot_product_attention(queries_BHQE, keys_BHKE, values_BHKE, attn_mask=mask_B11K)
    weights_BHQK = attention_weights(masked_scores(queries_BHQE, keys_BHKE, mask_B11K))
    return product(weights_BHQK.to(values_BHKE.dtype), values_BHKE)


def fused_is_faster(queries_BHQE: Tensor) -> bool:
    """Choose the fused kernel or the explicit form, with a mask and without gradients.

    On a CPU, the kernel needs 1.5 times the time for narrow heads (16 tokens, heads of 12), and 1.4 to 1.7 times for
    the few queries of a step of decoding (1 and 4 queries, 16 to 100 keys, heads of 12 and 64). Measured with one
    thread on a busy machine in November 2026.
    """
    _, _, queries, width = queries_BHQE.shape
    return (queries > FEW_QUERIES and width >= SMALL_HEAD) or queries_BHQE.device.type != "cpu"


def attention_weights(scores_BHQK: Tensor) -> Tensor:
    """Compute the softmax over keys, in fp32 or better."""
    return torch.softmax(scores_BHQK.float() if scores_BHQK.dtype.itemsize < 4 else scores_BHQK, dim=-1)


def head_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Compute `q . k / sqrt(E)`: (..., Q, E) and (..., K, E) to (..., Q, K)."""
    return (queries * queries.size(-1) ** -0.5) @ keys.transpose(-1, -2)


def masked_scores(queries_BHQE: Tensor, keys_BHKE: Tensor, mask_B11K: Tensor) -> Tensor:
    """Compute `head_scores` plus the mask, in one kernel if it is the faster way: (B, H, Q, K)."""
    sentences, heads, queries, width = queries_BHQE.shape
    if _is_faster_as_sum(queries_BHQE, keys_BHKE):
        return _sum_of_products(queries_BHQE * width**-0.5, keys_BHKE.mT).add_(mask_B11K)
    mask_N1K = mask_B11K.expand(-1, heads, -1, -1).flatten(0, 1)
    scores_NQK = torch.baddbmm(mask_N1K, queries_BHQE.flatten(0, 1), keys_BHKE.flatten(0, 1).mT, alpha=width**-0.5)
    return scores_NQK.view(sentences, heads, queries, keys_BHKE.size(2))


def product(weights_BHQK: Tensor, values_BHKE: Tensor) -> Tensor:
    """Sum values by their weights: (B, H, Q, E)."""
    if _is_faster_as_sum(weights_BHQK, values_BHKE):
        return _sum_of_products(weights_BHQK, values_BHKE)
    return weights_BHQK @ values_BHKE


def _sum_of_products(rows_BH1X: Tensor, matrices_BHXY: Tensor) -> Tensor:
    """Multiply a row by a matrix each: (B, H, 1, Y)."""
    return (rows_BH1X.mT * matrices_BHXY).sum(-2, keepdim=True)


def _is_faster_as_sum(rows_BHQX: Tensor, vectors_BHKE: Tensor) -> bool:
    """Choose the way to multiply many small matrices, without gradients on a CPU.

    For 512 single rows of 20 weights and values of width 12, the sums take half of the time of a batched matrix product
    in decoding; for heads of 64, or 4 rows each, twice as long. Measured with one thread in November 2026.
    """
    single = rows_BHQX.size(2) == 1 and rows_BHQX.device.type == "cpu" and not torch.is_grad_enabled()
    return single and min(vectors_BHKE.shape[2:]) < SMALL_HEAD


def _masked(scores: Tensor, inputs: AttentionInputs, mask_B11K: Tensor | None, *, causal: bool) -> Tensor:
    """Add the mask to scores or a bias, or, if `causal`, hide the keys after each query (Q = K)."""
    if causal:
        length = inputs.keys_BHKE.size(2)
        later_QK = torch.ones(length, length, dtype=torch.bool, device=scores.device).triu(1)
        return scores.masked_fill(later_QK, float("-inf"))
    return scores if mask_B11K is None else scores + mask_B11K.to(scores.dtype)


def _hook_functions(hooks: list[AttentionHooks], name: str) -> tuple:
    return tuple(getattr(h, name) for h in hooks if getattr(h, name) is not None)
