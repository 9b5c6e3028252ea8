"""Settings of parent-scaled self-attention (bugliarello2020)."""

from collections.abc import Mapping
from typing import ClassVar

from nmtcore.config.components.base import ComponentSettings, claim_head
from nmtcore.config.ranges import HeadCount, Index, Positive, Probability, settings_class
from nmtcore.config.transformer import TransformerSettings


@settings_class
class PascalSettings(ComponentSettings):
    """Encoder heads whose scores are multiplied by a Gaussian around each token's governor (Pascal).

    Needs dependencies on the source side.
    """

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    heads: HeadCount
    """Number of heads per layer, counted from the first."""
    layers: tuple[Index, ...] = (0,)
    """Encoder layers, counted from 0 (one in the paper)."""
    variance: Positive = 1.0
    """Variance of the Gaussian, in squared subwords."""
    ignoring: Probability = 0.0
    """Probability that a token's scores stay unscaled in training."""
    per_head: bool = False
    """Whether each head draws its ignored tokens by itself (the released code), or all heads of a layer together."""
    parent_only: bool = False
    """The paper's ablation: scores within one subword of the governor's position stay, all others become 0."""

    def __post_init__(self) -> None:
        if not self.layers or len(set(self.layers)) != len(self.layers):
            raise ValueError("layers must be a list of different numbers, at least one")

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the first heads of the layers; raise a `ValueError` if the model lacks one of them."""
        if self.heads > model.heads:
            raise ValueError(f"{self.heads} heads are more than the {model.heads} of a layer")
        return tuple(claim_head(model, layer=layer, head=head) for layer in self.layers for head in range(self.heads))
