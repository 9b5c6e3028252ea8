"""Settings of the recurrent base model."""

from nmtcore.config.ranges import Count, Fraction, settings_class


@settings_class
class RecurrentSettings:
    """The recurrent model of tran2018: a bidirectional LSTM encoder and an LSTM decoder with input feeding."""

    width: Count = 1024
    """Size of embeddings, of the encoder's annotations and of the decoder's states: even."""
    layers: Count = 2
    """LSTM layers of the encoder, and of the decoder."""
    dropout: Fraction = 0.3
    """Dropout probability of embeddings, between layers, and of the decoder's outputs."""

    def __post_init__(self) -> None:
        if self.width % 2:
            raise ValueError(f"width must be even, for each direction of the encoder has half of it, not {self.width}")
