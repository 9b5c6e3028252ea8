"""Settings of recipes and scales."""

from dataclasses import dataclass, field
from typing import Any

from nmtcore.config.runs import SentencesSettings


@dataclass(frozen=True, kw_only=True)
class RecipeSettings:
    """One paper's way of training: what it changes in the defaults of the model, of training and of decoding."""

    description: str
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ScaleSettings(RecipeSettings):
    """What shrinks: less data, and changes like a recipe's, laid over recipe and data set; those of `DECIDED_BY_SCALE`
    are laid over the system too."""

    sentences: SentencesSettings = field(default_factory=SentencesSettings)
    fine_tuning: dict[str, Any] = field(default_factory=dict)
    """Changes of `training` for systems that start from another one's model, laid over the scale's own `training`."""
    segmentation_size: int | None = None
    """A data set's segmentation is cut down to at most this many merges or words."""
