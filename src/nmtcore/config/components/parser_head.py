"""Settings of the heads that are parsers (pham2018, chapter 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nmtcore.config.components.base import ComponentSettings, claim_head
from nmtcore.config.transformer import TransformerSettings


@dataclass(frozen=True, kw_only=True)
class ParserHeadSettings(ComponentSettings):
    """An attention head of the encoder's layer `layer` (from 0) that is trained to point to heads (pham2018, ch. 4)."""

    needs_at_inference: ClassVar[bool] = False
    parses: ClassVar[bool] = True

    layer: int
    head: int = -1
    """Which head of the layer, from 0; negative counts from the end."""
    weight: float = 1.0
    """Of its loss beside the translation's."""

    def __post_init__(self) -> None:
        if self.layer < 0:
            raise ValueError("layer counts from 0 and cannot be negative")
        if self.weight < 0:
            raise ValueError("weight cannot be negative")

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim one head of one encoder layer; a layer or head that the model lacks is a `ValueError`."""
        return (claim_head(model, layer=self.layer, head=self.head),)


@dataclass(frozen=True, kw_only=True)
class DepParseSettings(ParserHeadSettings):
    """`<ROOT>` before the source; each word points to its governor (pham2018, section 4.1)."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the head and the place before the source."""
        return (*super().claims(model), "source.prefix (where <ROOT> stands)")


@dataclass(frozen=True, kw_only=True)
class DiagonalParseSettings(ParserHeadSettings):
    """Each word points to the previous one, the first to itself: the control for DepParse (pham2018, section 6.3)."""
