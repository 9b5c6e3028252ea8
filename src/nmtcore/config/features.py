"""The features of words that components read, and the annotation that each feature is made from.

A data set's `syntax` names an annotator for each kind of annotation (`annotators.ANNOTATIONS`); a component
`needs` features. No feature has the name of an annotation.
To add a feature: a line in `FEATURES`, and its column in `features/syntax.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nmtcore.config.ranges import settings_class


@dataclass(frozen=True, kw_only=True)
class Feature:
    """Input of a model about the words of one side: columns with one value per word."""

    annotation: str
    """The kind of annotation that the feature is made from."""
    columns: tuple[str, ...]
    """The feature's columns in the feature file of the annotator."""
    labels: tuple[str, ...] = ()
    """The columns that hold label ids; each has a label vocabulary of the same name."""


FEATURES: dict[str, Feature] = {
    "trees": Feature(
        annotation="dependencies",
        columns=("governor", "deprel", "parent_position"),
        labels=("deprel",),
    ),
    "pos_tags": Feature(annotation="tags", columns=("upos", "xpos"), labels=("upos", "xpos")),
    "dg_a_tags": Feature(annotation="dependencies", columns=("dg_a",), labels=("dg_a",)),
    "dg_b_tags": Feature(annotation="dependencies", columns=("dg_b",), labels=("dg_b",)),
    "ccg_tags": Feature(annotation="ccg", columns=("ccg",), labels=("ccg",)),
    "random_tags": Feature(annotation="ccg", columns=("random",), labels=("random",)),
}

LABEL_COLUMNS = tuple(column for feature in FEATURES.values() for column in feature.labels)
"""The columns that hold label ids."""


@settings_class
class ReaderSettings:
    """Base of the settings of components and transforms, which read features."""

    ASSUMED: ClassVar[Mapping[str, str]] = {}
    """What the paper leaves open: settings or topics, and why they are so here; the page on assumptions has them."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The features that it reads, by side, in training and to translate: {"source": ("trees",)}.

    Like the following ones, a property if it depends on the settings.
    """

    has_second_loss: ClassVar[bool] = False
    """Whether the model learns anything beside translation."""

    predicted_tags: ClassVar[str | None] = None
    """The feature whose labels the model predicts for the target's words; None if it predicts none."""
