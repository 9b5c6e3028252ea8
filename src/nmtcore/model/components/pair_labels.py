"""Attention with a learned vector for the label of each pair of tokens (Shaw et al. 2018; pham2018, section 3.1).

The queries are multiplied by the whole table of vectors, and
the products are selected by label; so no vector is stored per pair (the aim of Shaw et al., section 3.3).
"""

from collections.abc import Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components.pair_labels import PairLabelsSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Component, LabelVocabularies, Stack


class PairLabels(Component):
    r"""One table of vectors t per layer, shared by its heads. Subclasses compute the label of every pair of tokens.

    The label's vector is added to the key (Shaw et al. 2018, equation 4; pham2018, equations 3.2 and 3.3), for several
    such components the sum of their vectors:

    .. math::

        e_{ij} = \frac{q_i \cdot (k_j + t_{\mathrm{label}(i, j)})}{\sqrt{E}}

    With `on: keys_values`, a second table u is added to the values (Shaw et al. 2018, equation 3):

    .. math::

        o_i = \sum_j a_{ij} (v_j + u_{\mathrm{label}(i, j)})

    Labels 0 to `label_count` - 1 have learned vectors. The vector of label `label_count` is always zero: it leaves the
    score of a pair unchanged.
    """

    def __init__(
        self,
        settings: PairLabelsSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: LabelVocabularies | None,
        label_count: int,
        stacks: Sequence[Stack] = ("encoder",),
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        self.label_count = label_count
        layers = {"encoder": model.encoder_layers, "decoder": model.decoder_layers}

        def tables() -> nn.ModuleDict:
            width = model.width // model.heads
            return nn.ModuleDict(
                {
                    stack: nn.ModuleList(nn.Embedding(label_count, width) for _ in range(layers[stack]))
                    for stack in stacks
                }
            )

        self.keys = tables()
        self.values = tables() if settings.on == "keys_values" else None

    def pair_labels(self, inputs: AttentionInputs, stack: Stack) -> Tensor:
        """Return the labels, int64: (B, Q, K), or (1, Q, K) if all sentences have the same. Called once per pass."""
        raise NotImplementedError

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Add to the scores and, if the values have labels too, to the outputs of the heads."""
        if stack not in self.keys:
            return None
        bias = partial(self._bias, self.keys[stack][layer], stack)
        if self.values is None:
            return AttentionHooks(bias=bias)
        return AttentionHooks(bias=bias, mixed=partial(self._add_values, self.values[stack][layer], stack))

    def _labels_B1QK(self, inputs: AttentionInputs, stack: Stack) -> Tensor:
        notes, key = inputs.context.notes, labels_note(self.name, stack)
        labels_BQK = notes.get(key)
        sizes = (inputs.queries_BHQE.size(2), inputs.keys_BHKE.size(2))
        if labels_BQK is None or labels_BQK.shape[1:] != sizes:  # a source may be decoded with several targets
            notes[key] = labels_BQK = self.pair_labels(inputs, stack)
        return labels_BQK.unsqueeze(1)

    def _bias(self, table: nn.Embedding, stack: Stack, inputs: AttentionInputs) -> Tensor:
        queries_BHQE = inputs.queries_BHQE * inputs.queries_BHQE.size(-1) ** -0.5
        scores_BHQL = queries_BHQE @ _append_zero(table.weight).mT
        return _SelectByLabel.apply(scores_BHQL, self._labels_B1QK(inputs, stack))

    def _add_values(
        self, table: nn.Embedding, stack: Stack, mixed_BHQE: Tensor, weights_BHQK: Tensor, inputs: AttentionInputs
    ) -> Tensor:
        table_LE = _append_zero(table.weight)
        weights_BHQL = _SumByLabel.apply(weights_BHQK, self._labels_B1QK(inputs, stack), len(table_LE))
        return mixed_BHQE + weights_BHQL @ table_LE


def labels_note(name: str, stack: Stack) -> str:
    """Name the note with the labels of a component; the name has no sizes, for which compiled layers are made anew."""
    return f"{name}.{stack}"


def _append_zero(table_LE: Tensor) -> Tensor:
    """Add the zero vector of the last label."""
    return F.pad(table_LE, (0, 0, 0, 1))


def _select_by_label(values_BHQL: Tensor, labels_B1QK: Tensor) -> Tensor:
    batch, heads = values_BHQL.shape[:2]
    return values_BHQL.gather(-1, labels_B1QK.expand(batch, heads, -1, -1))


def _sum_by_label(values_BHQK: Tensor, labels_B1QK: Tensor, count: int) -> Tensor:
    """Sum the values of each label, in fp32 at least: in half precision, sums over many keys lose small terms."""
    exact = torch.float32 if values_BHQK.dtype.itemsize < 4 else values_BHQK.dtype
    sum_exactly = _sum_by_scattering if values_BHQK.device.type == "cpu" else _sum_by_products
    return sum_exactly(values_BHQK.to(exact), labels_B1QK, count).to(values_BHQK.dtype)


def _sum_by_scattering(values_BHQK: Tensor, labels_B1QK: Tensor, count: int) -> Tensor:
    sums_BHQL = values_BHQK.new_zeros(*values_BHQK.shape[:-1], count)
    return sums_BHQL.scatter_add_(-1, labels_B1QK.expand_as(values_BHQK), values_BHQK)


def _sum_by_products(values_BHQK: Tensor, labels_B1QK: Tensor, count: int) -> Tensor:
    """Multiply by a matrix of zeros and ones.

    On a GPU, scattering adds by atomic operations, which wait for each other where many pairs have one label, and
    whose order, and so the rounding, changes from run to run.
    """
    is_label_BQKL = labels_B1QK.transpose(1, 2).mT == torch.arange(count, device=labels_B1QK.device)
    with torch.autocast(values_BHQK.device.type, enabled=False):
        return (values_BHQK.transpose(1, 2) @ is_label_BQKL.to(values_BHQK.dtype)).transpose(1, 2)


class _SelectByLabel(torch.autograd.Function):
    """Select for each pair the value of its label: (B, H, Q, L) to (B, H, Q, K)."""

    @staticmethod
    def forward(ctx, values_BHQL: Tensor, labels_B1QK: Tensor) -> Tensor:
        ctx.save_for_backward(labels_B1QK)
        ctx.count = values_BHQL.size(-1)
        return _select_by_label(values_BHQL, labels_B1QK)

    @staticmethod
    def backward(ctx, gradient_BHQK: Tensor) -> tuple[Tensor, None]:
        (labels_B1QK,) = ctx.saved_tensors
        return _sum_by_label(gradient_BHQK, labels_B1QK, ctx.count), None


class _SumByLabel(torch.autograd.Function):
    """Sum for each label the values of its pairs: (B, H, Q, K) to (B, H, Q, L)."""

    @staticmethod
    def forward(ctx, values_BHQK: Tensor, labels_B1QK: Tensor, count: int) -> Tensor:
        ctx.save_for_backward(labels_B1QK)
        return _sum_by_label(values_BHQK, labels_B1QK, count)

    @staticmethod
    def backward(ctx, gradient_BHQL: Tensor) -> tuple[Tensor, None, None]:
        (labels_B1QK,) = ctx.saved_tensors
        return _select_by_label(gradient_BHQL, labels_B1QK), None, None
