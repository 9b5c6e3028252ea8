"""The registry of the model's components, and checks of those that a system has.

To add a component: its settings in `config/components/settings.py`, its class in `model/components/`, beside its
relatives, and a line in `COMPONENTS`, which names both.
"""

from collections.abc import Mapping
from typing import Any

from nmtcore.config.components import settings
from nmtcore.config.components.base import ComponentSettings, Trees
from nmtcore.config.registry import Registry
from nmtcore.errors import UserError, joined_by_or

COMPONENTS = Registry[ComponentSettings](
    {
        "depparse": (settings.DepParseSettings, "parser_heads.DepParse"),
        "diagonalparse": (settings.DiagonalParseSettings, "parser_heads.DiagonalParse"),
        "head_selection": (settings.HeadSelectionSettings, "head_selection.HeadSelection"),
        "label_head": (settings.LabelHeadSettings, "label_inputs.LabelHead"),
        "multitask": (settings.MultitaskSettings, "target_tags.Multitask"),
        "pascal": (settings.PascalSettings, "pascal.Pascal"),
        "sennrich_haddow": (settings.SennrichHaddowSettings, "label_inputs.SennrichHaddow"),
        "sisa": (settings.SisaSettings, "parser_heads.Sisa"),
        "relative_positions": (settings.RelativePositionsSettings, "pair_labels.RelativePositions"),
        "tag_attention": (settings.TagAttentionSettings, "target_tags.TagAttention"),
        "tree_distance": (settings.TreeDistanceSettings, "pair_labels.TreeDistance"),
        "tree_head": (settings.TreeHeadSettings, "head_selection.TreeHead"),
        "tree_traversal": (settings.TreeTraversalSettings, "pair_labels.TreeTraversal"),
    },
    noun="component",
    key="kind",
    package="nmtcore.model.components",
    own_folder="components",
    base=ComponentSettings,
)

RESERVED_NAMES = ("translation", "attention_maps", "encoder", "cross")
"""Names that no component can have: those of the translation's loss, of the attention observer, and of the attention
weights that it records."""


def parser_of(components: Mapping[str, ComponentSettings]) -> str | None:
    """Return the name of the component that predicts a system's trees, the first that can; None if none can."""
    return next((name for name, settings in components.items() if settings.parses), None)


def check_trees(trees: Trees | None, components: Mapping[str, ComponentSettings], *, where: str) -> None:
    """Raise `UserError` if the trees of a system cannot be compared with what its key `trees` says."""
    parser = parser_of(components)
    if trees is None or (parser is not None and trees in components[parser].trees):
        return
    if parser is None:
        raise UserError(f"{where}: trees: no component of the system predicts trees: write `trees: null`.")
    raise UserError(
        f"{where}: trees: the trees of {parser} cannot be '{trees}', only {joined_by_or(components[parser].trees)}."
    )


def check_composition(components: Mapping[str, ComponentSettings], base: str, model: Any, *, where: str) -> None:
    """Raise a `UserError` if a component does not fit the base or the other components.

    Two components must not claim the same part of the model, and none may claim a part that the model lacks.
    """
    owner: dict[str, str] = {}
    for name, component in components.items():
        if base not in component.bases:
            raise UserError(
                f"{where}: {name} needs the base {joined_by_or(component.bases)}, but the system's is {base}."
            )
        try:
            claims = component.claims(model)
        except ValueError as error:
            raise UserError(f"{where}: {name}: {error}.") from error
        for part in claims:
            if part in owner:
                counted = " Layers and heads count from 0." if ".head." in part else ""
                raise UserError(f"{where}: {owner[part]} and {name} both claim {part}; only one can have it.{counted}")
            owner[part] = name
