"""Settings of dependency labels as a part of each token's embedding (bugliarello2020's S&H)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.transformer import TransformerSettings


@dataclass(frozen=True, kw_only=True)
class SennrichHaddowSettings(ComponentSettings):
    """The last `width` dimensions of a source token's embedding are its dependency label's (bugliarello2020)."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    width: int = 10

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError("width must be at least 1")

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the last dimensions; a `ValueError` where they would leave none to the token."""
        if self.width >= model.width:
            raise ValueError(f"width {self.width} leaves nothing of a token's embedding of width {model.width}")
        return ("source.embedding.last",)
