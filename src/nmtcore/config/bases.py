"""The base models, their settings, and the changes for each base in recipes, data sets and scales."""

from collections.abc import Iterable
from dataclasses import field, fields
from typing import Annotated, Any, ClassVar, Literal

from nmtcore.config.ranges import Fraction, HeadCount, LayerCount, PartOf, Width, settings_class
from nmtcore.config.registry import Registry
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.errors import UserError


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


@settings_class
class RecurrentSettings:
    """The recurrent model of tran2018: a bidirectional LSTM encoder and an LSTM decoder with input feeding."""

    width: Width = 1024
    """Size of embeddings, of the encoder's annotations and of the decoder's states: even."""
    layers: LayerCount = 2
    """LSTM layers of the encoder, and of the decoder."""
    dropout: Fraction = 0.3
    """Dropout probability of embeddings, between layers, and of the decoder's outputs."""

    ASSUMED: ClassVar = {
        "start of the decoder": "From the encoder's last states of both directions, layer by layer, as in OpenNMT, on "
        "which the paper builds.",
        "first input feeding": "u is 0 before the first word: nothing has been attended to.",
        "`</s>` is read": "The encoder reads it after the last word, so that its last states know that the sentence is "
        "over.",
        "`</s>` is attended to": "Its annotation is like those of words, so the decoder may look at it.",
        "biases of LSTMs and of the output layer": "As in OpenNMT; the attention and the layer before u have none, as "
        "in the paper's equations.",
        "places of dropout": "Embeddings, between layers, and u: where words come in and where they are predicted. The "
        "paper gives the rate alone.",
        "mean of the loss": "A mean over the target tokens of an update; where gradients are clipped depends on it.",
    }

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


BaseSettings = TransformerSettings | RecurrentSettings

BASES = Registry[BaseSettings](
    {
        "transformer": (TransformerSettings, "transformer.Transformer"),
        "recurrent": (RecurrentSettings, "recurrent.Recurrent"),
    },
    noun="base",
    package="nmtcore.model",
)


def check_settings_of_base(keys: Iterable[str], base: str, *, where: str) -> None:
    """Raise `UserError` at the first key that is a setting of another base but not of this one."""
    base_settings = [field.name for field in fields(BASES[base])]
    for key in keys:
        owners = [name for name, cls in BASES.items() if key in {field.name for field in fields(cls)}]
        if owners and base not in owners:
            raise UserError(
                f"{where}: '{key}' is a setting of the base {owners[0]}, but the system's is {base}, whose settings "
                f"are {', '.join(sorted(base_settings))}."
            )


@settings_class
class Changes:
    """Changes of training and decoding."""

    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Changes of decoding."""


@settings_class
class ChangesForTransformer(Changes):
    """Changes for systems whose base is the transformer."""

    model: Annotated[dict[str, Any], PartOf(TransformerSettings)] = field(default_factory=dict)
    """Settings of the model."""


@settings_class
class ChangesForRecurrent(Changes):
    """Changes for systems whose base is the recurrent model."""

    model: Annotated[dict[str, Any], PartOf(RecurrentSettings)] = field(default_factory=dict)
    """Settings of the model."""


@settings_class
class ChangesByBase:
    """Changes for the systems of each base."""

    transformer: ChangesForTransformer = field(default_factory=ChangesForTransformer)
    """Changes for transformers."""
    recurrent: ChangesForRecurrent = field(default_factory=ChangesForRecurrent)
    """Changes for recurrent models."""
