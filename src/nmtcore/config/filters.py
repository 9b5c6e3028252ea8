"""The settings of every corpus filter.

To add one: its settings here, a line in `FILTERS`, its code in `corpus/filters/{name}.py`.
"""

from dataclasses import dataclass
from typing import Literal

from nmtcore.config.registry import Registry


@dataclass(frozen=True, kw_only=True)
class FilterSettings:
    """What all filters share."""


@dataclass(frozen=True, kw_only=True)
class EmptySettings(FilterSettings):
    """Drop pairs with a side that has no word."""


@dataclass(frozen=True, kw_only=True)
class LengthSettings(FilterSettings):
    """Drop pairs with a side of fewer than `least` or more than `most` words."""

    least: int = 1
    most: int = 250


@dataclass(frozen=True, kw_only=True)
class RatioSettings(FilterSettings):
    """Drop pairs whose longer side has more than `most` times the words of the shorter."""

    most: float = 9.0


@dataclass(frozen=True, kw_only=True)
class DuplicatesSettings(FilterSettings):
    """Keep the first of several equal pairs (both sides equal, as words)."""


@dataclass(frozen=True, kw_only=True)
class HeldOutSettings(FilterSettings):
    """Drop training pairs that occur in another split of the data set (both sides equal, as words)."""


@dataclass(frozen=True, kw_only=True)
class LangDetectSettings(FilterSettings):
    """Drop pairs of which a side is not in its language, as the package langdetect (a port of Google's) sees it."""

    sides: tuple[Literal["source", "target"], ...] = ("source", "target")
    profiles: tuple[str, ...] | None = None
    """The languages that it chooses from (ISO 639-1). None: all of its 55, as in the papers; fewer are faster, and
    drop other pairs."""
    seed: int = 0
    """Of its random walk, for every sentence anew, so that a verdict does not depend on the sentences before."""


@dataclass(frozen=True, kw_only=True)
class LinguaSettings(FilterSettings):
    """Drop pairs of which a side is not in its language, as lingua sees it: faster than langdetect, and better."""

    sides: tuple[Literal["source", "target"], ...] = ("source", "target")
    languages: tuple[str, ...] | None = None
    """The languages that it chooses from (ISO 639-1), beside the data set's two. None: a dozen frequent ones."""
    least_confidence: float = 0.0
    """A sentence stays where its own language has at least this confidence even if another one has more; 0: off."""


FILTERS = Registry[FilterSettings](
    {
        "empty": EmptySettings,
        "length": LengthSettings,
        "ratio": RatioSettings,
        "duplicates": DuplicatesSettings,
        "held_out": HeldOutSettings,
        "langdetect": LangDetectSettings,
        "lingua": LinguaSettings,
    },
    noun="filter",
    package="nmtcore.corpus.filters",
)
