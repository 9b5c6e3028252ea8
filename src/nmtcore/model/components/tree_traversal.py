"""Labels for the path from one word to another through the source's dependency tree (pham2018, section 3.1)."""

import torch
from torch import Tensor

from nmtcore.config.components.pair_labels import TreeTraversalSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.components.base import LabelVocabularies
from nmtcore.model.components.tree_labels import Paths, TreeLabels

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
    r"""Labels a pair of words with the steps of the path between them: up, down, to a sibling on the left or right.

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

    def __init__(
        self,
        settings: TreeTraversalSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: LabelVocabularies | None = None,
    ) -> None:
        names = traversals(settings.maximum)
        super().__init__(settings, name=name, model=model, labels=labels, path_label_count=len(names))
        # One step up and `down` steps down are written as a step to a sibling and `down - 1` steps down. So a path with
        # a label can have `maximum + 1` edges.
        limit = settings.maximum + 1
        label_ids = {label: i for i, label in enumerate(names)}
        table = torch.full((2, limit + 1, limit + 1), label_ids[FAR])
        for left, side in enumerate("RL"):
            for up in range(limit + 1):
                for down in range(limit + 1):
                    path = side + "D" * (down - 1) if up == 1 and down else "U" * up + "D" * down
                    table[left, up, down] = label_ids.get(path or SELF, label_ids[FAR])
        self.register_buffer("label_table", table.flatten(), persistent=False)
        self.limit = limit

    def path_labels(self, paths: Paths) -> Tensor:
        """Look up the label of each path."""
        up_BWW, down_BWW = paths.up_BWW.clamp(0, self.limit), paths.down_BWW.clamp(0, self.limit)
        cells_BWW = (paths.left_BWW * (self.limit + 1) + up_BWW) * (self.limit + 1) + down_BWW
        return self.label_table[cells_BWW]
