"""Settings of the corpus filters.

To add a filter: its settings here, a line in `FILTERS`, its function in `corpus/filters.py`.
"""

from typing import Annotated

from nmtcore.config.ranges import Amount, Count, Range, settings_class
from nmtcore.config.registry import Registry


@settings_class
class FilterSettings:
    """Base of the settings of all filters."""


@settings_class
class EmptySettings(FilterSettings):
    """Drop pairs with a side that has no words."""


@settings_class
class LengthSettings(FilterSettings):
    """Drop pairs with a side of fewer than `least` or more than `most` words."""

    least: Amount = 1
    """Fewest words per side."""
    most: Count = 250
    """Most words per side."""

    def __post_init__(self) -> None:
        if self.most < self.least:
            raise ValueError(f"most {self.most} is below least {self.least}")


@settings_class
class RatioSettings(FilterSettings):
    """Drop pairs whose longer side has more than `most` times the words of the shorter."""

    most: Annotated[float, Range(least=1)] = 9.0
    """Highest ratio of the two lengths."""


@settings_class
class DuplicatesSettings(FilterSettings):
    """Keep the first of several equal pairs (the words of both sides are equal)."""


@settings_class
class HeldOutSettings(FilterSettings):
    """Drop pairs that also occur in dev, in the main test or in `splits` (the words of both sides are equal)."""

    splits: tuple[str, ...] | None = None
    """The splits to compare with; null: dev and the main test. A test that is not listed leaves train as it is: what it
    shares with train is counted, and named with its scores."""


@settings_class
class LangDetectSettings(FilterSettings):
    """Drop pairs with a side that is not in its language, as the papers do: by langdetect (a port of Google's)."""


FILTERS = Registry[FilterSettings](
    {
        "empty": (EmptySettings, ""),
        "length": (LengthSettings, ""),
        "ratio": (RatioSettings, ""),
        "duplicates": (DuplicatesSettings, ""),
        "held_out": (HeldOutSettings, ""),
        "langdetect": (LangDetectSettings, ""),
    },
    noun="filter",
    own_folder="filters",
    base=FilterSettings,
)
