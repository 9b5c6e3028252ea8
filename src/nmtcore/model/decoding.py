"""The state of a transformer's step-by-step decoding."""

from collections.abc import Callable, Sequence

from torch import Tensor

from nmtcore.model.attention import Memory
from nmtcore.model.base import selected_rows
from nmtcore.model.cache import Cache


class TransformerState:
    """Keys and values of the source (once per sentence) and of the decoded positions (once per beam).

    It starts with one beam per sentence; `select` can change the number of beams. Row r of a step belongs to sentence
    r // beams.
    """

    def __init__(
        self,
        steps: Sequence[Callable[..., Tensor]],
        memory: Sequence[Memory],
        cache: Cache,
        *,
        mask_BS: Tensor,
        mask_B11S: Tensor,
    ) -> None:
        self.steps = steps
        """Apply each layer to one position, as `DecoderLayer.step` does."""
        self.memory = memory
        """One per layer."""
        self.cache = cache
        self.mask_BS = mask_BS
        """True for real source tokens."""
        self.mask_B11S = mask_B11S
        """The same, to be added to scores."""
        self.beams = 1

    @property
    def length(self) -> int:
        """Number of decoded positions."""
        return self.cache.length

    @property
    def sentences(self) -> int:
        """Number of sentences that are still being decoded."""
        return self.mask_BS.size(0)

    def select(self, beams_BM: Tensor, sentences_B: Tensor | None = None) -> None:
        """Continue beam `beams_BM[b, m]` of sentence `sentences_B[b]` as beam m of sentence b; drop all others.

        Without `sentences_B`, the sentences stay; the number of beams may change.
        """
        self.cache.select(selected_rows(beams_BM, sentences_B, self.beams))
        if beams_BM.size(1) != self.beams:
            self.beams = beams_BM.size(1)
            self.memory = [layer.for_beams(self.beams) for layer in self.memory]
        if sentences_B is not None:
            self.memory = [layer.of_sentences(sentences_B) for layer in self.memory]
            self.mask_BS = self.mask_BS.index_select(0, sentences_B)
            self.mask_B11S = self.mask_B11S.index_select(0, sentences_B)
