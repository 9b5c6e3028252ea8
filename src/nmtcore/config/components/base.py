"""What the settings of all components share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nmtcore.config.transformer import TransformerSettings


@dataclass(frozen=True, kw_only=True)
class ComponentSettings:
    """What all components share."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The features that it reads (`config.features`), by side: {"source": ("trees",)}.

    A property, where the settings decide.
    """

    needs_at_inference: ClassVar[bool] = True
    """Whether translating new text reads those too, and not only training."""

    parses: ClassVar[bool] = False
    """Whether it gives a head for every source word beside the translation (then there is a `.uas`)."""

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Name the places that it takes for itself, such as "encoder.1.head.7"; two may not take the same."""
        return ()


def claim_head(model: TransformerSettings, *, layer: int, head: int) -> str:
    """Name one head of one encoder layer (from 0; a negative head counts from the end) as `claims` does.

    A layer or a head that the model lacks is a `ValueError`.
    """
    if not 0 <= layer < model.encoder_layers:
        raise ValueError(f"layer {layer} is not in an encoder of {model.encoder_layers} layers, which count from 0")
    if not -model.heads <= head < model.heads:
        raise ValueError(f"head {head} is not among {model.heads} heads, which count from 0 (from the end: -1)")
    return f"encoder.{layer}.head.{head % model.heads}"
