"""Labels of pairs of tokens, computed from the source's dependency trees for a whole batch at once.

The artificial root joins all trees of a sentence: roots are siblings, one edge below it.
"""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from nmtcore.config.components.pair_labels import TreeLabelsSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import BatchArrays
from nmtcore.model.components.base import Context, LabelVocabularies, Stack
from nmtcore.model.components.pair_labels import PairLabels, labels_note
from nmtcore.model.pooling import NO_WORD, word_of_column
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, NO_GOVERNOR


class Paths(NamedTuple):
    """The shortest path from each word i to each word j: up to their lowest common ancestor, then down."""

    up_BWW: Tensor
    """Number of edges up."""
    down_BWW: Tensor
    """Number of edges down."""
    left_BWW: Tensor
    """Whether j, or an ancestor of j, is a sibling of i and to its left."""
    rooted_BW: Tensor
    """Whether a word's governors lead to a root. Other words have no paths."""


@torch.no_grad()
def tree_paths(governor_BW: Tensor) -> Paths:
    """Compute the paths between all words from their governors (`syntax.trees`): int64, int64, bool, bool.

    If every word counts as its own ancestor, the number of common ancestors of two words is the depth of the lowest
    below the artificial root.
    """
    words = governor_BW.size(1)
    root, nowhere = words, words + 1
    governor_BW = governor_BW.masked_fill(governor_BW == GOVERNOR_OF_ROOT, root)
    governor_BW = governor_BW.masked_fill(governor_BW == NO_GOVERNOR, nowhere)
    with torch.autocast(governor_BW.device.type, enabled=False):
        ancestors_BWW, rooted_BW = _ancestors(governor_BW)
        common_BWW = ancestors_BWW @ ancestors_BWW.mT
        depth_BW = ancestors_BWW.sum(-1)
        siblings_BWW = (governor_BW.unsqueeze(2) == governor_BW.unsqueeze(1)).float().tril(-1)
        left_BWW = (siblings_BWW @ ancestors_BWW.mT) > 0
    up_BWW, down_BWW = depth_BW.unsqueeze(2) - common_BWW, depth_BW.unsqueeze(1) - common_BWW
    return Paths(up_BWW.long(), down_BWW.long(), left_BWW, rooted_BW)


def _ancestors(governor_BW: Tensor) -> tuple[Tensor, Tensor]:
    """Return as 0 or 1 (fp32) whether word j is an ancestor of word i or i itself, and whether i leads to the root.

    In `governor_BW` the artificial root is node W, and node W + 1 represents a missing governor. Each iteration doubles
    the searched distance.
    """
    batch, words = governor_BW.shape
    ends_B2 = torch.arange(words, words + 2, device=governor_BW.device).expand(batch, 2)
    ancestor_BU = torch.cat([governor_BW, ends_B2], dim=1)
    ancestors_BUW = torch.eye(words + 2, words, dtype=torch.bool, device=governor_BW.device).expand(batch, -1, -1)
    for _ in range((words - 1).bit_length() if words else 0):
        ancestors_BUW = ancestors_BUW | ancestors_BUW.gather(1, ancestor_BU.unsqueeze(2).expand(-1, -1, words))
        ancestor_BU = ancestor_BU.gather(1, ancestor_BU)
    return ancestors_BUW[:, :words].float(), ancestor_BU[:, :words] == words


class TreeLabels(PairLabels):
    """Labels of pairs of words, copied to their subwords; subclasses compute `path_labels` from the paths.

    The last label with a learned vector belongs to pairs with a token outside words: `</s>`, or `<ROOT>` if another
    component adds it. Pairs with a word that is not in a tree, and all pairs of a sentence without annotation, have the
    label whose vector is zero.
    """

    def __init__(
        self,
        settings: TreeLabelsSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: LabelVocabularies | None,
        path_label_count: int,
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels, label_count=path_label_count + 1)
        self.outside_label, self.zero_label = path_label_count, path_label_count + 1

    def replaces_positions(self, stack: Stack) -> bool:
        """Replace the encoder's sinusoids if the settings say so."""
        return stack == "encoder" and self.settings.replaces_positions

    def path_labels(self, paths: Paths) -> Tensor:
        """Return the label of each path, int64 (B, W, W); values of words without a path are ignored."""
        raise NotImplementedError

    def add_to_batch(self, arrays: BatchArrays, examples: Examples) -> None:
        """Add each word's governor, and each token's word."""
        governors = examples.source.features.get("governor")
        if governors is None:
            raise ValueError(f"{self.name} reads dependency trees, but the examples have no governors")
        governor_BW = governors.padded(fill=NO_GOVERNOR, width=arrays.source.first_subword_BW.shape[1])
        arrays.extra[f"{self.name}.governor"] = governor_BW.astype(np.int64)
        arrays.extra[f"{self.name}.word"] = word_of_column(arrays.source)

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Compute the labels, but change nothing: layers would be compiled anew for each number of words."""
        governor_BW, word_BS = (context.extra[f"{self.name}.{key}"] for key in ("governor", "word"))
        context.notes[labels_note(self.name, "encoder")] = self.token_labels(governor_BW, word_BS)
        return embedded_BSD

    @torch.no_grad()
    def token_labels(self, governor_BW: Tensor, word_BS: Tensor) -> Tensor:
        """Label all pairs of tokens, given each word's governor and each token's word: (B, S, S)."""
        paths = tree_paths(governor_BW)
        labels_BUU = F.pad(self.path_labels(paths), (0, 1, 0, 1), value=self.outside_label)
        # Tokens outside words have their own label only in sentences with a tree.
        rooted_BU = torch.cat([paths.rooted_BW, paths.rooted_BW.any(1, keepdim=True)], dim=1)
        labels_BUU = labels_BUU.masked_fill(~(rooted_BU.unsqueeze(2) & rooted_BU.unsqueeze(1)), self.zero_label)
        word_BS = word_BS.masked_fill(word_BS == NO_WORD, governor_BW.size(1))
        pairs_BSS = word_BS.unsqueeze(2) * rooted_BU.size(1) + word_BS.unsqueeze(1)
        return labels_BUU.flatten(1).gather(1, pairs_BSS.flatten(1)).view_as(pairs_BSS)
