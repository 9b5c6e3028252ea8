"""Settings of the components with a label per pair of tokens (pham2018, section 3.1; Shaw et al. 2018)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.ranges import Count, settings_class
from nmtcore.config.transformer import TransformerSettings


@settings_class
class PairLabelsSettings(ComponentSettings):
    """Base of the settings of components with a label per pair of tokens."""

    on: Literal["keys", "keys_values"] = "keys"
    """keys: each label has a vector that is added to keys; keys_values: and another for values (the released code)."""

    @property
    def label_count(self) -> int:
        """The number of labels with a learned vector."""
        raise NotImplementedError

    def labelled_layers(self, model: TransformerSettings) -> int:
        """Return the number of layers whose attention has labels."""
        return model.encoder_layers

    def parameter_count(self, model: TransformerSettings, labels: Mapping[str, int]) -> int:
        """Count the vectors of the labels, of each layer."""
        tables = 2 if self.on == "keys_values" else 1
        return tables * self.labelled_layers(model) * self.label_count * (model.width // model.heads)


@settings_class
class RelativePositionsSettings(PairLabelsSettings):
    """Relative positions in place of sinusoids (Shaw et al. 2018; pham2018, section 5.2).

    They replace the encoder's sinusoids, and the decoder's too if `decoder` is true.
    """

    maximum: Count = 20
    """Longest distance with its own label, in tokens to either side."""
    far: Literal["label", "clip"] = "label"
    """Label of longer distances. label: one for all of them; clip: that of the longest distance to the same side."""
    decoder: bool = True
    """Whether the decoder's self-attention has relative positions too; otherwise the decoder keeps its sinusoids."""

    @property
    def label_count(self) -> int:
        """Distances to both sides, 0, and the label of longer ones."""
        return 2 * self.maximum + (2 if self.far == "label" else 1)

    def labelled_layers(self, model: TransformerSettings) -> int:
        """Return the number of layers of the stacks with relative positions."""
        return model.encoder_layers + (model.decoder_layers if self.decoder else 0)


@settings_class
class TreeLabelsSettings(PairLabelsSettings):
    """Base of the settings of components whose labels come from dependency trees."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    replaces_positions: bool = True
    """Whether the labels replace the encoder's sinusoids."""
    maximum: Count
    """Largest number with its own label; larger ones share a label."""


@settings_class
class TreeDistanceSettings(TreeLabelsSettings):
    """Labels for distances in the source's dependency tree: the number of edges between two words.

    Needs dependencies on the source side.
    """

    maximum: Count
    """Longest distance with its own label (5 and 20 in the thesis); longer ones share a label."""

    @property
    def label_count(self) -> int:
        """Distances from 0, the label of longer ones, and that of pairs with a token outside words."""
        return self.maximum + 3


@settings_class
class TreeTraversalSettings(TreeLabelsSettings):
    """Labels for paths through the source's dependency tree: the steps from one word to the other.

    Needs dependencies on the source side.
    """

    maximum: Count = 10
    """Most steps of a path with its own label; longer paths share a label."""

    @property
    def label_count(self) -> int:
        """Paths up and down, those that begin with a sibling, "self", "far", and that of tokens outside words."""
        return 1 + self.maximum * (self.maximum + 1) // 2 + 2 * self.maximum + 3
