"""Settings of base models, training, decoding and evaluation: sections of a run."""

from collections.abc import Iterable
from dataclasses import field, fields
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from nmtcore.config.registry import Registry, own_names
from nmtcore.config.typed import (
    OF_MACHINE,
    Amount,
    Beam,
    Count,
    Exponent,
    Fraction,
    HeadCount,
    LayerCount,
    LearningRate,
    NonNegative,
    Positive,
    Range,
    Width,
    settings_class,
)
from nmtcore.errors import UserError

ENDS = ("max_updates", "max_epochs")
"""Settings of training of which one must be set."""
NO_END = f"give {' or '.join(ENDS)}, or training would never end"


@settings_class
class ScheduleSettings:
    """The learning rate over time."""

    kind: Literal["inverse_sqrt", "plateau", "halving", "constant"] = "inverse_sqrt"
    """inverse_sqrt: peak * sqrt(warmup / update) after the warm-up. plateau: times `factor` after more than `patience`
    validations in a row without a better score (as torch and JoeyNMT count). halving: times `factor` when validation
    perplexity is above the previous one's. constant: `peak` after the warm-up."""
    peak: LearningRate = 7e-4
    """Highest learning rate."""
    warmup: Amount = 0
    """Updates of linear warm-up to `peak`; 0: none."""
    factor: Annotated[float, Range(above=0, below=1)] = 0.5
    """plateau and halving: what the rate is multiplied by when it is lowered."""
    patience: Amount = 0
    """plateau: validations in a row without a better score that do not lower the rate yet."""
    stop_after: Count | None = None
    """halving: training ends after the rate was lowered this often; null: it goes on."""
    floor: Annotated[float, Range(least=0, most=1)] = 0.0
    """plateau: lowest learning rate."""
    stop_at_floor: bool = False
    """plateau: whether training ends when the rate reaches `floor`."""

    def __post_init__(self) -> None:
        if self.kind == "plateau" and self.stop_at_floor and not 0 < self.floor < self.peak:
            raise ValueError("stop_at_floor needs a floor above 0 and below the peak")


@settings_class
class BatchSettings:
    """The data of one update, over all devices together."""

    unit: Literal["tokens", "sentences"] = "tokens"
    """Unit of `size`. tokens: sentence pairs times the padded length of the longer side; sentences: sentence pairs."""
    size: Count = 4096
    """Size of the batch of one update."""
    device_size: Count | None = field(default=None, metadata=OF_MACHINE)
    """As in `MachineSettings`."""
    max_length: Count | None = 256
    """Most subwords per side, without the end of sentence and interleaved tags; longer training pairs are left out and
    counted. null: all pairs are used."""
    pool: Count = 100
    """Batches of similar length are cut from shuffled pools of about this many batches."""


@settings_class
class ValidationSettings:
    """Validation on the development set."""

    every: Count = 1000
    """Updates between validations."""
    metric: Literal["bleu", "perplexity"] = "bleu"
    """Score that decides on early stopping, the best checkpoint and a plateau; perplexity is always computed."""
    beam: Beam = 1
    """Beam of the search that validates by BLEU."""
    stop_after: Count | None = None
    """Training ends after this many validations without a better score; null: never."""


@settings_class
class TrainingSettings:
    """Training of a model."""

    betas: tuple[Fraction, Fraction] = (0.9, 0.98)
    """Adam's rates of decay."""
    epsilon: Positive = 1e-9
    """Adam's epsilon."""
    weight_decay: NonNegative = 0.0
    """Decoupled weight decay (AdamW); 0: none."""
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    """The learning rate over time."""
    batch: BatchSettings = field(default_factory=BatchSettings)
    """The data of one update, over all devices together."""
    validation: ValidationSettings = field(default_factory=ValidationSettings)
    """Validation on the development set."""
    label_smoothing: Fraction = 0.1
    """Probability mass that label smoothing takes from the correct token."""
    smoothing_over: Literal["all", "others", "others_but_padding"] = "all"
    """Vocabulary entries that share the smoothed mass: all V (fairseq), the V-1 others (Tensor2Tensor), or the V-2
    others without padding (JoeyNMT)."""
    clip_norm: Positive | None = None
    """Gradients are scaled down to this L2 norm; null: never."""
    initialisation: Literal["xavier", "uniform"] = "xavier"
    """Distribution of the initial weights; uniform: between plus and minus `uniform_range`."""
    uniform_range: Annotated[float, Range(above=0, most=1)] = 0.04
    """Bound of uniform initial weights."""
    max_updates: Count | None = None
    """Training ends after this many updates. This or `max_epochs` must be set."""
    max_epochs: Count | None = None
    """Training ends after this many epochs."""
    precision: Literal["fp32", "tf32", "bf16"] = "fp32"
    """Of matrix products on a GPU; bf16 also of activations (autocast). Weights and optimiser stay in fp32, and so does
    all training on a CPU."""
    compile: bool = field(default=False, metadata=OF_MACHINE)
    """As in `MachineSettings`."""
    keep: Literal["last", "best", "average"] = "last"
    """Final weights: of the last or the best checkpoint, or the average of the last `average` checkpoints."""
    average: Count = 5
    """Number of checkpoints that are averaged."""
    checkpoint_every: Count = 1000
    """Updates between checkpoints."""
    log_every: Count = field(default=10, metadata=OF_MACHINE)
    """As in `MachineSettings`."""

    def __post_init__(self) -> None:
        if all(getattr(self, end) is None for end in ENDS):
            raise ValueError(NO_END)


@settings_class
class TreebankSettings:
    """Training on the data set's training treebanks (`treebank_...` splits).

    Each update sees a batch of their sentences, and only these sentences train the heads that parse.
    """

    pairs: bool = True
    """Whether each update also sees a batch of translation pairs, which train everything but parsing. false: an epoch
    is one pass over the treebanks."""
    size: Count | None = None
    """Size of the batch of treebank sentences, in the unit of `training.batch`; null: `training.batch.size`."""


@settings_class
class DecodingSettings:
    """Beam search."""

    beam: Beam = 4
    """Live hypotheses per sentence; 1: greedy search."""
    length_penalty: Literal["gnmt", "fairseq", "none"] = "gnmt"
    """What log probabilities are divided by for a length of n, end of sentence included. gnmt: ((5 + n) / 6)^alpha (Wu
    et al. 2016); fairseq: n^alpha."""
    alpha: Exponent = 0.6
    """Exponent of the length penalty."""
    min_length: Amount = 1
    """Fewest subwords of a translation, to which limits by `max_length_ratio` are raised; twice as many with
    interleaved tags. 0: translations may be empty."""
    max_length_ratio: Positive | None = 2.0
    """A translation has at most this many times the source's subwords, plus `max_length_extra`; no interleaved tags
    count, and with tags a translation may be twice as long. null: no such limit. This or `max_length` must be set."""
    max_length_extra: Amount = 10
    """Subwords added to the limit of `max_length_ratio`."""
    max_length: Count | None = None
    """Most subwords of a translation, whatever the source's length; twice as many with interleaved tags. null: no such
    limit."""
    batch_sentences: Count | None = field(default=None, metadata=OF_MACHINE)
    """As in `MachineSettings`."""

    def __post_init__(self) -> None:
        if self.max_length_ratio is None and self.max_length is None:
            raise ValueError("give max_length_ratio or max_length, or a search might never end")
        if self.max_length is not None and self.min_length > self.max_length:
            raise ValueError(
                f"min_length ({self.min_length}) is above max_length ({self.max_length}): lower the one or raise the "
                "other"
            )


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
    positions: Literal["sinusoidal", "halves", "none"] = "sinusoidal"
    """Vectors that are added to the embeddings to encode positions. sinusoidal: sines and cosines in turn; halves: all
    sines before all cosines, in fp32, as Marian has them."""
    scaled_embeddings: bool = True
    """Whether embeddings are multiplied by the root of `width`."""
    activation: Literal["relu", "swish", "gelu"] = "relu"
    """The function within each feed-forward block."""
    output_bias: bool = False
    """Whether the output layer has a bias."""
    language_code: Count | None = None
    """Id of the entry before every source that tells a published model for several languages the target's; null: none.
    """
    dropout: Fraction = 0.1
    """Dropout probability of each block's output."""
    embedding_dropout: Fraction | None = None
    """Dropout probability of the embeddings, after positions are added; null: as `dropout`."""
    attention_dropout: Fraction = 0.0
    """Dropout probability of the attention weights."""
    activation_dropout: Fraction = 0.0
    """Dropout probability after the activation of each feed-forward block."""

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
        return sum(self.weights) + layers + last_norms + (target_size if self.output_bias else 0)


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


METRIC_NAMES = ("ribes", "multi_bleu")
"""The scores that a data set can ask for, beside BLEU and chrF."""


def metric_names() -> list[str]:
    """Return the scores that a data set can ask for: those of the package, and files of the user's own.

    Only files of data sets are checked by them, since a trained model may be used where the user's file is not.
    """
    return [*METRIC_NAMES, *own_names("metrics")]


Metric = Annotated[str, Field(json_schema_extra=lambda schema: schema.update(enum=metric_names()))]


@settings_class
class EvaluationSettings:
    """Evaluation of the translations and trees of the tests."""

    text: Literal["detokenised", "tokens"] = "detokenised"
    """detokenised: detokenised output against raw references; tokens: tokens joined by spaces on both sides."""
    tokenize: Literal["13a", "none", "intl", "ja", "zh", "char"] = "13a"
    """sacreBLEU's tokeniser; ja: KyTea's words if KyTea is installed, else MeCab's (the signature says which); zh:
    Chinese characters; char: all characters, for Thai and other scripts without spaces."""
    lowercase: bool = False
    """Whether case is ignored."""
    roots: Literal["one", "many"] = "one"
    """Roots of a source tree: one (UD) or any number (CzEng, PDT)."""
    greedy_dev: bool = False
    """Whether dev is also translated by greedy search, as validation does it, and scored as `dev.greedy`."""
    metrics: tuple[Metric, ...] = ()
    """Scores beside BLEU and chrF. ribes: on BLEU's tokens, for Japanese; multi_bleu: BLEU of the words that spaces
    separate, as Moses's multi-bleu.perl computes it; any other name: a file of your own in `config/metrics`."""

    def __post_init__(self) -> None:
        if len(set(self.metrics)) != len(self.metrics):
            raise ValueError(f"metrics names a score twice ({', '.join(self.metrics)})")
