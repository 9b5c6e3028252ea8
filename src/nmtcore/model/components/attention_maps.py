"""Recording the attention weights of all heads of the encoder and of the decoder's attention to the source.

No system contains this component: it is added after the components of a trained model to inspect it.
"""

from functools import partial

import torch
from torch import Tensor

from nmtcore.features.examples import Examples
from nmtcore.model.batch import BatchArrays
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Build, Component, Context, Stack
from nmtcore.model.losses import at_least_fp32


class AttentionMaps(Component):
    """Records weights after the softmax in passes over whole sentences, but not in the steps of a search."""

    def __init__(self) -> None:
        super().__init__(None, Build(name="attention_maps"))

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Observe every layer that attends to the source."""
        if stack == "decoder":
            return None
        return AttentionHooks(observe=partial(self._observe, stack, layer))

    def add_to_batch(self, arrays: BatchArrays, examples: Examples) -> None:
        """Add the word of every column."""
        arrays.extra[self._words_key] = arrays.source.word_of_column_BS

    @property
    def _words_key(self) -> str:
        return f"{self.name}.words"

    def _observe(self, stack: Stack, layer: int, inputs: AttentionInputs, scores_BHQK: Tensor) -> None:
        context = inputs.context
        if self._words_key not in context.extra:
            return
        exact_BHQK = at_least_fp32(scores_BHQK)
        mask_B11K = context.mask_BS[:, None, None, :]
        weights_BHQK = torch.softmax(exact_BHQK.masked_fill(~mask_B11K, float("-inf")), dim=-1)
        context.notes.setdefault(self.name, {})[stack, layer] = weights_BHQK

    def maps(self, context: Context) -> dict[tuple[Stack, int], Tensor]:
        """Return the recorded weights (B, H, Q, K), fp32 or float64, by stack and layer."""
        return context.notes.get(self.name, {})

    def words_BS(self, context: Context) -> Tensor:
        """Return the word (from 0) of every column, `examples.NO_WORD` for other tokens."""
        return context.extra[self._words_key]
