"""The kinds of syntax: what annotators give, and what features are made of it.

A data set's `syntax` names an annotator for each kind that annotators give; a component `needs` kinds of features.
To add a kind of feature: a line in `FEATURES`, and its column in `features/syntax.py`.
"""

from dataclasses import dataclass

ANNOTATIONS = ("dependencies", "tags", "ccg", "constituency")
"""What an annotator may give: heads with labels; UPOS and XPOS; CCG supertags; bracketed constituents."""


@dataclass(frozen=True, kw_only=True)
class Feature:
    """A kind of features, a value a word."""

    annotation: str
    """The kind of annotation that it is made of."""
    columns: tuple[str, ...]
    """Its columns in the feature file of that annotation's annotator."""
    labels: tuple[str, ...] = ()
    """Those of the columns that are ids of labels."""


FEATURES: dict[str, Feature] = {
    "dependencies": Feature(
        annotation="dependencies",
        columns=("governor", "deprel", "parent_position", "parent_first", "depth"),
        labels=("deprel",),
    ),
    "tags": Feature(annotation="tags", columns=("upos", "xpos"), labels=("upos", "xpos")),
    "dg_a": Feature(annotation="dependencies", columns=("dg_a",), labels=("dg_a",)),
    "dg_b": Feature(annotation="dependencies", columns=("dg_b",), labels=("dg_b",)),
    "ccg": Feature(annotation="ccg", columns=("ccg",), labels=("ccg",)),
    "random": Feature(annotation="ccg", columns=("random",), labels=("random",)),
}
