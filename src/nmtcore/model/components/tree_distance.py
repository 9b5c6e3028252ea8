"""Labels for the number of edges between two words in the source's dependency tree (pham2018, section 3.1)."""

from torch import Tensor

from nmtcore.config.components.pair_labels import TreeDistanceSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.components.base import LabelVocabularies
from nmtcore.model.components.tree_labels import Paths, TreeLabels


class TreeDistance(TreeLabels):
    r"""Labels a pair of words with the number of edges between them, and all longer paths alike.

    With the path's length d and the longest one m (`maximum`; pham2018, section 3.1.2):

    .. math::

        \mathrm{label}(i, j) = \min(d(i, j), m + 1)
    """

    def __init__(
        self,
        settings: TreeDistanceSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: LabelVocabularies | None = None,
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels, path_label_count=settings.maximum + 2)

    def path_labels(self, paths: Paths) -> Tensor:
        """Label each path with its number of edges."""
        return (paths.up_BWW + paths.down_BWW).clamp(max=self.settings.maximum + 1)
