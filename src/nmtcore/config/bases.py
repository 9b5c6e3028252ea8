"""The base models, their settings, and the changes for each base in recipes, data sets and scales."""

from dataclasses import field
from typing import Annotated, Any

from nmtcore.config.partial import PartOf
from nmtcore.config.ranges import settings_class
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.registry import Registry
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.config.transformer import TransformerSettings

BaseSettings = TransformerSettings | RecurrentSettings

BASES = Registry[BaseSettings](
    {"transformer": TransformerSettings, "recurrent": RecurrentSettings},
    noun="base",
    package="nmtcore.model",
)


@settings_class
class ChangesForTransformer:
    """Changes for systems whose base is the transformer."""

    model: Annotated[dict[str, Any], PartOf(TransformerSettings)] = field(default_factory=dict)
    """Settings of the model."""
    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Changes of decoding."""


@settings_class
class ChangesForRecurrent:
    """Changes for systems whose base is the recurrent model."""

    model: Annotated[dict[str, Any], PartOf(RecurrentSettings)] = field(default_factory=dict)
    """Settings of the model."""
    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Changes of decoding."""


@settings_class
class ChangesByBase:
    """Changes for the systems of each base."""

    transformer: ChangesForTransformer = field(default_factory=ChangesForTransformer)
    """Changes for transformers."""
    recurrent: ChangesForRecurrent = field(default_factory=ChangesForRecurrent)
    """Changes for recurrent models."""
