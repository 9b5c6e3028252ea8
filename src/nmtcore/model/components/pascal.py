"""Parent-scaled self-attention (bugliarello2020, section 3): heads that look around each token's governor.

B batch, S source length, H heads, P of them scaled.
"""

import math

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.components.pascal import PascalSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.base import AttentionHooks, Component, Heads, Stack
from nmtcore.syntax.trees import NO_GOVERNOR, NO_POSITION


class Pascal(Component):
    """`n_tj = s_tj * N(j; p_t, variance)`, where p_t is the mean position of the subwords of t's governor.

    The root is its own governor; `</s>` and what stands before the sentence are at their own place. Sentences and
    words without annotation are not scaled, nor is the row of a token whose parent is ignored. No parameters.
    """

    settings: PascalSettings

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Work in some layers of the encoder."""
        chosen = stack == "encoder" and layer in self.settings.layers
        return AttentionHooks(scores=self._scale) if chosen else None

    def on_arrays(self, arrays: Arrays, examples: Examples) -> None:
        """Put the position of every token's parent; examples without trees are a `ValueError`."""
        arrays.extra[f"{self.name}.parent_positions"] = parent_positions(arrays, examples, name=self.name)

    def _scale(self, scores_BHSS: Tensor, heads: Heads) -> Tensor:
        context, count = heads.context, self.settings.heads
        if self.name not in context.notes:
            context.notes[self.name] = self.weights(context.extra[f"{self.name}.parent_positions"], scores_BHSS.dtype)
        scaled_BPSS = scores_BHSS[:, :count] * context.notes[self.name]
        return scaled_BPSS if count == scores_BHSS.size(1) else torch.cat([scaled_BPSS, scores_BHSS[:, count:]], dim=1)

    def weights(self, parent_positions_BS: Tensor, dtype: torch.dtype) -> Tensor:
        """Compute what scores are multiplied by, once for all layers: (B, 1 or P, S, S).

        In training every row is all ones with the probability `ignoring`.
        """
        # Distances in fp32 at least: in half precision far positions cannot be told apart.
        positions_BS1 = parent_positions_BS.to(torch.promote_types(dtype, torch.float32)).unsqueeze(-1)
        columns_S = torch.arange(parent_positions_BS.size(1), device=parent_positions_BS.device)
        weights_BSS = self._proximity(columns_S - positions_BS1)
        weights_B1SS = weights_BSS.masked_fill(positions_BS1 == NO_POSITION, 1.0).to(dtype).unsqueeze(1)
        if not (self.training and self.settings.ignoring):
            return weights_B1SS
        drawn = self.settings.heads if self.settings.per_head else 1
        shape = (len(parent_positions_BS), drawn, parent_positions_BS.size(1), 1)
        ignored = torch.rand(shape, device=parent_positions_BS.device) < self.settings.ignoring
        return weights_B1SS.masked_fill(ignored, 1.0)

    def _proximity(self, distances_BSS: Tensor) -> Tensor:
        if self.settings.parent_only:
            return (distances_BSS.abs() < 1).to(distances_BSS.dtype)
        variance = self.settings.variance
        return torch.exp(distances_BSS.square() / (-2 * variance)) / math.sqrt(2 * math.pi * variance)


def parent_positions(arrays: Arrays, examples: Examples, *, name: str) -> np.ndarray:
    """Lay the positions of the tokens' parents into float32 (B, S), in columns of `arrays.source_BS`.

    `NO_POSITION` for padding, for words without annotation, and for every token of a sentence that has none.
    """
    governors, positions = (examples.source.features.get(column) for column in ("governor", "parent_position"))
    if governors is None or positions is None:
        raise ValueError(f"{name} reads the dependency trees of the source, but the examples came without")
    rows, columns, words = arrays.words
    place = governors.offsets[rows] + words
    known = governors.values[place] != NO_GOVERNOR
    annotated_B = np.bincount(rows[known], minlength=len(arrays.source_BS)) > 0
    ends_B = arrays.offset + arrays.source.ids.lengths
    # Every token at its own place, in sentences with a tree; then the words where their parents are.
    columns_S = np.arange(arrays.source_BS.shape[1], dtype=np.float32)
    real_BS = annotated_B[:, None] & (columns_S <= ends_B[:, None])
    parent_positions_BS = np.where(real_BS, columns_S, np.float32(NO_POSITION))
    parent_positions_BS[rows, columns] = np.where(known, positions.values[place] + arrays.offset, NO_POSITION)
    return parent_positions_BS
