"""Base class of the settings of all components."""

from typing import Any, ClassVar, Literal

from nmtcore.config.bases import TransformerSettings
from nmtcore.config.features import ReaderSettings
from nmtcore.config.ranges import settings_class

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
