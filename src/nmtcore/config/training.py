"""Settings of training and decoding: what a recipe holds."""

from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class ScheduleSettings:
    """How the learning rate moves."""

    kind: Literal["inverse_sqrt", "plateau", "halving", "constant"] = "inverse_sqrt"
    """inverse_sqrt: linear warm-up to `peak`, then peak * sqrt(warmup / update). plateau: times `factor` after more
    than `patience` validations in a row without a better score (as torch and JoeyNMT count). halving: times `factor`
    when validation perplexity is above the previous one's; training stops after `stop_after` such steps."""
    peak: float = 7e-4
    warmup: int = 0
    """Updates of linear warm-up (0: none)."""
    factor: float = 0.5
    patience: int = 0
    stop_after: int | None = None
    floor: float = 0.0
    """plateau: the rate never falls below this."""
    stop_at_floor: bool = False
    """plateau: training ends when the rate reaches `floor`."""

    def __post_init__(self) -> None:
        if self.kind == "plateau" and self.stop_at_floor and not 0 < self.floor < self.peak:
            raise ValueError("stop_at_floor needs a floor above 0 and below the peak")


@dataclass(frozen=True, kw_only=True)
class BatchSettings:
    """What one update sees, over all devices together."""

    unit: Literal["tokens", "sentences"] = "tokens"
    """tokens: rows times the longer side's padded length; sentences: rows."""
    size: int = 4096
    device_size: int | None = None
    """The most that one device takes at once, in the same unit; a larger batch is accumulated. None: the whole."""
    max_length: int | None = 256
    """Training pairs with a longer side (subwords, without the end of sentence) are left out and counted. None: all
    pairs are used."""
    pool: int = 100
    """Batches of similar length are cut from shuffled pools of about this many batches."""


@dataclass(frozen=True, kw_only=True)
class ValidationSettings:
    """When and how the development set is looked at."""

    every: int = 1000
    """Updates between validations."""
    metric: Literal["bleu", "perplexity"] = "bleu"
    """What early stopping, `best` and a plateau go by. Perplexity is always computed."""
    beam: int = 1
    stop_after: int | None = None
    """Stop after this many validations without a better score. None: never."""


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """One training run."""

    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-9
    weight_decay: float = 0.0
    schedule: ScheduleSettings = field(default_factory=ScheduleSettings)
    batch: BatchSettings = field(default_factory=BatchSettings)
    validation: ValidationSettings = field(default_factory=ValidationSettings)
    label_smoothing: float = 0.1
    smoothing_over: Literal["all", "others", "others_but_padding"] = "all"
    """The entries that share the smoothed mass: V (fairseq), V-1 (Tensor2Tensor) or V-2 (JoeyNMT)."""
    clip_norm: float | None = None
    """Scale gradients down to this L2 norm."""
    initialisation: Literal["xavier", "uniform"] = "xavier"
    uniform_range: float = 0.04
    max_updates: int | None = None
    max_epochs: int | None = None
    precision: Literal["fp32", "bf16"] = "fp32"
    """bf16: autocast on a GPU; weights and optimiser stay fp32."""
    keep: Literal["last", "best", "average"] = "last"
    """Which weights the run ends with; average: of the last `average` checkpoints."""
    average: int = 5
    checkpoint_every: int = 1000
    """Updates between checkpoints."""
    log_every: int = 10
    """Updates that a line of training.jsonl sums up."""

    def __post_init__(self) -> None:
        if self.max_updates is None and self.max_epochs is None:
            raise ValueError("give max_updates or max_epochs, or training would never end")
        if not 0 <= self.label_smoothing < 1:
            raise ValueError("label_smoothing must be at least 0 and below 1")


@dataclass(frozen=True, kw_only=True)
class TreebankSettings:
    """Every update sees sentences of the data set's training treebanks (`treebank_...` splits): they alone train the
    heads that parse."""

    pairs: bool = True
    """Whether it also sees a batch of translation pairs, which train everything but those heads' parsing. False: an
    epoch is one of the treebanks."""
    size: int | None = None
    """Of the batch of treebank sentences, in the unit of `training.batch`. None: `training.batch.size`."""

    def __post_init__(self) -> None:
        if self.size is not None and self.size < 1:
            raise ValueError("size must be at least 1")


@dataclass(frozen=True, kw_only=True)
class DecodingSettings:
    """Beam search."""

    beam: int = 4
    length_penalty: Literal["gnmt", "fairseq", "none"] = "gnmt"
    """gnmt: log p / ((5 + n) / 6)^alpha (Wu et al. 2016); fairseq: log p / n^alpha; n counts the end of sentence."""
    alpha: float = 0.6
    max_length_ratio: float | None = 2.0
    """Output subwords at most this many times the source's..."""
    max_length_extra: int = 10
    """...plus this."""
    max_length: int | None = None
    """And never more than this."""
    batch_sentences: int = 64
    """Sentences searched at once; it changes the speed, not the result."""

    def __post_init__(self) -> None:
        if self.beam < 1 or self.batch_sentences < 1:
            raise ValueError("beam and batch_sentences must be at least 1")
        if self.max_length_ratio is None and self.max_length is None:
            raise ValueError("give max_length_ratio or max_length, or a search might never end")
