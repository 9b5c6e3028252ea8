"""Settings of components that predict tags of the target's words (aycock2021)."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from nmtcore.config.components.base import LABEL_SYMBOLS, ComponentSettings
from nmtcore.config.features import FEATURES
from nmtcore.config.ranges import Count, Fraction, NonNegative, Positive, Range, settings_class


@settings_class
class TargetTagSettings(ComponentSettings):
    """Base of the settings of components that predict tags of the target's words."""

    bases: ClassVar[tuple[str, ...]] = ("transformer", "recurrent")

    tags: Literal["ccg_tags", "dg_a_tags", "dg_b_tags", "random_tags"] = "ccg_tags"
    """The tags: CCG supertags, dependency supertags of two sorts, or random ones, a control."""
    weight: NonNegative = 1.0
    """Factor of the tag loss, a mean over tagged tokens, in the first epoch; 0: tags are not learned."""
    decay: Annotated[float, Range(above=0, most=1)] = 0.65
    """What the factor of the tag loss is multiplied by after each epoch; 1: it stays the same."""
    least: Fraction = 0.1
    """The tag loss ends when the product of all multiplications by `decay` is no longer above this."""
    returns_below: Fraction | None = None
    """Tag accuracy on the development set below which a tag loss that has ended begins again: the rest of the epoch and
    all of the next one have the factor of the first epoch; null: never."""
    label_smoothing: Fraction = 0.0
    """Probability mass that label smoothing takes from the correct tag (the code of aycock2021: 0.1)."""
    keep_punctuation: bool = False
    """Whether punctuation keeps its CCG tag among random tags (true in the code of aycock2021)."""

    def __post_init__(self) -> None:
        if self.keep_punctuation and self.tags != "random_tags":
            raise ValueError("keep_punctuation concerns random_tags only")
        if self.returns_below is not None and not self.weight:
            raise ValueError("returns_below needs a weight above 0")

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """The features that the component reads: its tags, and CCG tags if those of punctuation are kept."""
        return {"target": (self.tags, "ccg_tags") if self.keep_punctuation else (self.tags,)}

    @property
    def has_second_loss(self) -> bool:
        """Whether tags are learned."""
        return self.weight > 0

    @property
    def predicted_tags(self) -> str | None:
        """The tags, unless they are not learned."""
        return self.tags if self.weight else None

    def tag_count(self, labels: Mapping[str, int]) -> int:
        """Return the number of tags, those of symbols included; a vocabulary that is not known yet counts as 0."""
        (column,) = FEATURES[self.tags].labels
        return labels.get(f"target.{column}", 0) + LABEL_SYMBOLS


@settings_class
class TagAttentionSettings(TargetTagSettings):
    """Attention of the decoder to embeddings of tags, before the output layer (aycock2021, section 3.2.1).

    Needs the chosen tags on the target side.
    """

    width: Count = 128
    """Width of the embeddings of tags."""
    choice: Literal["soft", "hard", "gumbel"] = "soft"
    """soft: the mean of all tags' embeddings, weighted by their probabilities. hard: the embedding of the likeliest
    tag. gumbel: in training, the embedding of a sampled tag (straight-through Gumbel-softmax); else like hard."""
    temperature: Positive = 1.0
    """gumbel: temperature of the softmax whose gradient is used."""

    def parameter_count(self, model: Any, labels: Mapping[str, int]) -> int:
        """Count two matrices and two embeddings of the tags."""
        return 2 * self.width * (model.width + self.tag_count(labels))


@settings_class
class MultitaskSettings(TargetTagSettings):
    """Prediction of tags from the decoder's states, only as a second loss (aycock2021, section 3.2.2).

    Needs the chosen tags on the target side.
    """

    hidden: Count = 256
    """Width of the hidden layer."""

    def parameter_count(self, model: Any, labels: Mapping[str, int]) -> int:
        """Count the hidden layer and the scores of the tags."""
        return self.hidden * (model.width + 1 + self.tag_count(labels))
