"""Features of words, and the settings of components and transforms, which read them.

A data set's `syntax` names an annotator for each kind of annotation (`datasets.ANNOTATIONS`); a component or transform
`needs` features. No feature has the name of an annotation.
To add a feature: a line in `FEATURES`, and its column in `features/syntax.py`. Columns of annotations are features
without a line (`feature_named`).
To add a transform: its settings here, its class in `features/transforms/{kind}.py`, and both in `TRANSFORMS`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nmtcore.config.corpora import Side
from nmtcore.config.registry import Registry
from nmtcore.config.training import TransformerSettings
from nmtcore.config.typed import nearest, settings_class
from nmtcore.layout import COLUMN, NAME


@dataclass(frozen=True, kw_only=True)
class Feature:
    """Input of a model about the words of one side: columns with one value per word."""

    annotation: str
    """The kind of annotation that the feature is made from."""
    columns: tuple[str, ...]
    """The feature's columns in the feature file of the annotator."""
    labels: tuple[str, ...] = ()
    """The columns that hold label ids; each has a label vocabulary of the same name."""

    def file_source(self, annotator: str) -> str:
        """Return what its files are named after: its annotator or, if it is a stored column, ANNOTATOR.COLUMN."""
        return annotator if self in FEATURES.values() else f"{annotator}.{stored_column(self.columns[0])}"


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

WORD_COLUMNS = dict.fromkeys(("lemma", "upos", "xpos", "feats"), "tags") | {"deprel": "dependencies", "ccg": "ccg"}
"""The columns of annotations that hold a string per word, each with the kind of annotation that it comes with."""


def feature_named(name: str, *, where: str = "") -> Feature:
    """Return one of `FEATURES`, or a column: lemma, feats, feats.NAME, ANNOTATOR/COLUMN. Else raise a `ValueError`."""
    if name in FEATURES:
        return FEATURES[name]
    annotator, _, column = name.rpartition("/")
    if not re.fullmatch(COLUMN, column) or (annotator and not re.fullmatch(NAME, annotator)):
        raise ValueError(f"{where}unknown feature '{name}'. {nearest(name, [*FEATURES, *WORD_COLUMNS])}")
    return Feature(annotation=WORD_COLUMNS[column.partition(".")[0]], columns=(name,), labels=(name,))


def stored_column(name: str) -> str:
    """Return the name in files of a column that may be that of a certain annotator."""
    return name.rpartition("/")[2]


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


Trees = Literal["supervised", "chain", "induced"]
"""What the trees of a system are compared with.

supervised: the trees of the parser that the system learned from, and gold treebanks (attachment scores).
chain: the previous word.
induced: gold treebanks, as in grammar induction (`evaluation.induction`), and a parser's trees if there are any.
"""

SOURCE_TREES = {"source": ("trees",)}
"""What components need that read dependency trees of the source (`ComponentSettings.needs`)."""

LABEL_SYMBOLS = 2
"""Number of label ids after those of the vocabulary: `</s>`, prefix."""


@settings_class
class ComponentSettings(ReaderSettings):
    """Base of the settings of all components."""

    bases: ClassVar[tuple[str, ...]] = ("transformer",)
    """The base models that it fits."""

    needs_at_inference: ClassVar[bool] = True
    """Whether these features are also needed to translate new text, not only for training."""

    @property
    def reads_labels(self) -> bool:
        """Whether weights of the component belong to labels of these features, so that other labels do not fit."""
        return bool(self.needs)

    trees: ClassVar[tuple[Trees, ...]] = ()
    """What its trees can be compared with, the default first; () if it predicts no heads of source words."""

    neutral_at_first: ClassVar[bool] = False
    """Whether it can begin without changing translations, so that a model trained without it can go on with it.

    `Component.make_neutral` sees to that in a run that starts from such a model (`start_from`), while a run from
    scratch begins as ever. Its own loss, if it has one, counts from the first update. An imported model can go on with
    any component; one that is not neutral changes what it has learned, before the first update.
    """

    gates_output: ClassVar[bool] = False
    """Whether it has a gate in the decoder, whose norm can be measured (`gates/`); a property if that depends."""

    @property
    def parses(self) -> bool:
        """Whether the component predicts a head for every source word."""
        return bool(self.trees)

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Name the parts of the model that no other component may claim too, such as "encoder.1.head.7"."""
        return ()

    def parameter_count(self, model: Any) -> int:
        """Return the number of parameters that the component adds, for estimates of disk space; 0 if it is small."""
        return 0


def claim_head(model: TransformerSettings, *, layer: int, head: int) -> str:
    """Name one head of one encoder layer in the form of `claims`. Both count from 0, a negative head from the end.

    Raises a `ValueError` if the model lacks the layer or the head.
    """
    if not 0 <= layer < model.encoder_layers:
        raise ValueError(f"layer {layer} is not in an encoder of {model.encoder_layers} layers, which count from 0")
    if not -model.heads <= head < model.heads:
        raise ValueError(f"head {head} is not among {model.heads} heads, which count from 0 (from the end: -1)")
    return f"encoder.{layer}.head.{head % model.heads}"


@settings_class
class TransformSettings(ReaderSettings):
    """Base class of the settings of transforms."""

    linearised_parses_of: ClassVar[Literal["constituency"] | None] = None
    """The source annotation whose linearised parses it reads. The segmentation must be learned from them too."""

    without_syntax: ClassVar[Mapping[str, str]] = {}
    """The sides whose positions it changes, each with the reason why no component and no later transform of the system
    may read trees or tags of this side or predict its heads.

    A property if they depend on the settings.
    """


@settings_class
class ParsingTaskSettings(TransformSettings):
    """Use every source twice: once to be translated and once to be parsed (Currey and Heafield 2019).

    In the training and development sets, every source occurs between two `<TR>`, to be translated, and between two
    `<PA>`, to become its linearised parse; a source without a parse occurs once. The sentences of a scale count pairs,
    and only translations are scored. Needs constituency on the source side, `segmentation: {also: constituency}`, and
    no components that read the source's syntax or parse; a linearised parse, as a target, has no tags.
    """

    linearised_parses_of: ClassVar[Literal["constituency"]] = "constituency"
    has_second_loss: ClassVar[bool] = True
    without_syntax: ClassVar[Mapping[str, str]] = {"source": "it encloses sources in tags, which have no syntax"}


@settings_class
class InterleaveSettings(TransformSettings):
    """Put the tag of every word before its first subword, on one side (Aycock 2021, section 3).

    Tags are entries of the vocabulary that are not cut into subwords. They do not count towards length limits: a side
    with tags may be twice as long. Tags in translations are removed before subwords are joined. In a sentence that has
    tags, a word without one gets the tag `<unk>`; a sentence without tags stays as it is. Needs the annotation of these
    tags on this side, and no components that read syntax of this side or parse it.
    """

    side: Side
    """The side that gets tags."""
    tags: Literal["ccg_tags", "random_tags", "dg_a_tags", "dg_b_tags"]
    """CCG supertags, random tags (as many types as CCG has), or dependency supertags (DG-A, DG-B)."""

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """The tags."""
        return {self.side: (self.tags,)}

    @property
    def without_syntax(self) -> Mapping[str, str]:
        """The side that gets tags."""
        return {self.side: f"it puts tags among the subwords of the {self.side}, where components expect only words"}

    @property
    def predicted_tags(self) -> str | None:
        """The tags, if the targets get them."""
        return self.tags if self.side == "target" else None


TRANSFORMS = Registry[TransformSettings](
    {
        "parsing_task": (ParsingTaskSettings, "parsing_task.ParsingTask"),
        "interleave": (InterleaveSettings, "interleave.Interleave"),
    },
    noun="transform",
    package="nmtcore.features.transforms",
    key="kind",
)
