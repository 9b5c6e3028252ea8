"""Settings of the head with known queries and keys (pham2018, section 3.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nmtcore.config.components.base import ComponentSettings, claim_head
from nmtcore.config.transformer import TransformerSettings


@dataclass(frozen=True, kw_only=True)
class LabelHeadSettings(ComponentSettings):
    """A head of encoder layer `layer` (from 0) whose queries and keys come from labels, its values from the tokens."""

    labels: Literal["pos", "upos", "xpos", "deprel"] = "pos"
    """`pos` is the language's own tag (Czech: the whole positional one) where the training data have any, else UPOS."""
    layer: int = 0
    head: int = -1
    """Which head of the layer, from 0; negative counts from the end."""

    def __post_init__(self) -> None:
        if self.layer < 0:
            raise ValueError("layer counts from 0 and cannot be negative")

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """Read the trees' labels, or tags."""
        return {"source": ("trees" if self.labels == "deprel" else "pos_tags",)}

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim one head of one encoder layer; a layer or head that the model lacks is a `ValueError`."""
        return (claim_head(model, layer=self.layer, head=self.head),)
