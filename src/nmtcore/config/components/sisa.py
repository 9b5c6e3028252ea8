"""Settings of syntactically informed self-attention (Strubell et al. 2018, as bugliarello2020 compares with it)."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from nmtcore.config.components.parser_head import ParserHeadSettings
from nmtcore.config.ranges import HeadIndex, Index, Range, settings_class
from nmtcore.config.transformer import TransformerSettings


@settings_class
class SisaSettings(ParserHeadSettings):
    """A head with its own biaffine operator, trained to point from each subword to its governor's first subword.

    Needs dependencies on the source side.
    """

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    layer: Index = 0
    head: HeadIndex = 0
    slope: Annotated[float, Range(least=0, most=1)] = 0.1
    """Slope of the leaky ReLU below 0. The paper gives none; Strubell et al. use this one, after Dozat."""

    def parameter_count(self, model: TransformerSettings, labels: Mapping[str, int]) -> int:
        """Count the matrices and biases of queries, keys and the biaffine operator."""
        width = model.width // model.heads
        return (2 * model.width + width + 3) * width
