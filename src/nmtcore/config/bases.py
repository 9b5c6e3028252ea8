"""The base models, their settings, and the changes for each base in recipes, data sets and scales."""

from collections.abc import Iterable
from dataclasses import field, fields
from typing import Annotated, Any

from nmtcore.config.partial import PartOf
from nmtcore.config.ranges import settings_class
from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.registry import Registry
from nmtcore.config.training import DecodingSettings, TrainingSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.errors import UserError

BaseSettings = TransformerSettings | RecurrentSettings

BASES = Registry[BaseSettings](
    {"transformer": TransformerSettings, "recurrent": RecurrentSettings},
    noun="base",
    package="nmtcore.model",
)


def check_settings_of_base(keys: Iterable[str], base: str, *, where: str) -> None:
    """Raise `UserError` at the first key that is a setting of another base but not of this one."""
    own = [field.name for field in fields(BASES[base])]
    for key in keys:
        owners = [name for name, cls in BASES.items() if key in {field.name for field in fields(cls)}]
        if owners and base not in owners:
            raise UserError(
                f"{where}: '{key}' is a setting of the base {owners[0]}, but the system's is {base}, whose settings "
                f"are {', '.join(sorted(own))}."
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
