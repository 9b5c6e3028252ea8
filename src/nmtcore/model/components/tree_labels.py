"""Labels of pairs of tokens that are read off the source's dependency trees, a whole batch at a time.

All trees of a sentence hang from the artificial root, which joins them: roots are siblings, one step below it.

B batch, W words, S source length, N words and two nodes more: the artificial root, and one for words that have no
place in a tree.
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from nmtcore.config.components.pair_labels import TreeLabelsSettings
from nmtcore.config.model import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.base import Heads, Labels, Stack
from nmtcore.model.components.pair_labels import PairLabels
from nmtcore.model.pooling import NO_WORD, word_of_column
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, NO_GOVERNOR


class Paths(NamedTuple):
    """The shortest path from each word i to each word j: first up, then down."""

    up_BWW: Tensor
    down_BWW: Tensor
    left_BWW: Tensor
    """Whether a sibling of i to its left is j or stands above j."""
    known_BW: Tensor
    """Words whose governors lead to a root; of the others there are no paths."""


@torch.no_grad()
def tree_paths(governor_BW: Tensor) -> Paths:
    """Find the paths between all words, from their governors (`syntax.trees`): int64, int64, bool, bool.

    Words have as many common ancestors (themselves included) as the last of them is steps below the artificial root.
    """
    words = governor_BW.size(1)
    root, nowhere = words, words + 1
    governor_BW = governor_BW.masked_fill(governor_BW == GOVERNOR_OF_ROOT, root)
    governor_BW = governor_BW.masked_fill(governor_BW == NO_GOVERNOR, nowhere)
    with torch.autocast(governor_BW.device.type, enabled=False):
        above_BWW, known_BW = _ancestors(governor_BW)
        common_BWW = above_BWW @ above_BWW.mT
        depth_BW = above_BWW.sum(-1)
        siblings_BWW = (governor_BW.unsqueeze(2) == governor_BW.unsqueeze(1)).float().tril(-1)
        left_BWW = (siblings_BWW @ above_BWW.mT) > 0
    up_BWW, down_BWW = depth_BW.unsqueeze(2) - common_BWW, depth_BW.unsqueeze(1) - common_BWW
    return Paths(up_BWW.long(), down_BWW.long(), left_BWW, known_BW)


def _ancestors(governor_BW: Tensor) -> tuple[Tensor, Tensor]:
    """Say with 0 and 1 (fp32) which words j are word i or stand above it, and which words reach the artificial root.

    `governor_BW` names the artificial root W, and the end of all that leads nowhere W + 1. Each round looks twice as
    far up as the last.
    """
    batch, words = governor_BW.shape
    ends_B2 = torch.arange(words, words + 2, device=governor_BW.device).expand(batch, 2)
    jump_BN = torch.cat([governor_BW, ends_B2], dim=1)
    above_BNW = torch.eye(words + 2, words, dtype=torch.bool, device=governor_BW.device).expand(batch, -1, -1)
    for _ in range((words - 1).bit_length() if words else 0):
        above_BNW = above_BNW | above_BNW.gather(1, jump_BN.unsqueeze(2).expand(-1, -1, words))
        jump_BN = jump_BN.gather(1, jump_BN)
    return above_BNW[:, :words].float(), jump_BN[:, :words] == words


class TreeLabels(PairLabels):
    """Labels of words, laid on their pieces; subclasses make `path_labels` of them from the paths.

    The last label with a vector is that of pairs with a token that is no word: `</s>`, and `<ROOT>` where another
    component puts one. Pairs with a word that has no place in a tree, and all of a sentence without annotation, have
    the label whose vector is zero.
    """

    def __init__(
        self,
        settings: TreeLabelsSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: Labels | None,
        path_labels: int,
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels, count=path_labels + 1)
        self.outside, self.none = path_labels, path_labels + 1

    def replaces_positions(self, stack: Stack) -> bool:
        """Leave the encoder's sinusoids out, if the settings say so."""
        return stack == "encoder" and self.settings.replaces_positions

    def path_labels(self, paths: Paths) -> Tensor:
        """Give each path its label, int64 (B, W, W); what stands where words are not known is never used."""
        raise NotImplementedError

    def on_arrays(self, arrays: Arrays, examples: Examples) -> None:
        """Put each word's governor, and each token's word."""
        governors = examples.source.features.get("governor")
        if governors is None:
            raise ValueError(f"{self.name} reads dependency trees, but the examples came without governors")
        governor_BW = governors.padded(fill=NO_GOVERNOR, width=arrays.first_BW.shape[1])
        arrays.extra[f"{self.name}.governor"] = governor_BW.astype(np.int64)
        arrays.extra[f"{self.name}.word"] = word_of_column(arrays)

    def pair_labels(self, heads: Heads, stack: Stack) -> Tensor:
        """Label the words' pairs, then their pieces'."""
        extra = heads.context.extra
        return self.token_labels(extra[f"{self.name}.governor"], extra[f"{self.name}.word"])

    @torch.no_grad()
    def token_labels(self, governor_BW: Tensor, word_BS: Tensor) -> Tensor:
        """Label all pairs of tokens, (B, S, S), from each word's governor and each token's word."""
        paths = tree_paths(governor_BW)
        labels_BNN = F.pad(self.path_labels(paths), (0, 1, 0, 1), value=self.outside)
        # A token that is no word has a label of its own only where there is a tree.
        known_BN = torch.cat([paths.known_BW, paths.known_BW.any(1, keepdim=True)], dim=1)
        labels_BNN = labels_BNN.masked_fill(~(known_BN.unsqueeze(2) & known_BN.unsqueeze(1)), self.none)
        word_BS = word_BS.masked_fill(word_BS == NO_WORD, governor_BW.size(1))
        pairs_BSS = word_BS.unsqueeze(2) * known_BN.size(1) + word_BS.unsqueeze(1)
        return labels_BNN.flatten(1).gather(1, pairs_BSS.flatten(1)).view_as(pairs_BSS)
