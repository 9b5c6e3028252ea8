"""Settings of embeddings that include a dependency label (S&H in bugliarello2020)."""

from collections.abc import Mapping
from typing import ClassVar

from nmtcore.config.components.base import LABEL_SYMBOLS, ComponentSettings
from nmtcore.config.ranges import Count, settings_class
from nmtcore.config.transformer import TransformerSettings


@settings_class
class SennrichHaddowSettings(ComponentSettings):
    """Source embeddings whose last dimensions embed the token's dependency label (S&H in bugliarello2020).

    Needs dependencies on the source side.
    """

    bases: ClassVar[tuple[str, ...]] = ("transformer", "recurrent")
    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    width: Count = 10
    """Dimensions of the dependency label."""

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the last dimensions; raise a `ValueError` if they leave none for the token."""
        if self.width >= model.width:
            raise ValueError(f"width {self.width} leaves nothing of a token's embedding of width {model.width}")
        return ("source.embedding.last",)

    def parameter_count(self, model: TransformerSettings, labels: Mapping[str, int]) -> int:
        """Count the embedding of the labels."""
        return (labels.get("source.deprel", 0) + LABEL_SYMBOLS) * self.width
