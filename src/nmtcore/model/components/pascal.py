"""Parent-scaled self-attention (bugliarello2020, section 3): heads that favour tokens near the governor."""

import math

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.components.settings import PascalSettings
from nmtcore.features.examples import Examples
from nmtcore.model.batch import BatchArrays, SideArrays
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Component, Stack
from nmtcore.syntax.trees import NO_GOVERNOR, NO_POSITION


class Pascal(Component):
    r"""Multiplies the scores s of some heads by a Gaussian around each token's governor.

    The mean position of the subwords of t's governor is p (bugliarello2020, equations 4 to 6):

    .. math::

        n_{tj} = s_{tj} \cdot \frac{1}{\sqrt{2 \pi \sigma^2}}
        \exp \left( - \frac{(j - p_t)^2}{2 \sigma^2} \right), \qquad
        a_{tj} = \frac{\exp(n_{tj})}{\sum_l \exp(n_{tl})}

    With `parent_only`, the factor is 1 where `|j - p_t| < 1`, else 0. A row's factors are 1 with the probability
    `ignoring` in training, drawn for every token.

    A root is its own governor; for `</s>` and prefixes, p_t is their own position. Scores are not scaled for sentences
    and words without annotation, nor for tokens whose parents are ignored. It has no parameters.
    """

    settings: PascalSettings

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Scale scores in some layers of the encoder."""
        applies = stack == "encoder" and layer in self.settings.layers
        return AttentionHooks(scores=self._scale) if applies else None

    def add_to_batch(self, arrays: BatchArrays, examples: Examples) -> None:
        """Add the position of every token's parent. Raises ValueError if the examples have no trees."""
        arrays.extra[f"{self.name}.parent_positions"] = parent_positions(arrays.source, name=self.name)

    def _scale(self, scores_BHSS: Tensor, inputs: AttentionInputs) -> Tensor:
        context, count = inputs.context, self.settings.heads
        if self.name not in context.notes:
            context.notes[self.name] = self.weights(context.extra[f"{self.name}.parent_positions"], scores_BHSS.dtype)
        scaled_BHSS = scores_BHSS[:, :count] * context.notes[self.name]
        return scaled_BHSS if count == scores_BHSS.size(1) else torch.cat([scaled_BHSS, scores_BHSS[:, count:]], dim=1)

    def weights(self, parent_positions_BS: Tensor, dtype: torch.dtype) -> Tensor:
        """Compute the factors of the scores, once for all layers: (B, 1 or scaled heads, S, S).

        In training, each row is replaced by ones with probability `ignoring`.
        """
        # Distances in fp32 at least: half precision cannot distinguish large positions.
        positions_BS1 = parent_positions_BS.to(torch.promote_types(dtype, torch.float32)).unsqueeze(-1)
        columns_S = torch.arange(parent_positions_BS.size(1), device=parent_positions_BS.device)
        weights_BSS = self._proximity(columns_S - positions_BS1)
        weights_B1SS = weights_BSS.masked_fill(positions_BS1 == NO_POSITION, 1.0).to(dtype).unsqueeze(1)
        if not (self.training and self.settings.ignoring):
            return weights_B1SS
        drawn = self.settings.heads if self.settings.per_head else 1
        shape = (len(parent_positions_BS), drawn, parent_positions_BS.size(1), 1)
        ignored_BHS1 = torch.rand(shape, device=parent_positions_BS.device) < self.settings.ignoring
        return weights_B1SS.masked_fill(ignored_BHS1, 1.0)

    def _proximity(self, distances_BSS: Tensor) -> Tensor:
        if self.settings.parent_only:
            return (distances_BSS.abs() < 1).to(distances_BSS.dtype)
        variance = self.settings.variance
        return torch.exp(distances_BSS.square() / (-2 * variance)) / math.sqrt(2 * math.pi * variance)


def parent_positions(source: SideArrays, *, name: str) -> np.ndarray:
    """Compute the mean column of each token's parent: (B, S), float32, in columns of `source.tokens_BS`.

    `NO_POSITION` for padding, for words without annotation, and for all tokens of a sentence without annotation.
    """
    governors, positions = (source.examples.features.get(column) for column in ("governor", "parent_position"))
    if governors is None or positions is None:
        raise ValueError(f"{name} reads the dependency trees of the source, but the examples have none")
    rows_J, columns_J, words_J = source.subwords
    word_index_J = governors.offsets[rows_J] + words_J
    annotated_J = governors.values[word_index_J] != NO_GOVERNOR
    annotated_B = np.bincount(rows_J[annotated_J], minlength=len(source.tokens_BS)) > 0
    # First set every token of an annotated sentence to its own column, then each word's subwords to their parent.
    columns_S = np.arange(source.tokens_BS.shape[1], dtype=np.float32)
    real_BS = annotated_B[:, None] & source.mask_BS
    parent_positions_BS = np.where(real_BS, columns_S, np.float32(NO_POSITION))
    parents_J = positions.values[word_index_J] + source.offset
    parent_positions_BS[rows_J, columns_J] = np.where(annotated_J, parents_J, NO_POSITION)
    return parent_positions_BS
