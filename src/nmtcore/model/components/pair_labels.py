"""Every pair of tokens has a label, every label a vector: `e_ij = q_i . (k_j + E[label_ij]) / sqrt(K)`.

Shaw et al. 2018 (equation 4) and pham2018 (section 3.1). The queries are multiplied by the whole table and the
result is picked by label, so that no vector is ever laid out per pair (Shaw et al., section 3.3, by other means).

B batch, Q query positions, S key positions, H heads, K head width, L labels.
"""

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components.pair_labels import PairLabelsSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.attention import head_scores
from nmtcore.model.components.base import AttentionHooks, Component, Heads, Labels, Stack


class PairLabels(Component):
    """One table of vectors a layer, shared by its heads; subclasses say which label a pair has.

    `count` is the number of labels with a vector. A further label, of that number, may be given to pairs: its vector
    is zero and stays so, which leaves them as they were.
    """

    def __init__(
        self,
        settings: PairLabelsSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: Labels | None,
        count: int,
        stacks: Sequence[Stack] = ("encoder",),
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        self.count = count
        layers = {"encoder": model.encoder_layers, "decoder": model.decoder_layers}

        def tables() -> nn.ModuleDict:
            width = model.width // model.heads
            return nn.ModuleDict(
                {stack: nn.ModuleList(nn.Embedding(count, width) for _ in range(layers[stack])) for stack in stacks}
            )

        self.keys = tables()
        self.values = tables() if settings.on == "keys_values" else None

    def pair_labels(self, heads: Heads, stack: Stack) -> Tensor:
        """Give the labels, int64 (B, Q, S), or (1, Q, S) where all sentences have the same. Asked once a pass."""
        raise NotImplementedError

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Add to the scores, and to what is mixed where the values have labels too."""
        if stack not in self.keys:
            return None
        bias = partial(self._bias, self.keys[stack][layer], stack)
        if self.values is None:
            return AttentionHooks(bias=bias)
        return AttentionHooks(bias=bias, mixed=partial(self._add_values, self.values[stack][layer], stack))

    def _labels(self, heads: Heads, stack: Stack) -> Tensor:
        sizes = (heads.queries_BHQK.size(2), heads.keys_BHSK.size(2))
        notes, key = heads.context.notes, f"{self.name}.{stack}.{sizes}"
        if key not in notes:
            notes[key] = self.pair_labels(heads, stack)
        return notes[key].unsqueeze(1)

    def _bias(self, table: nn.Embedding, stack: Stack, heads: Heads) -> Tensor:
        scores_BHQL = head_scores(heads.queries_BHQK, _with_zero(table.weight))
        return _Pick.apply(scores_BHQL, self._labels(heads, stack))

    def _add_values(
        self, table: nn.Embedding, stack: Stack, mixed_BHQK: Tensor, weights_BHQS: Tensor, heads: Heads
    ) -> Tensor:
        vectors_LK = _with_zero(table.weight)
        weights_BHQL = _Pool.apply(weights_BHQS, self._labels(heads, stack), len(vectors_LK))
        return mixed_BHQK + weights_BHQL @ vectors_LK


def _with_zero(table_LK: Tensor) -> Tensor:
    return F.pad(table_LK, (0, 0, 0, 1))


def _pick(values_BHQL: Tensor, labels_B1QS: Tensor) -> Tensor:
    batch, heads = values_BHQL.shape[:2]
    return values_BHQL.gather(-1, labels_B1QS.expand(batch, heads, -1, -1))


def _pool(values_BHQS: Tensor, labels_B1QS: Tensor, count: int) -> Tensor:
    """Sum the values of each label. In half precision a sum over many keys would lose most of them."""
    exact = torch.float32 if values_BHQS.dtype.itemsize < 4 else values_BHQS.dtype
    sums_BHQL = torch.zeros(*values_BHQS.shape[:-1], count, dtype=exact, device=values_BHQS.device)
    sums_BHQL.scatter_add_(-1, labels_B1QS.expand_as(values_BHQS), values_BHQS.to(exact))
    return sums_BHQL.to(values_BHQS.dtype)


class _Pick(torch.autograd.Function):
    """Of one value a label, (B, H, Q, L), give each pair its label's: (B, H, Q, S)."""

    @staticmethod
    def forward(ctx, values_BHQL: Tensor, labels_B1QS: Tensor) -> Tensor:
        ctx.save_for_backward(labels_B1QS)
        ctx.count = values_BHQL.size(-1)
        return _pick(values_BHQL, labels_B1QS)

    @staticmethod
    def backward(ctx, gradient_BHQS: Tensor) -> tuple[Tensor, None]:
        (labels_B1QS,) = ctx.saved_tensors
        return _pool(gradient_BHQS, labels_B1QS, ctx.count), None


class _Pool(torch.autograd.Function):
    """Of one value a pair, (B, H, Q, S), sum those of each label: (B, H, Q, L)."""

    @staticmethod
    def forward(ctx, values_BHQS: Tensor, labels_B1QS: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(labels_B1QS)
        return _pool(values_BHQS, labels_B1QS, count)

    @staticmethod
    def backward(ctx, gradient_BHQL: Tensor) -> tuple[Tensor, None, None]:
        (labels_B1QS,) = ctx.saved_tensors
        return _pick(gradient_BHQL, labels_B1QS), None, None
