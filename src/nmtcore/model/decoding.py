"""The state of step-by-step decoding."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from nmtcore.model.attention import KeysValues

ROOM = 16
"""The least number of positions by which the cache grows."""


class DecoderState:
    """Keys and values of the source (once per sentence) and of the decoded positions (once per beam).

    It starts with one beam per sentence; `reorder` can change the number of beams. Row r of a step belongs to sentence
    r // beams.
    """

    def __init__(
        self,
        steps: Sequence[Callable[..., Tensor]],
        memory: Sequence[KeysValues],
        mask_BS: Tensor,
        mask_B11S: Tensor,
    ) -> None:
        keys_BHSE = memory[0].keys_BHKE
        sentences, heads, _, width = keys_BHSE.shape
        self.steps = steps
        """Apply each layer to one position, as `DecoderLayer.step` does."""
        self.memory = memory
        """Keys and values of the source, one pair per layer."""
        self.mask_BS = mask_BS
        """True for real source tokens."""
        self.mask_B11S = mask_B11S
        """The same, to be added to scores."""
        self.beams = 1
        self.length = 0
        """Number of decoded positions."""
        # Rows come first, then positions: the decoded positions of a row are one block of memory, fast to copy.
        self._cache_RZY2HE = keys_BHSE.new_empty(sentences, ROOM, len(memory), 2, heads, width)
        self._spare_RZY2HE = self._cache_RZY2HE[:0]
        """The previous cache, kept for reuse: allocating memory costs more than the copy."""

    @property
    def sentences(self) -> int:
        """Number of sentences that are still being decoded."""
        return self.mask_BS.size(0)

    def caches(self) -> tuple[Tensor, ...]:
        """Return a view of the cache per layer: keys and values of all rows, (R, Z, 2, H, E)."""
        # Not by `unbind`, whose views may not be written to where there are gradients.
        return tuple(self._cache_RZY2HE.select(2, layer) for layer in range(self._cache_RZY2HE.size(2)))

    def make_room(self) -> None:
        """Grow the cache by half if it is full."""
        room = self._cache_RZY2HE.size(1)
        if self.length == room:
            self._copy_cache(None, room + max(ROOM, room // 2))

    def _copy_cache(self, rows_R: Tensor | None, room: int) -> None:
        """Copy the decoded positions of `rows_R` (None: all rows) into a cache with room for `room` positions."""
        old_RZY2HE = self._cache_RZY2HE
        count = len(old_RZY2HE) if rows_R is None else len(rows_R)
        if self._spare_RZY2HE.size(0) < count or self._spare_RZY2HE.size(1) != room:
            self._spare_RZY2HE = old_RZY2HE.new_empty(count, room, *old_RZY2HE.shape[2:])
        new_RZY2HE = self._spare_RZY2HE[:count]
        used = self.length * old_RZY2HE[0, 0].numel()
        source, target = old_RZY2HE.flatten(1)[:, :used], new_RZY2HE.flatten(1)[:, :used]
        target.copy_(source) if rows_R is None else torch.index_select(source, 0, rows_R, out=target)
        self._cache_RZY2HE, self._spare_RZY2HE = new_RZY2HE, old_RZY2HE

    def reorder(self, beams_BM: Tensor) -> None:
        """Make beam `beams_BM[b, m]` of sentence b its new beam m; the number of beams may change."""
        starts_B1 = torch.arange(self.sentences, device=beams_BM.device).unsqueeze(1) * self.beams
        self._copy_cache((beams_BM + starts_B1).flatten(), self._cache_RZY2HE.size(1))
        self.beams = beams_BM.size(1)

    def keep(self, sentences_B: Tensor) -> None:
        """Keep only the sentences with these indices, in this order."""
        self.memory = [layer.of_sentences(sentences_B) for layer in self.memory]
        self.mask_BS = self.mask_BS.index_select(0, sentences_B)
        self.mask_B11S = self.mask_B11S.index_select(0, sentences_B)
        beams_M = torch.arange(self.beams, device=sentences_B.device)
        rows_R = (sentences_B.unsqueeze(1) * self.beams + beams_M).flatten()
        self._copy_cache(rows_R, self._cache_RZY2HE.size(1))
