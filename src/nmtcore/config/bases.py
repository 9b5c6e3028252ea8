"""The base models and their settings."""

from nmtcore.config.recurrent import RecurrentSettings
from nmtcore.config.registry import Registry
from nmtcore.config.transformer import TransformerSettings

BaseSettings = TransformerSettings | RecurrentSettings

BASES = Registry[BaseSettings](
    {"transformer": TransformerSettings, "recurrent": RecurrentSettings},
    noun="base",
    package="nmtcore.model",
)
