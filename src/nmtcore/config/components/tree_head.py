"""Settings of attention heads whose weights are marginals of dependency trees."""

from typing import ClassVar, Literal

from nmtcore.config.components.base import ComponentSettings, Trees, claim_head
from nmtcore.config.ranges import HeadIndex, Index, settings_class
from nmtcore.config.transformer import TransformerSettings


@settings_class
class TreeHeadSettings(ComponentSettings):
    """An encoder head that attends by the marginals of dependency trees, learned from translation alone."""

    trees: ClassVar[tuple[Trees, ...]] = ("induced",)

    layer: Index = 0
    """Encoder layer, counted from 0."""
    head: HeadIndex = -1
    """Head of the layer, counted from 0; a negative one counts from the end."""
    roots: Literal["one", "many"] = "one"
    """Whether trees have one root or any number of roots."""

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the head; raise a `ValueError` if the model lacks it."""
        return (claim_head(model, layer=self.layer, head=self.head),)
