"""Labels for the distance between two tokens, instead of sinusoids (Shaw et al. 2018; pham2018, section 5.2)."""

import torch
from torch import Tensor

from nmtcore.config.components.pair_labels import RelativePositionsSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.components.base import AttentionInputs, LabelVocabularies, Stack
from nmtcore.model.components.pair_labels import PairLabels


class RelativePositions(PairLabels):
    r"""Labels the distance from query i to key j; prefixes and `</s>` are tokens like all others.

    With the largest distance m (`maximum`), pairs further apart have a label of their own (pham2018, section 5.2) or,
    with `far: clip`, that of the largest distance (Shaw et al. 2018, section 3.2):

    .. math::

        \mathrm{label}(i, j) = \begin{cases}
            m + j - i & \text{if } |j - i| \le m \\
            2m + 1 & \text{otherwise}
        \end{cases}
    """

    def __init__(
        self,
        settings: RelativePositionsSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: LabelVocabularies | None = None,
    ) -> None:
        super().__init__(
            settings,
            name=name,
            model=model,
            labels=labels,
            label_count=2 * settings.maximum + (2 if settings.far == "label" else 1),
            stacks=("encoder", "decoder") if settings.decoder else ("encoder",),
        )

    def replaces_positions(self, stack: Stack) -> bool:
        """Replace the sinusoids of every stack that has labels."""
        return stack in self.keys

    def pair_labels(self, inputs: AttentionInputs, stack: Stack) -> Tensor:
        """Compute distances between positions; in decoding, the last query is the newest position."""
        maximum, keys = self.settings.maximum, inputs.keys_BHKE.size(2)
        positions_K = torch.arange(keys, device=inputs.keys_BHKE.device)
        positions_Q1 = positions_K[keys - inputs.queries_BHQE.size(2) :].unsqueeze(1)
        distances_QK = positions_K - positions_Q1
        labels_QK = distances_QK.clamp(-maximum, maximum) + maximum
        if self.settings.far == "label":
            labels_QK = labels_QK.masked_fill(distances_QK.abs() > maximum, 2 * maximum + 1)
        return labels_QK.unsqueeze(0)
