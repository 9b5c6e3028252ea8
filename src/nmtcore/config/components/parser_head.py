"""Settings of the attention heads that parse (pham2018, chapter 4)."""

from collections.abc import Mapping
from typing import ClassVar

from nmtcore.config.components.base import ComponentSettings, Trees, claim_head
from nmtcore.config.ranges import HeadIndex, Index, NonNegative, settings_class
from nmtcore.config.transformer import TransformerSettings


@settings_class
class ParserHeadSettings(ComponentSettings):
    """Base of the settings of encoder heads that are trained to parse."""

    needs_at_inference: ClassVar[bool] = False
    trees: ClassVar[tuple[Trees, ...]] = ("supervised", "induced")

    layer: Index
    """Encoder layer, counted from 0."""
    head: HeadIndex = -1
    """Head of the layer, counted from 0; a negative one counts from the end."""
    weight: NonNegative = 1.0
    """Weight of its loss; the translation's loss has the weight 1. pham2018 gives none: the default is assumed."""

    @property
    def has_second_loss(self) -> bool:
        """Whether its loss counts."""
        return self.weight > 0

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the head; raise a `ValueError` if the model lacks it."""
        return (claim_head(model, layer=self.layer, head=self.head),)


@settings_class
class DepParseSettings(ParserHeadSettings):
    """A head that points from each word to its governor, with `<ROOT>` before the source (pham2018, section 4.1).

    Needs dependencies on the source side. A system can have only one, since it puts `<ROOT>` before the source.
    """

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the head and the position before the source."""
        return (*super().claims(model), "source.prefix (where <ROOT> stands)")


@settings_class
class DiagonalParseSettings(ParserHeadSettings):
    """The control for `depparse`: a head that points from each word to the previous one (pham2018, section 6.3)."""

    trees: ClassVar[tuple[Trees, ...]] = ("chain",)
