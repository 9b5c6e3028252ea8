"""Settings of `speeds.yaml`: how fast devices train and parsers parse, and the sizes of files, to estimate costs."""

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

from nmtcore.config.bases import BASES
from nmtcore.config.ranges import Count, NonNegative, Positive, Range, settings_class
from nmtcore.config.typed import build, merge
from nmtcore.config.yaml_files import read_yaml
from nmtcore.errors import UserError, joined_by_or

Share = Annotated[float, Range(above=0, most=1)]
"""A part of a whole, not nothing."""


@settings_class
class TrainingSpeed:
    """The speed at which a model of one width was trained."""

    base: str = "transformer"
    """The base model."""
    width: Count
    """The model's `width`."""
    gigaflops: Positive
    """Billions of operations per second: 6 for each weight of a matrix and each subword of a full batch."""

    def __post_init__(self) -> None:
        if self.base not in BASES:
            raise ValueError(f"base is one of {', '.join(sorted(BASES))}, not '{self.base}'")


@settings_class
class PeakSettings:
    """Peak speeds by the data sheet, in trillions of operations per second, by the `precision` of training."""

    fp32: Positive | None = None
    """In fp32, without TF32; null: unknown."""
    tf32: Positive | None = None
    """In TF32, without sparsity; null: unknown."""
    bf16: Positive | None = None
    """In bf16, without sparsity; null: unknown."""


@settings_class
class DeviceSettings:
    """A processor core or a GPU: its speed by model width or, if none was measured, its peak and an assumed share."""

    device: Literal["cpu", "gpu"]
    """cpu: one core; gpu: one card."""
    description: str
    """What it is, as messages name it."""
    source: str
    """Where the figures come from: measured (how), published (where) or assumed."""
    training: tuple[TrainingSpeed, ...] = ()
    """Measured or published speeds of training; between two widths, the speed is interpolated."""
    peak_teraflops: PeakSettings = field(default_factory=PeakSettings)
    """Peak speeds by the data sheet."""
    share_of_peak: Share | None = None
    """Assumed share of the peak that training reaches where `training` has no speed; null: the speed is unknown."""
    seconds_per_update: NonNegative = 0.0
    """Time that each update takes in addition, whatever the model's size."""
    search: Share
    """Speed of beam search relative to training in fp32, by the same count of operations (2 instead of 6)."""
    seconds_per_run: NonNegative = 0.0
    """Time that the jobs of a run take to start."""


@settings_class
class AnnotationSpeed:
    """The speed of an annotator on one processor core."""

    tool: str
    """The annotator's tool."""
    language: str | None = None
    """Language code; null: any."""
    analysis: str | None = None
    """What the tool is set to make (`analysis` or `tags` in a data set's `annotators`); null: anything."""
    sentences_per_second: Positive
    """Sentences per second, once the tool has started."""


@settings_class
class BytesSettings:
    """Sizes of files, in bytes per sentence pair and subword of a sentence (`subwords_per_sentence`)."""

    corpus: Positive
    """Pairs, in the file before the filters or in the one after them."""
    annotation: Positive
    """Trees and tags of one side."""
    tokens: Positive
    """Subwords of one side."""
    syntax: Positive
    """Features of one annotator of one side."""


@settings_class
class SpeedsSettings:
    """Speeds and sizes from which `snakemake -n tables` estimates costs."""

    cpu: str
    """The device, of `devices`, that stands for a processor core."""
    gpu: str
    """The device that stands for a GPU."""
    devices: dict[str, DeviceSettings]
    """Devices by name."""
    subwords_per_sentence: Positive | None = None
    """Assumed mean length of a sentence, `</s>` included; null: unknown, and all that depends on it too."""
    annotation: tuple[AnnotationSpeed, ...] = ()
    """Speeds of annotators; the first that fits counts. Any other is unknown."""
    bytes_per_subword: BytesSettings
    """Sizes of files."""

    def __post_init__(self) -> None:
        for key in ("cpu", "gpu"):
            name = getattr(self, key)
            if name not in self.devices:
                raise ValueError(f"{key}: there is no device '{name}' in devices ({', '.join(self.devices)})")
            if self.devices[name].device != key:
                raise ValueError(f"{key}: the device of '{name}' is {self.devices[name].device}, not {key}")


def read_speeds(folders: Sequence[Path]) -> SpeedsSettings:
    """Read `speeds.yaml` of the folders of a configuration; an earlier folder's file changes those of later ones.

    Raises `UserError` if there is none, or if one is not valid.
    """
    paths = [path for folder in folders if (path := Path(folder) / "speeds.yaml").is_file()]
    if not paths:
        raise UserError(f"There is no speeds.yaml in {joined_by_or(folders)}: costs cannot be estimated.")
    return build(SpeedsSettings, merge(*(read_yaml(path) for path in reversed(paths))), where=str(paths[0]))
