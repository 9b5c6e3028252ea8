"""Settings of head selection (tran2018)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from nmtcore.config.components.base import ComponentSettings, Trees
from nmtcore.config.ranges import settings_class
from nmtcore.config.recurrent import RecurrentSettings


@settings_class
class HeadSelectionSettings(ComponentSettings):
    """A distribution over the heads of every source token, learned from translation alone."""

    bases: ClassVar[tuple[str, ...]] = ("recurrent",)
    trees: ClassVar[tuple[Trees, ...]] = ("induced",)

    weights: Literal["tree", "flat"] = "tree"
    """tree: marginals over all dependency trees. flat: a softmax over the heads of each token."""
    annotations: Literal["shared", "separate", "one_set"] = "shared"
    """Where the heads enter. shared: the decoder, by its attention over the source. separate: the decoder, by a second
    attention. one_set: the encoder's annotations."""
    hard: bool = False
    """Use the likeliest head alone, with straight-through gradients."""
    scale: bool = False
    """Divide the scores by the square root of the model's width."""
    root: Literal["own", "learned"] = "own"
    """What scores a token as the root: its own query, or a learned query of the root."""
    roots: Literal["one", "many"] = "one"
    """Whether trees have one root or any number of roots."""

    @property
    def gates_output(self) -> bool:
        """Whether the gate is in the decoder; with one set of annotations it is in the encoder."""
        return self.annotations != "one_set"

    def parameter_count(self, model: RecurrentSettings, labels: Mapping[str, int]) -> int:
        """Count the matrices and the gate's bias."""
        squares = 4 + (self.annotations != "one_set") + (self.annotations == "separate")
        return squares * model.width**2 + model.width + (model.width if self.root == "learned" else 0)
