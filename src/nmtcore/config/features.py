"""The features of words that components read, and the kind of annotation that each is made of.

A data set's `syntax` names an annotator for each kind of annotation (`annotators.ANNOTATIONS`); a component
`needs` features. The two have different names.
To add a feature: a line in `FEATURES`, and its column in `features/syntax.py`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Feature:
    """What models read of the words of one side: a value per word in each of its columns."""

    annotation: str
    """The kind of annotation that it is made of."""
    columns: tuple[str, ...]
    """Its columns in the feature file of that annotation's annotator."""
    labels: tuple[str, ...] = ()
    """Those of the columns that hold ids of labels; each has a label vocabulary of the same name."""


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
"""The columns that hold ids of labels."""
