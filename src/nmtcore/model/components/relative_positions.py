"""A label for the distance between two tokens, in place of sinusoids (Shaw et al. 2018; pham2018, section 5.2).

Q query positions, S key positions.
"""

import torch
from torch import Tensor

from nmtcore.config.components.pair_labels import RelativePositionsSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.components.base import Heads, Labels, Stack
from nmtcore.model.components.pair_labels import PairLabels


class RelativePositions(PairLabels):
    """Label `maximum + j - i` for key j seen from query i; prefixes and `</s>` are tokens like others."""

    def __init__(
        self,
        settings: RelativePositionsSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: Labels | None = None,
    ) -> None:
        super().__init__(
            settings,
            name=name,
            model=model,
            labels=labels,
            count=2 * settings.maximum + (2 if settings.far == "label" else 1),
            stacks=("encoder", "decoder") if settings.decoder else ("encoder",),
        )

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
