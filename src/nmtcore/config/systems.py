"""Settings of systems."""

from dataclasses import field
from typing import Annotated, Any, Literal

from nmtcore.config.bases import BASES
from nmtcore.config.components import COMPONENTS
from nmtcore.config.components.base import Trees
from nmtcore.config.external import ExternalSettings
from nmtcore.config.partial import PartOf
from nmtcore.config.ranges import settings_class
from nmtcore.config.registry import PartsOf
from nmtcore.config.segmentation import SegmentationSettings
from nmtcore.config.training import DecodingSettings, TrainingSettings, TreebankSettings
from nmtcore.config.transforms import TRANSFORMS


@settings_class
class SystemSettings:
    """A base model and components by name, in the order in which the model calls them."""

    base: Literal["transformer", "recurrent"] = "transformer"
    """Base model."""
    description: str = ""
    """A sentence that says what the system is."""
    components: Annotated[dict[str, dict[str, Any]], PartsOf(COMPONENTS)] = field(default_factory=dict)
    """Components by name, in the order in which the model calls them; a component's kind is its name or its `kind`."""
    trees: Trees | None = None
    """What its trees are compared with. supervised: the trees of the parser that it learned from, and gold treebanks;
    chain: the previous word; induced: gold treebanks, as in grammar induction. null: the default of its components."""
    model: Annotated[dict[str, Any], PartOf(*BASES.values())] = field(default_factory=dict)
    """Changes of the model."""
    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Changes of decoding."""
    start_from: str | None = None
    """Another system, whose model (same data set, scale and seed) gives the initial weights."""
    treebank: TreebankSettings | None = None
    """Training on the data set's training treebanks; null: none."""
    segmentation: Annotated[dict[str, Any], PartOf(SegmentationSettings)] = field(default_factory=dict)
    """Changes of the data set's segmentation."""
    transforms: Annotated[dict[str, dict[str, Any]], PartsOf(TRANSFORMS)] = field(default_factory=dict)
    """Transforms of examples by name, in the order in which they are applied."""
    external: ExternalSettings | None = None
    """Translations made elsewhere, of a system that is not trained here; it has no other keys but `description`."""


@settings_class
class PerDatasetSettings:
    """The changes of a system on one data set, and on data sets that extend it."""

    components: Annotated[dict[str, dict[str, Any]], PartsOf(COMPONENTS)] = field(default_factory=dict)
    """Changes of the system's components, by name."""
    model: Annotated[dict[str, Any], PartOf(*BASES.values())] = field(default_factory=dict)
    """Changes of the model."""
    training: Annotated[dict[str, Any], PartOf(TrainingSettings)] = field(default_factory=dict)
    """Changes of training."""
    decoding: Annotated[dict[str, Any], PartOf(DecodingSettings)] = field(default_factory=dict)
    """Changes of decoding."""


@settings_class
class SystemEntry(SystemSettings):
    """An entry of a file of systems: its differences from the system that it extends."""

    components: Annotated[dict[str, dict[str, Any] | None], PartsOf(COMPONENTS)] = field(default_factory=dict)
    """Components by name, in the order in which the model calls them; a component's kind is its name or its `kind`.
    null drops an ancestor's component."""
    transforms: Annotated[dict[str, dict[str, Any] | None], PartsOf(TRANSFORMS)] = field(default_factory=dict)
    """Transforms of examples by name, in the order in which they are applied. null drops an ancestor's transform."""
    per_dataset: dict[str, Annotated[dict[str, Any], PartOf(PerDatasetSettings)]] = field(default_factory=dict)
    """Changes on a data set and on those that extend it; of several such entries only the nearest counts."""
