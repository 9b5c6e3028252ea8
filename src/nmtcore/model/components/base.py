"""The places where a component may plug into a model: every one is optional.

A component overrides the hooks it wants. Models find out once, when they are built, which those are; a model
without components calls none and every attention layer runs the fused kernel. A system's components are called in
the order in which the system lists them: one that adds to scores belongs before one that multiplies them.

B batch, S source length, Q query positions (S, T, or the beams of a sentence), D width, H heads,
K head width.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor, nn

from nmtcore.config.transformer import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays

Stack = Literal["encoder", "decoder", "cross"]
"""The three kinds of attention: the encoder's, the decoder's over itself, the decoder's over the source."""


@dataclass(kw_only=True)
class Context:
    """One pass through the model, as components see it.

    `extra` is what `on_arrays` put into the batch; `notes` is where components leave what they need later in the
    same pass. In step-by-step decoding every step has its own context, with `extra` empty (sentences are dropped as
    they finish).
    """

    mask_BS: Tensor
    extra: dict[str, Tensor] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True)
class Heads:
    """What one attention layer is about to compare.

    In decoding, the last query is the newest position: query i stands at position `keys - queries + i`.
    """

    states_BQD: Tensor
    """The layer's input (after the norm, where that comes first)."""
    queries_BHQK: Tensor
    keys_BHSK: Tensor
    context: Context


@dataclass(frozen=True, kw_only=True)
class AttentionHooks:
    """What a component does in one attention layer."""

    queries_keys: Callable[[Heads], tuple[Tensor, Tensor]] | None = None
    """Return (queries_BHQK, keys_BHSK) with the claimed heads' replaced. The fused kernel stays."""
    bias: Callable[[Heads], Tensor] | None = None
    """Return what is added to scores_BHQS (already divided by sqrt(K)), of that shape or broadcasting to it; asked
    after all `queries_keys`, added before any `scores`. The fused kernel stays, unless another component observes."""
    scores: Callable[[Tensor, Heads], Tensor] | None = None
    """Change scores_BHQS (already divided by sqrt(K)), before mask and softmax. The layer runs the explicit form."""
    mixed: Callable[[Tensor, Tensor, Heads], Tensor] | None = None
    """Change the heads' outputs mixed_BHQK, given weights_BHQS after the softmax. The layer runs the explicit form."""
    observe: Callable[[Heads, Tensor | None], None] | None = None
    """See the layer without changing it. scores_BHQS as they go into the mask where the layer runs the explicit form;
    else None, and the observer computes those of its own head. The fused kernel stays, where there is no bias."""


Labels = Mapping[str, Mapping[str, Sequence[str]]]
"""The labels of each side and kind: labels["source"]["deprel"]."""


class Component(nn.Module):
    """A part that adds syntax to a base model. Subclasses override what they need.

    All are made from the same things: their settings, a name that no other component of the model has (the key of
    their losses, counts, notes and extras), the settings of the model, and the labels that the data have.
    """

    source_prefix: ClassVar[tuple[int, ...]] = ()
    """Ids that stand before every source sentence."""
    points_to_root: ClassVar[bool] = False
    """Whether column 0 of `parse_scores` is the artificial root."""

    def __init__(
        self,
        settings: Any = None,
        *,
        name: str,
        model: TransformerSettings | None = None,
        labels: Labels | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.name = name

    def replaces_positions(self, stack: Stack) -> bool:
        """Say whether the sinusoids of the encoder or the decoder are left out because of this component."""
        return False

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Give the hooks for one attention layer (from 0), None for none. Asked once, when the model is built."""
        return None

    def on_arrays(self, arrays: Arrays, examples: Examples) -> None:
        """Put what the model will need into `arrays.extra` and `arrays.counts`: numpy, vectorised, no torch.

        `examples` are those of the batch, row by row. The count of the loss is a plain number known before the
        forward pass, so that accumulation and several devices can divide by the global one. Names in `extra` begin
        with the component's.
        """

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Change the scaled embeddings of the source, before the positions are added."""
        return embedded_BSD

    def loss(self, context: Context) -> Tensor:
        """Sum the component's own loss (fp32) over what its count in `Arrays.counts` counts, after `encode`."""
        raise NotImplementedError

    @property
    def loss_weight(self) -> float:
        """The factor of the mean of `loss` in the objective."""
        return 1.0

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Score every word's head, after `encode`.

        Per sentence log-probabilities, float32 of shape (words, 1 + words) with the root in column 0 where
        `points_to_root`, else (words, words).
        """
        raise NotImplementedError

    def initialise(self, kind: str) -> None:
        """Set parameters that want something else than the model's initialisation (`build.initialise`), after it."""


def hooks_of(components: Iterable[Component], name: str) -> tuple[Callable, ...]:
    """Collect the bound methods `name` of those components that override it."""
    plain = getattr(Component, name)
    return tuple(getattr(c, name) for c in components if getattr(type(c), name) is not plain)
