"""The settings of every transform of examples, and what planning must know of each without importing numpy.

To add a transform: its settings here with a line in `TRANSFORMS`, its code in `features/transforms/{kind}.py`, in a
class that is called like the settings (`ParsingTask`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nmtcore.config.registry import Registry


@dataclass(frozen=True, kw_only=True)
class TransformSettings:
    """What all transforms share."""

    linearised_parses_of: ClassVar[Literal["constituency"] | None] = None
    """The source annotation whose linearised parses it reads. The segmentation must be learned from them too."""

    without_syntax: ClassVar[str | None] = None
    """Why no component of the same system may read trees or tags, or give words heads. None: they may."""


@dataclass(frozen=True, kw_only=True)
class ParsingTaskSettings(TransformSettings):
    """Every source stands twice: to be translated, and to be parsed (Currey and Heafield 2019)."""

    linearised_parses_of: ClassVar[Literal["constituency"]] = "constituency"
    without_syntax: ClassVar[str] = "sources stand between tags that have neither"


TRANSFORMS = Registry[TransformSettings](
    {"parsing_task": ParsingTaskSettings}, what="transform", package="nmtcore.features.transforms", key="kind"
)


def transform_settings(name: str, entry: Mapping[str, Any], *, where: str) -> TransformSettings:
    """Build the settings of a system's transform `name: {kind: ..., key: value...}`; without a kind, it is the name."""
    return TRANSFORMS.build_named(name, entry, where=f"{where}: transforms")
