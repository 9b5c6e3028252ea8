"""The settings of every model component, and what planning must know of each without importing torch.

To add a component: its settings in a file here, one line in `COMPONENTS`, its code in `model/components/{name}.py`,
which offers `build(settings, model_settings, labels, *, name) -> Component`.
"""

from collections.abc import Mapping
from typing import Any

from nmtcore.config.components.base import ComponentSettings
from nmtcore.config.components.label_head import LabelHeadSettings
from nmtcore.config.components.pair_labels import RelativePositionsSettings, TreeDistanceSettings, TreeTraversalSettings
from nmtcore.config.components.parser_head import DepParseSettings, DiagonalParseSettings
from nmtcore.config.components.pascal import PascalSettings
from nmtcore.config.components.sennrich_haddow import SennrichHaddowSettings
from nmtcore.config.components.sisa import SisaSettings
from nmtcore.config.model import TransformerSettings
from nmtcore.config.typed import build_entry, plain, registered_name
from nmtcore.errors import UserError

COMPONENTS: dict[str, type[ComponentSettings]] = {
    "depparse": DepParseSettings,
    "diagonalparse": DiagonalParseSettings,
    "label_head": LabelHeadSettings,
    "pascal": PascalSettings,
    "sennrich_haddow": SennrichHaddowSettings,
    "sisa": SisaSettings,
    "relative_positions": RelativePositionsSettings,
    "tree_distance": TreeDistanceSettings,
    "tree_traversal": TreeTraversalSettings,
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
                counted = " Layers and heads count from 0." if ".head." in place else ""
                raise UserError(
                    f"{where}: {owner[place]} and {name} both claim {place}; only one can have it.{counted}"
                )
            owner[place] = name
