"""Settings of the recurrent base model."""

from nmtcore.config.ranges import Fraction, LayerCount, Width, settings_class


@settings_class
class RecurrentSettings:
    """The recurrent model of tran2018: a bidirectional LSTM encoder and an LSTM decoder with input feeding."""

    width: Width = 1024
    """Size of embeddings, of the encoder's annotations and of the decoder's states: even."""
    layers: LayerCount = 2
    """LSTM layers of the encoder, and of the decoder."""
    dropout: Fraction = 0.3
    """Dropout probability of embeddings, between layers, and of the decoder's outputs."""

    def __post_init__(self) -> None:
        if self.width % 2:
            raise ValueError(f"width must be even, for each direction of the encoder has half of it, not {self.width}")

    @property
    def weights(self) -> tuple[int, int]:
        """The entries of the matrices that each source position, and each target position, is multiplied by.

        The output layer is left out.
        """
        square = self.width**2
        return self.layers * 6 * square + 2 * square, (12 + 8 * (self.layers - 1) + 1) * square

    def parameters(self, target_size: int) -> int:
        """Count the parameters without embeddings, which the output layer shares, and without components."""
        return sum(self.weights) + self.layers * (8 + 4) * self.width + target_size
