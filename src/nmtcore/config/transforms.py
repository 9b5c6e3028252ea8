"""The settings of every transform of examples, and the facts that planning needs without importing numpy.

To add a transform, put its settings here with a line in `TRANSFORMS`; its code goes to `features/transforms/{kind}.py`,
in a class named like the settings (`ParsingTask`).
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from nmtcore.config.ranges import settings_class
from nmtcore.config.registry import Registry


@settings_class
class TransformSettings:
    """Base class of the settings of transforms."""

    linearised_parses_of: ClassVar[Literal["constituency"] | None] = None
    """The source annotation whose linearised parses it reads. The segmentation must be learned from them too."""

    without_syntax: ClassVar[str | None] = None
    """Why no component of the same system may read trees or tags or predict heads; None if components may do so."""


@settings_class
class ParsingTaskSettings(TransformSettings):
    """Use every source twice: once to be translated and once to be parsed (Currey and Heafield 2019).

    In the training and development sets, every source occurs between two `<TR>`, to be translated, and between two
    `<PA>`, to become its linearised parse; a source without a parse occurs once. The sentences of a scale count pairs,
    and only translations are scored. Needs constituency on the source side, `segmentation: {also: constituency}`, and
    no components that read syntax or parse.
    """

    linearised_parses_of: ClassVar[Literal["constituency"]] = "constituency"
    without_syntax: ClassVar[str] = "it encloses sources in tags, which have no syntax"


TRANSFORMS = Registry[TransformSettings](
    {"parsing_task": ParsingTaskSettings}, noun="transform", package="nmtcore.features.transforms", key="kind"
)


def transform_settings(name: str, entry: Mapping[str, Any], *, where: str) -> TransformSettings:
    """Build the settings of a transform `name: {kind: ..., key: value...}`; `kind` defaults to the name."""
    return TRANSFORMS.build_named(name, entry, where=f"{where}: transforms")
