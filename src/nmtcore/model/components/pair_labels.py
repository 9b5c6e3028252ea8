"""Attention with a learned vector for the label of each pair of tokens (Shaw et al. 2018; pham2018, section 3.1).

Labels are distances between tokens (`RelativePositions`), or come from the source's dependency trees (`TreeLabels`):
they are computed for a whole batch at once. The artificial root joins all trees of a sentence: roots are siblings, one
edge below it.

Shapes: B sentences, D width, E head width, H heads, K keys, L labels, Q queries, S source, U nodes, W words.
"""

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components import (
    PairLabelsSettings,
    RelativePositionsSettings,
    TreeLabelsSettings,
    TreeTraversalSettings,
)
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import BatchArrays
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Build, Component, Context, Stack
from nmtcore.model.losses import at_least_fp32
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, NO_GOVERNOR


class PairLabels(Component[Tensor]):
    r"""One table of vectors t per layer, shared by its heads. Subclasses compute the label of every pair of tokens.

    The label's vector is added to the key (Shaw et al. 2018, equation 4; pham2018, equations 3.2 and 3.3), for several
    such components the sum of their vectors:

    .. math::

        e_{ij} = \frac{q_i \cdot (k_j + t_{\mathrm{label}(i, j)})}{\sqrt{E}}

    Labels 0 to `settings.label_count` - 1 have learned vectors. The vector of label `settings.label_count` is always
    zero: it leaves the score of a pair unchanged.

    The queries are multiplied by the whole table of vectors, and the products are selected by label; so no vector is
    stored per pair (the aim of Shaw et al., section 3.3).
    """

    settings: PairLabelsSettings
    stacks: tuple[Stack, ...] = ("encoder",)
    """The stacks whose self-attention has labels."""

    def __init__(self, settings: PairLabelsSettings, build: Build) -> None:
        super().__init__(settings, build)
        layers = {"encoder": build.model.encoder_layers, "decoder": build.model.decoder_layers}
        count, width = settings.label_count, build.model.width // build.model.heads
        self.keys = nn.ModuleDict(
            {stack: nn.ModuleList(nn.Embedding(count, width) for _ in range(layers[stack])) for stack in self.stacks}
        )

    def pair_labels(self, inputs: AttentionInputs) -> Tensor:
        """Return the labels, int64: (B, Q, K), or (1, Q, K) if all sentences have the same."""
        raise NotImplementedError

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Add to the scores."""
        return AttentionHooks(bias=partial(self._bias, self.keys[stack][layer])) if stack in self.stacks else None

    def _bias(self, table: nn.Embedding, inputs: AttentionInputs) -> Tensor:
        queries_BHQE = inputs.queries_BHQE * inputs.queries_BHQE.size(-1) ** -0.5
        table_LE = F.pad(table.weight, (0, 0, 0, 1))  # with the zero vector of the last label
        scores_BHQL = at_least_fp32(queries_BHQE @ table_LE.mT)  # its gradient sums over many keys
        labels_B1QK = self.pair_labels(inputs).unsqueeze(1)
        return scores_BHQL.gather(-1, labels_B1QK.expand(*scores_BHQL.shape[:2], -1, -1))


class RelativePositions(PairLabels):
    r"""Labels for the distance between two tokens, instead of sinusoids (Shaw et al. 2018; pham2018, section 5.2).

    The distance is that from query i to key j; prefixes and `</s>` are tokens like all others.

    With the largest distance m (`maximum`), pairs further apart have a label of their own (pham2018, section 5.2):

    .. math::

        \mathrm{label}(i, j) = \begin{cases}
            m + j - i & \text{if } |j - i| \le m \\
            2m + 1 & \text{otherwise}
        \end{cases}
    """

    settings: RelativePositionsSettings
    stacks = ("encoder", "decoder")

    def replaces_positions(self, stack: Stack) -> bool:
        """Replace the sinusoids."""
        return True

    def pair_labels(self, inputs: AttentionInputs) -> Tensor:
        """Compute distances between positions; in decoding, the last query is the newest position."""
        maximum, keys = self.settings.maximum, inputs.keys_BHKE.size(2)
        positions_K = torch.arange(keys, device=inputs.keys_BHKE.device)
        positions_Q1 = positions_K[keys - inputs.queries_BHQE.size(2) :].unsqueeze(1)
        distances_QK = positions_K - positions_Q1
        labels_QK = (distances_QK + maximum).masked_fill(distances_QK.abs() > maximum, 2 * maximum + 1)
        return labels_QK.unsqueeze(0)


@torch.no_grad()
def tree_paths(governor_BW: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute the shortest path from each word i to each word j, given their governors (`syntax.trees`).

    It leads up to their lowest common ancestor, then down. Returns the numbers of edges up and down (B, W, W; int64);
    whether j, or an ancestor of j, is a sibling of i and to its left (B, W, W); and whether a word's governors lead to
    a root (B, W): other words have no paths.

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
    return up_BWW.long(), down_BWW.long(), left_BWW, rooted_BW


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

    settings: TreeLabelsSettings

    def replaces_positions(self, stack: Stack) -> bool:
        """Replace the encoder's sinusoids if the settings say so."""
        return stack == "encoder" and self.settings.replaces_positions

    def make_neutral(self) -> None:
        """Start with vectors of zeros."""
        for table in self.parameters():
            nn.init.zeros_(table)

    def path_labels(self, up_BWW: Tensor, down_BWW: Tensor, left_BWW: Tensor) -> Tensor:
        """Return the label of each path of `tree_paths`, int64 (B, W, W); those of words without one are ignored."""
        raise NotImplementedError

    def add_to_batch(self, arrays: BatchArrays) -> None:
        """Add each word's governor."""
        governor_BW = arrays.examples.features["governor"].padded(fill=NO_GOVERNOR)
        arrays.extra[f"{self.name}.governor"] = governor_BW.astype(np.int64)

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Compute the labels, but change nothing: layers would be compiled anew for each number of words."""
        self.set_note(context, self.token_labels(context.extra[f"{self.name}.governor"], context.words_BS))
        return embedded_BSD

    def pair_labels(self, inputs: AttentionInputs) -> Tensor:
        """Return the labels of the batch."""
        return self.note(inputs.context)

    @torch.no_grad()
    def token_labels(self, governor_BW: Tensor, word_BS: Tensor) -> Tensor:
        """Label all pairs of tokens, given each word's governor and each token's word: (B, S, S)."""
        *paths, rooted_BW = tree_paths(governor_BW)
        count = self.settings.label_count
        labels_BUU = F.pad(self.path_labels(*paths), (0, 1, 0, 1), value=count - 1)
        # Tokens outside words have their own label only in sentences with a tree.
        rooted_BU = torch.cat([rooted_BW, rooted_BW.any(1, keepdim=True)], dim=1)
        labels_BUU = labels_BUU.masked_fill(~(rooted_BU.unsqueeze(2) & rooted_BU.unsqueeze(1)), count)
        word_BS = word_BS.masked_fill(word_BS == NO_WORD, governor_BW.size(1))
        pairs_BSS = word_BS.unsqueeze(2) * rooted_BU.size(1) + word_BS.unsqueeze(1)
        return labels_BUU.flatten(1).gather(1, pairs_BSS.flatten(1)).view_as(pairs_BSS)


class TreeDistance(TreeLabels):
    r"""Labels for the number of edges between two words in the source's tree (pham2018, section 3.1).

    All longer paths have one label.

    With the path's length d and the longest one m (`maximum`; pham2018, section 3.1.2):

    .. math::

        \mathrm{label}(i, j) = \min(d(i, j), m + 1)
    """

    def path_labels(self, up_BWW: Tensor, down_BWW: Tensor, left_BWW: Tensor) -> Tensor:
        """Label each path with its number of edges."""
        return (up_BWW + down_BWW).clamp(max=self.settings.maximum + 1)


SELF, FAR = "self", "far"


def traversals(maximum: int) -> tuple[str, ...]:
    """List the labels of paths of at most `maximum` steps: "self", `U*D*`, `LD*`, `RD*`, "far".

    U and D are steps up and down the tree, L and R steps to a sibling on the left and on the right. A step to a sibling
    replaces one step up and one down, so no path begins with `UD`.
    """
    straight = [
        "U" * up + "D" * (steps - up)
        for steps in range(1, maximum + 1)
        for up in range(steps, -1, -1)
        if up != 1 or steps == 1
    ]
    return (SELF, *straight, *(side + "D" * down for side in "LR" for down in range(maximum)), FAR)


class TreeTraversal(TreeLabels):
    r"""Labels for the path between two words through the source's tree (pham2018, section 3.1).

    A path is a sequence of steps: up, down, to a sibling on the left or right.

    A path first goes up a times and then down b times; one up and then down is a step to a sibling instead (pham2018,
    section 3.1.3). Labels of more steps than m (`maximum`) are "far", and that of a word and itself is "self":

    .. math::

        \mathrm{label}(i, j) = \begin{cases}
            \mathrm{L D}^{b-1} & \text{if } a = 1, b \ge 1 \text{ and the sibling is on the left of } i \\
            \mathrm{R D}^{b-1} & \text{if } a = 1, b \ge 1 \text{ and it is on the right} \\
            \mathrm{U}^a \mathrm{D}^b & \text{otherwise}
        \end{cases}

    The labels of `traversals` are looked up by a path's steps up and down and by the side of the sibling.
    """

    def __init__(self, settings: TreeTraversalSettings, build: Build) -> None:
        super().__init__(settings, build)
        label_ids = {label: i for i, label in enumerate(traversals(settings.maximum))}

        def label_id(left: int, up: int, down: int) -> int:
            path = "RL"[left] + "D" * (down - 1) if up == 1 and down else "U" * up + "D" * down
            return label_ids.get(path or SELF, label_ids[FAR])

        # A step to a sibling stands for two edges, so a path with a label can have `maximum + 1` edges.
        self.limit = settings.maximum + 1
        edges = range(self.limit + 1)
        table = [[[label_id(left, up, down) for down in edges] for up in edges] for left in range(2)]
        self.register_buffer("label_table", torch.tensor(table), persistent=False)

    def path_labels(self, up_BWW: Tensor, down_BWW: Tensor, left_BWW: Tensor) -> Tensor:
        """Look up the label of each path."""
        return self.label_table[left_BWW.long(), up_BWW.clamp(0, self.limit), down_BWW.clamp(0, self.limit)]
