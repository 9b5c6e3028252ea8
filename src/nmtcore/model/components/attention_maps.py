"""Recording the attention weights of all heads of the encoder and of the decoder's attention to the source.

No system contains this component: it is added after the components of a trained model to inspect it.

Shapes: B sentences, H heads, K keys, Q queries.
"""

from functools import partial

from torch import Tensor

from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Build, Component, Context, Stack
from nmtcore.model.losses import at_least_fp32


class AttentionMaps(Component[dict[tuple[Stack, int], Tensor]]):
    """Records weights after the softmax in passes over whole sentences, but not in the steps of a search."""

    def __init__(self) -> None:
        super().__init__(None, Build(name="attention_maps"))

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Observe every layer that attends to the source."""
        if stack == "decoder":
            return None
        return AttentionHooks(observe=partial(self._observe, stack, layer))

    def _observe(self, stack: Stack, layer: int, inputs: AttentionInputs, scores_BHQK: Tensor) -> None:
        context = inputs.context
        if context.words_BS is not None:
            masked_BHQK = at_least_fp32(scores_BHQK).masked_fill(~context.mask_BS[:, None, None, :], float("-inf"))
            context.notes.setdefault(self.name, {})[stack, layer] = masked_BHQK.softmax(dim=-1)

    def maps(self, context: Context) -> dict[tuple[Stack, int], Tensor]:
        """Return the recorded weights (B, H, Q, K), fp32 or float64, by stack and layer."""
        return context.notes.get(self.name, {})
