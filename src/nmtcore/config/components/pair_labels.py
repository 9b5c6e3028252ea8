"""Settings of the components that give every pair of tokens a label (pham2018, section 3.1; Shaw et al. 2018)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from nmtcore.config.components.base import ComponentSettings


@dataclass(frozen=True, kw_only=True)
class PairLabelsSettings(ComponentSettings):
    """What all of them share."""

    on: Literal["keys", "keys_values"] = "keys"
    """Whether the labels' vectors are added to the keys alone, or others to the values as well (the released code)."""


@dataclass(frozen=True, kw_only=True)
class RelativePositionsSettings(PairLabelsSettings):
    """Distances between tokens in place of sinusoids (Shaw et al. 2018; pham2018, section 5.2)."""

    maximum: int = 20
    """The longest distance with a label of its own, to either side."""
    far: Literal["label", "clip"] = "label"
    """Pairs further apart have one label of their own, or that of the longest distance to their side."""
    decoder: bool = True
    """Whether the decoder's attention over itself is relative too; else the decoder keeps its sinusoids."""

    def __post_init__(self) -> None:
        if self.maximum < 1:
            raise ValueError("maximum must be at least 1")


@dataclass(frozen=True, kw_only=True)
class TreeLabelsSettings(PairLabelsSettings):
    """What labels read off dependency trees share."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    replaces_positions: bool = True
    """Whether the encoder's sinusoids are left out."""
    maximum: int

    def __post_init__(self) -> None:
        if self.maximum < 1:
            raise ValueError("maximum must be at least 1")


@dataclass(frozen=True, kw_only=True)
class TreeDistanceSettings(TreeLabelsSettings):
    """The number of edges between two words of the source's dependency tree."""

    maximum: int
    """The longest distance with a label of its own; the thesis has 5 and 20. Pairs further apart share one."""


@dataclass(frozen=True, kw_only=True)
class TreeTraversalSettings(TreeLabelsSettings):
    """The steps from one word to the other through the source's dependency tree."""

    maximum: int = 10
    """The most steps of a path with a label of its own. Pairs further apart share one."""
