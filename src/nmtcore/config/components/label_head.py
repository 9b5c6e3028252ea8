"""Settings of the head whose queries and keys are made from labels (pham2018, section 3.2)."""

from collections.abc import Mapping
from typing import Literal

from nmtcore.config.components.base import LABEL_SYMBOLS, ComponentSettings, claim_head
from nmtcore.config.ranges import HeadIndex, Index, settings_class
from nmtcore.config.transformer import TransformerSettings


@settings_class
class LabelHeadSettings(ComponentSettings):
    """An encoder head whose queries and keys are made from labels, and its values from the tokens.

    Needs tags on the source side, or dependencies with `labels: deprel`.
    """

    labels: Literal["pos", "upos", "xpos", "deprel"] = "pos"
    """Labels of the words; pos: XPOS (Czech: the whole positional tag) if the training data have any, else UPOS."""
    layer: Index = 0
    """Encoder layer, counted from 0."""
    head: HeadIndex = -1
    """Head of the layer, counted from 0; a negative one counts from the end."""

    @property
    def needs(self) -> Mapping[str, tuple[str, ...]]:
        """Trees for dependency labels, tags for the other labels."""
        return {"source": ("trees" if self.labels == "deprel" else "pos_tags",)}

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the head; raise a `ValueError` if the model lacks it."""
        return (claim_head(model, layer=self.layer, head=self.head),)

    def parameter_count(self, model: TransformerSettings, labels: Mapping[str, int]) -> int:
        """Count the embedding of the labels, and the matrices and biases of queries and keys."""
        columns = ("xpos", "upos") if self.labels == "pos" else (self.labels,)
        count = next((labels[f"source.{column}"] for column in columns if f"source.{column}" in labels), 0)
        head = (model.width + 1) * (model.width // model.heads)
        return (count + LABEL_SYMBOLS) * model.width + 2 * head
