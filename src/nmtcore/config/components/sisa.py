"""Settings of syntactically informed self-attention (Strubell et al. 2018, as bugliarello2020 compares with it)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from nmtcore.config.components.parser_head import ParserHeadSettings


@dataclass(frozen=True, kw_only=True)
class SisaSettings(ParserHeadSettings):
    """A head with a biaffine operator of its own, trained to point from every subword to its governor's first one."""

    needs: ClassVar[Mapping[str, tuple[str, ...]]] = {"source": ("trees",)}

    layer: int = 0
    head: int = 0
    slope: float = 0.1
    """Of the leaky ReLU below 0. The paper says nothing; this is what Strubell et al. took over from Dozat."""
