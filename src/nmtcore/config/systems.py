"""Settings of systems."""

from dataclasses import dataclass, field
from typing import Any, Literal

from nmtcore.config.training import TreebankSettings


@dataclass(frozen=True, kw_only=True)
class SystemSettings:
    """A base model and components by name, in the order in which the model calls them."""

    base: Literal["transformer"] = "transformer"
    description: str = ""
    components: dict[str, dict[str, Any]] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    decoding: dict[str, Any] = field(default_factory=dict)
    start_from: str | None = None
    """Another system: its model, on the same data set and scale and with the same seed, has the first weights."""
    treebank: TreebankSettings | None = None
    """It is trained on the data set's training treebanks."""
    segmentation: dict[str, Any] = field(default_factory=dict)
    """What it changes in the data set's segmentation."""
    transforms: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Transforms of examples by name, in the order in which they are made."""


@dataclass(frozen=True, kw_only=True)
class SystemEntry(SystemSettings):
    """What a file says of a system: how it differs from the one that it extends."""

    components: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    """Null drops a component of an ancestor."""
    transforms: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    """Null drops a transform of an ancestor."""
    per_dataset: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Data set: what changes there, and on data sets that extend it: components, model, training, decoding. Of several
    such entries the nearest counts."""
