"""The settings of every transform of examples, and the facts that planning needs without importing numpy.

To add a transform, put its settings here, its class into `features/transforms/{kind}.py`, and both into `TRANSFORMS`.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

from nmtcore.config.corpora import Side
from nmtcore.config.features import ReaderSettings
from nmtcore.config.ranges import settings_class
from nmtcore.config.registry import Registry


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
