"""The settings of every model component, and what planning must know of each without importing torch.

To add a component: its settings here, one line in `COMPONENTS`, its code in `model/components/{name}.py`, which
offers `build(settings, model_settings, labels, *, name) -> Component`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nmtcore.config.model import TransformerSettings
from nmtcore.config.typed import build_entry, plain, registered_name
from nmtcore.errors import UserError


@dataclass(frozen=True, kw_only=True)
class ComponentSettings:
    """What all components share."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The kinds of annotation that it reads, by side: {"source": ("dependencies",)}."""

    needs_at_inference: ClassVar[bool] = True
    """Whether translating new text reads those too, and not only training."""

    parses: ClassVar[bool] = False
    """Whether it gives a head for every source word beside the translation (then there is a `.uas`)."""

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Name the places that it takes for itself, such as "encoder.1.head.7"; two may not take the same."""
        return ()


@dataclass(frozen=True, kw_only=True)
class ParserHead(ComponentSettings):
    """An attention head of the encoder's layer `layer` (from 0) that is trained to point to heads (pham2018, ch. 4)."""

    needs_at_inference: ClassVar[bool] = False
    parses: ClassVar[bool] = True

    layer: int
    head: int = -1
    """Which head of the layer, from 0; negative counts from the end."""
    weight: float = 1.0
    """Of its loss beside the translation's."""

    def __post_init__(self) -> None:
        if self.layer < 0:
            raise ValueError("layer counts from 0 and cannot be negative")
        if self.weight < 0:
            raise ValueError("weight cannot be negative")

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim one head of one encoder layer; a layer or head that the model lacks is a `ValueError`."""
        if self.layer >= model.encoder_layers:
            raise ValueError(f"layer {self.layer} is not in an encoder of {model.encoder_layers} layers")
        if not -model.heads <= self.head < model.heads:
            raise ValueError(f"head {self.head} is not among {model.heads} heads")
        return (f"encoder.{self.layer}.head.{self.head % model.heads}",)


@dataclass(frozen=True, kw_only=True)
class DepParse(ParserHead):
    """`<ROOT>` before the source; each word points to its governor (pham2018, section 4.1)."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("dependencies",)}

    def claims(self, model: TransformerSettings) -> tuple[str, ...]:
        """Claim the head and the place before the source."""
        return (*super().claims(model), "source.prefix")


@dataclass(frozen=True, kw_only=True)
class DiagonalParse(ParserHead):
    """Each word points to the previous one, the first to itself: the control for `DepParse` (pham2018, section 6.3)."""


COMPONENTS: dict[str, type[ComponentSettings]] = {
    "depparse": DepParse,
    "diagonalparse": DiagonalParse,
}


def component_settings(entry: Mapping[str, Any], *, where: str) -> ComponentSettings:
    """Build the settings of one entry `{name: ..., key: value...}` of a system's `components`."""
    return build_entry(entry, COMPONENTS, key="name", what="component", where=where)


def component_name(settings: ComponentSettings) -> str:
    """Give the registered name of a component's settings."""
    return registered_name(settings, COMPONENTS)


def component_entry(settings: ComponentSettings) -> dict[str, Any]:
    """Write settings as the entry that `component_settings` reads."""
    return {"name": component_name(settings), **plain(settings)}


def check_composition(components: tuple[ComponentSettings, ...], model: TransformerSettings, *, where: str) -> None:
    """Raise a sentence when two components claim one place, or one claims what the model does not have."""
    owner: dict[str, str] = {}
    for settings in components:
        name = component_name(settings)
        try:
            claims = settings.claims(model)
        except ValueError as error:
            raise UserError(f"{where}: {name}: {error}.") from error
        for place in claims:
            if place in owner:
                raise UserError(f"{where}: {owner[place]} and {name} both claim {place}; only one can have it.")
            owner[place] = name
