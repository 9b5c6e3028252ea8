"""Settings of the base models."""

from typing import Literal

from nmtcore.config.ranges import Fraction, HeadCount, LayerCount, Width, settings_class


@settings_class
class TransformerSettings:
    """The transformer of Vaswani et al. 2017; the defaults are their base model."""

    width: Width = 512
    """Size of a token's vector: even, and a multiple of `heads`."""
    feed_forward: Width = 2048
    """Size of the hidden layer of each feed-forward block."""
    heads: HeadCount = 8
    """Attention heads per layer."""
    encoder_layers: LayerCount = 6
    """Layers of the encoder."""
    decoder_layers: LayerCount = 6
    """Layers of the decoder."""
    norm: Literal["pre", "post"] = "pre"
    """Position of the layer norms. pre: before each block, and once at the end; post: after each residual sum."""
    positions: Literal["sinusoidal", "none"] = "sinusoidal"
    """Vectors that are added to the embeddings to encode positions."""
    dropout: Fraction = 0.1
    """Dropout probability of each block's output."""
    embedding_dropout: Fraction | None = None
    """Dropout probability of the embeddings, after positions are added; null: as `dropout`."""
    attention_dropout: Fraction = 0.0
    """Dropout probability of the attention weights."""
    activation_dropout: Fraction = 0.0
    """Dropout probability after the ReLU of each feed-forward block."""

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of heads {self.heads}")
        if self.width % 2:
            raise ValueError(f"width {self.width} is odd, but sinusoids come in pairs")

    @property
    def weights(self) -> tuple[int, int]:
        """The entries of the matrices that each source position, and each target position, is multiplied by.

        The output layer is left out.
        """
        square, feed_forward = self.width**2, 2 * self.width * self.feed_forward
        return self.encoder_layers * (4 * square + feed_forward), self.decoder_layers * (8 * square + feed_forward)

    def parameters(self, target_size: int) -> int:
        """Count the parameters without embeddings, which the output layer shares, and without components."""
        biases_and_norms = [layer * self.width + self.feed_forward for layer in (9, 15)]
        last_norms = 4 * self.width if self.norm == "pre" else 0
        layers = self.encoder_layers * biases_and_norms[0] + self.decoder_layers * biases_and_norms[1]
        return sum(self.weights) + layers + last_norms
