"""Settings of the recurrent model."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class RecurrentSettings:
    """The recurrent model of tran2018: a bidirectional LSTM encoder and an LSTM decoder with input feeding."""

    width: int = 1024
    """Width of the embeddings, of the encoder's annotations and of the decoder's states; even."""
    layers: int = 2
    """LSTM layers of the encoder, and of the decoder."""
    dropout: float = 0.3
    """Dropout probability of embeddings, between layers and of the decoder's outputs."""

    def __post_init__(self) -> None:
        if self.width % 2:
            raise ValueError(
                f"width must be even, since each direction of the encoder has half of it, not {self.width}"
            )
