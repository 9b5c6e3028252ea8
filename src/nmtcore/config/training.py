"""Settings of training and decoding."""

from dataclasses import field
from typing import Annotated, Literal

from nmtcore.config.ranges import (
    Amount,
    Beam,
    Count,
    Exponent,
    Fraction,
    LearningRate,
    NonNegative,
    Positive,
    Range,
    settings_class,
)
from nmtcore.config.typed import OF_MACHINE

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
