"""Settings of the base models."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class TransformerSettings:
    """The transformer of Vaswani et al. 2017; the defaults are their base model."""

    width: int = 512
    """D, the size of a token's vector."""
    feed_forward: int = 2048
    heads: int = 8
    encoder_layers: int = 6
    decoder_layers: int = 6
    norm: Literal["pre", "post"] = "pre"
    """Where the layer norms stand: before each block (and once at the end), or after each residual sum."""
    positions: Literal["sinusoidal", "none"] = "sinusoidal"
    dropout: float = 0.1
    embedding_dropout: float | None = None
    """On the embeddings, with their positions, before the first layers. None: as `dropout`."""
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        if self.width % 2:
            raise ValueError(f"width {self.width} is odd; sinusoids need pairs")
        for name in ("dropout", "embedding_dropout", "attention_dropout", "activation_dropout"):
            if not 0 <= (getattr(self, name) or 0.0) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1")
        for name in ("width", "feed_forward", "heads", "encoder_layers", "decoder_layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
