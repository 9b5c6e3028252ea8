"""Notes what every head of the encoder, and of the attention to the source, looks at; it changes nothing.

No system has it: it is put behind a trained model's own components to look into it.

B batch, Q query positions, S source length, H heads.
"""

from functools import partial

import torch
from torch import Tensor

from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.attention import head_scores
from nmtcore.model.components.base import AttentionHooks, Component, Context, Heads, Stack
from nmtcore.model.pooling import word_of_column


class AttentionMaps(Component):
    """Weights of whole sentences, as they come out of the softmax; the steps of a search are not looked at."""

    def __init__(self) -> None:
        super().__init__(name="attention_maps")

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Watch every layer whose keys are the source."""
        if stack == "decoder":
            return None
        return AttentionHooks(observe=partial(self._observe, stack, layer))

    def on_arrays(self, arrays: Arrays, examples: Examples) -> None:
        """Put the word of every column."""
        arrays.extra[self._words] = word_of_column(arrays)

    @property
    def _words(self) -> str:
        return f"{self.name}.words"

    def _observe(self, stack: Stack, layer: int, heads: Heads, scores_BHQS: Tensor | None) -> None:
        context = heads.context
        if self._words not in context.extra:
            return
        if scores_BHQS is None:
            scores_BHQS = head_scores(heads.queries_BHQK, heads.keys_BHSK)
        exact = scores_BHQS.float() if scores_BHQS.dtype.itemsize < 4 else scores_BHQS
        visible_B11S = context.mask_BS[:, None, None, :]
        weights_BHQS = torch.softmax(exact.masked_fill(~visible_B11S, float("-inf")), dim=-1)
        context.notes.setdefault(self.name, {})[stack, layer] = weights_BHQS

    def maps(self, context: Context) -> dict[tuple[Stack, int], Tensor]:
        """Give the weights (B, H, Q, S) of the pass, fp32 or float64, by kind of attention and layer."""
        return context.notes[self.name]

    def words_BS(self, context: Context) -> Tensor:
        """Give the word (from 0) of every column, `examples.NO_WORD` for none."""
        return context.extra[self._words]
