"""The settings of every model component, and what planning must know of each without importing torch.

To add a component: its settings in a file here (`PascalSettings`), one line in `COMPONENTS`, its code in
`model/components/{kind}.py`, in a class that is called like the settings (`Pascal`).
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
from nmtcore.config.registry import Registry
from nmtcore.errors import UserError

COMPONENTS = Registry[ComponentSettings](
    {
        "depparse": DepParseSettings,
        "diagonalparse": DiagonalParseSettings,
        "label_head": LabelHeadSettings,
        "pascal": PascalSettings,
        "sennrich_haddow": SennrichHaddowSettings,
        "sisa": SisaSettings,
        "relative_positions": RelativePositionsSettings,
        "tree_distance": TreeDistanceSettings,
        "tree_traversal": TreeTraversalSettings,
    },
    noun="component",
    key="kind",
    package="nmtcore.model.components",
)


TAKEN = ("translation", "attention_maps")
"""What no component can be called: names of the translation's own loss and of the observer of attention."""


def component_settings(name: str, entry: Mapping[str, Any], *, where: str) -> ComponentSettings:
    """Build the settings of a system's component `name: {kind: ..., key: value...}`; without a kind, it is the name."""
    return COMPONENTS.build_named(name, entry, where=f"{where}: components")


def check_composition(components: Mapping[str, ComponentSettings], model: TransformerSettings, *, where: str) -> None:
    """Raise a sentence when two components claim one place, or one claims what the model does not have."""
    owner: dict[str, str] = {}
    for name, settings in components.items():
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
