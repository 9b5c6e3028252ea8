"""Parent-scaled self-attention (bugliarello2020, section 3): heads that favour tokens near the governor.

Shapes: B sentences, H heads, S source.
"""

import math

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.components import PascalSettings
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import BatchArrays
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Component, Stack
from nmtcore.syntax.trees import NO_GOVERNOR, NO_POSITION


class Pascal(Component[Tensor]):
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

    def add_to_batch(self, arrays: BatchArrays) -> None:
        """Add the position of every token's parent."""
        arrays.extra[f"{self.name}.parent_positions"] = parent_positions(arrays)

    def _scale(self, scores_BHSS: Tensor, inputs: AttentionInputs) -> Tensor:
        context, count = inputs.context, self.settings.heads
        if self.name not in context.notes:
            parent_positions_BS = context.extra[f"{self.name}.parent_positions"]
            self.set_note(context, self.weights(parent_positions_BS, scores_BHSS.dtype))
        scaled_BHSS = scores_BHSS[:, :count] * self.note(context)
        return scaled_BHSS if count == scores_BHSS.size(1) else torch.cat([scaled_BHSS, scores_BHSS[:, count:]], dim=1)

    def weights(self, parent_positions_BS: Tensor, dtype: torch.dtype) -> Tensor:
        """Compute the factors of the scores, once for all layers and heads: (B, 1, S, S).

        In training, each row is replaced by ones with probability `ignoring`.
        """
        # Distances in fp32 at least: half precision cannot distinguish large positions.
        positions_BS1 = parent_positions_BS.to(torch.promote_types(dtype, torch.float32)).unsqueeze(-1)
        columns_S = torch.arange(parent_positions_BS.size(1), device=parent_positions_BS.device)
        weights_BSS = self._proximity(columns_S - positions_BS1)
        weights_B1SS = weights_BSS.masked_fill(positions_BS1 == NO_POSITION, 1.0).to(dtype).unsqueeze(1)
        if not (self.training and self.settings.ignoring):
            return weights_B1SS
        ignored_B1S1 = torch.rand(weights_B1SS[..., :1].shape, device=weights_B1SS.device) < self.settings.ignoring
        return weights_B1SS.masked_fill(ignored_B1S1, 1.0)

    def _proximity(self, distances_BSS: Tensor) -> Tensor:
        if self.settings.parent_only:
            return (distances_BSS.abs() < 1).to(distances_BSS.dtype)
        variance = self.settings.variance
        return torch.exp(distances_BSS.square() / (-2 * variance)) / math.sqrt(2 * math.pi * variance)


def parent_positions(arrays: BatchArrays) -> np.ndarray:
    """Compute the mean column of each token's parent: (B, S), float32, in columns of `arrays.tokens_BS`.

    `NO_POSITION` for padding, for words without annotation, and for all tokens of a sentence without annotation.
    """
    annotated_BS = arrays.of_words("governor", fill=NO_GOVERNOR) != NO_GOVERNOR
    parents_BS = arrays.of_words("parent_position", fill=NO_POSITION) + np.float32(arrays.offset)
    # In annotated sentences, tokens outside words are their own parents.
    own_BS = annotated_BS.any(axis=1, keepdims=True) & arrays.mask_BS & (arrays.word_of_column_BS == NO_WORD)
    columns_S = np.arange(arrays.tokens_BS.shape[1], dtype=np.float32)
    return np.where(annotated_BS, parents_BS, np.where(own_BS, columns_S, np.float32(NO_POSITION)))
