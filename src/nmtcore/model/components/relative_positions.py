"""A label for the distance between two tokens, in place of sinusoids (Shaw et al. 2018; pham2018, section 5.2).

Q query positions, S key positions.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from nmtcore.config.components.pair_labels import RelativePositionsSettings
from nmtcore.config.model import TransformerSettings
from nmtcore.model.components.base import Heads, Stack
from nmtcore.model.components.pair_labels import PairLabels


class RelativePositions(PairLabels):
    """Label `maximum + j - i` for key j seen from query i; prefixes and `</s>` are tokens like others."""

    def __init__(self, settings: RelativePositionsSettings, model: TransformerSettings, name: str) -> None:
        super().__init__(
            settings,
            model,
            name,
            labels=2 * settings.maximum + (2 if settings.far == "label" else 1),
            stacks=("encoder", "decoder") if settings.decoder else ("encoder",),
        )
        self.settings = settings

    def replaces_positions(self, stack: Stack) -> bool:
        """Leave the sinusoids out where the labels stand for them."""
        return stack in self.keys

    def pair_labels(self, heads: Heads, stack: Stack) -> Tensor:
        """Count from the queries' own positions: in decoding, the last query is the newest."""
        maximum, keys = self.settings.maximum, heads.keys_BHSK.size(2)
        places_S = torch.arange(keys, device=heads.keys_BHSK.device)
        distances_QS = places_S - places_S[keys - heads.queries_BHQK.size(2) :].unsqueeze(1)
        labels_QS = distances_QS.clamp(-maximum, maximum) + maximum
        if self.settings.far == "label":
            labels_QS = labels_QS.masked_fill(distances_QS.abs() > maximum, 2 * maximum + 1)
        return labels_QS.unsqueeze(0)


def build(
    settings: RelativePositionsSettings,
    model: TransformerSettings,
    labels: Mapping | None = None,
    *,
    name: str = "relative_positions",
) -> RelativePositions:
    """Make the component."""
    return RelativePositions(settings, model, name)
