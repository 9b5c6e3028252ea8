"""Settings of parent-scaled self-attention (bugliarello2020)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nmtcore.config.components.base import ComponentSettings, claim_head
from nmtcore.config.transformer import TransformerSettings


@dataclass(frozen=True, kw_only=True)
class PascalSettings(ComponentSettings):
    """Encoder heads whose scores are multiplied by a bell around the position of each token's governor (Pascal)."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    heads: int
    """How many heads of each layer: the first ones."""
    layers: tuple[int, ...] = (0,)
    """Which layers of the encoder, from 0; the paper has one, and leaves several for later."""
    variance: float = 1.0
    """Of the Gaussian, in squared subwords."""
    ignoring: float = 0.0
    """In training, the probability that a token's row is left unscaled."""
    per_head: bool = False
    """Each head ignores parents by itself, as in the released code; else a token's heads ignore its parent together."""
    parent_only: bool = False
    """The ablation: scores less than one subword from the governor's position stay, all others become 0."""

    def __post_init__(self) -> None:
        if self.heads < 1:
            raise ValueError("heads must be at least 1")
        if not self.layers or len(set(self.layers)) != len(self.layers):
            raise ValueError("layers must be a list of different numbers, at least one")
        if not self.variance > 0:
            raise ValueError("variance must be above 0")
        if not 0 <= self.ignoring <= 1:
            raise ValueError("ignoring is a probability, between 0 and 1")

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the first heads of the layers; more heads, or a layer, than the model has is a `ValueError`."""
        if self.heads > model.heads:
            raise ValueError(f"{self.heads} heads are more than the {model.heads} of a layer")
        return tuple(claim_head(model, layer=layer, head=head) for layer in self.layers for head in range(self.heads))
