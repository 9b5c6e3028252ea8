"""Settings of recipes and scales."""

from dataclasses import field
from typing import Annotated, Any

from nmtcore.config.bases import ChangesByBase
from nmtcore.config.partial import PartOf
from nmtcore.config.ranges import Count, settings_class
from nmtcore.config.runs import SentencesSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings


@settings_class
class RecipeSettings:
    """The settings of one paper: its changes of the defaults of model, training and decoding."""

    description: str
    """A sentence that says what the file is for."""
    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Settings of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Settings of decoding."""
    per_base: Annotated[dict[str, Any], PartOf(ChangesByBase)] = field(default_factory=dict)
    """The model's settings, and changes of training and decoding, for the systems of each base."""


@settings_class
class ScaleSettings(RecipeSettings):
    """The size of runs: less data, and settings that override those of recipes and data sets.

    Settings that make models and runs small (`DECIDED_BY_SCALE` in `config.project`) override those of systems too.
    """

    sentences: SentencesSettings = field(default_factory=SentencesSettings)
    """Sentences to use of each split."""
    fine_tuning: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of the scale's `training` for systems that start from another system's model."""
    segmentation_size: Count | None = None
    """Most merges or words of a segmentation; null: as the data set has them."""
    verdicts: bool = True
    """Whether its results decide the papers' claims, and systems have the seeds of `tables/`; false: runs are too small
    for that."""
    converges: bool = True
    """Whether training ends after the baseline has stopped improving; false: no claim about a system with a second loss
    is decided, since such a loss slows the start."""
