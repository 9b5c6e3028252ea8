"""Settings of the corpus filters.

To add a filter: its settings here, a line in `FILTERS`, its code in `corpus/filters/{name}.py`.
"""

from typing import Annotated, Literal

from nmtcore.config.ranges import Amount, Count, Probability, Range, Seed, settings_class
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
    """Drop pairs that also occur in a development or test split (the words of both sides are equal)."""


@settings_class
class LangDetectSettings(FilterSettings):
    """Drop pairs with a side that is not in its language, as the papers do: by langdetect (a port of Google's)."""

    sides: tuple[Literal["source", "target"], ...] = ("source", "target")
    """Sides to check."""
    profiles: tuple[str, ...] | None = None
    """Languages to choose from (ISO 639-1); null: all 55, as in the papers. Fewer are faster and drop other pairs."""
    seed: Seed = 0
    """Seed of its random walk, set anew for every sentence, so that results do not depend on earlier sentences."""


@settings_class
class LinguaSettings(FilterSettings):
    """Drop pairs with a side that is not in its language, by lingua, which is faster and better than langdetect."""

    sides: tuple[Literal["source", "target"], ...] = ("source", "target")
    """Sides to check."""
    languages: tuple[str, ...] | None = None
    """Languages to choose from in addition to the data set's two (ISO 639-1); null: a dozen frequent ones."""
    least_confidence: Probability = 0.0
    """A sentence whose own language has at least this confidence stays, even if another language has more; 0: off."""


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
    own_folder="filters",
    base=FilterSettings,
)
