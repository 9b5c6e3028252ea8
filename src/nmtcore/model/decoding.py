"""The state of step-by-step decoding.

B sentences, N beams a sentence, R = B * N rows, H heads, K head width, S source length, C room of the cache,
L decoder layers.
"""

import torch
from torch import Tensor

ROOM = 16
"""Positions by which the cache grows, at least."""


class DecoderState:
    """Keys and values of the source (once a sentence) and of what was decoded so far (once a beam).

    It starts with one beam a sentence; `reorder` may choose another number of beams. Row r of a step belongs to
    sentence r // beams.
    """

    def __init__(self, memory: list[tuple[Tensor, Tensor]], mask_B11S: Tensor) -> None:
        keys_BHSK = memory[0][0]
        sentences, heads, _, width = keys_BHSK.shape
        self.memory = memory
        self.mask_B11S = mask_B11S
        self.beams = 1
        self.length = 0
        """Positions decoded so far."""
        # Rows first, then positions: what a row has decoded so far is one block of memory, quick to move.
        self._cache_RCL2HK = keys_BHSK.new_empty(sentences, ROOM, len(memory), 2, heads, width)
        self._spare = self._cache_RCL2HK[:0]
        """The memory of the cache before, to be used again: fresh memory costs more than the copy."""

    @property
    def sentences(self) -> int:
        """B, those still being decoded."""
        return self.mask_B11S.size(0)

    @property
    def cache_L2RHCK(self) -> Tensor:
        """A view of the cache: keys and values of every layer."""
        return self._cache_RCL2HK.permute(2, 3, 0, 4, 1, 5)

    def make_room(self) -> None:
        """Grow the cache by half when it is full."""
        room = self._cache_RCL2HK.size(1)
        if self.length == room:
            self._move(None, room + max(ROOM, room // 2))

    def _move(self, rows: Tensor | None, room: int) -> None:
        """Copy the decoded positions of the rows `rows` (None: all) into a new cache with room for `room` positions."""
        old = self._cache_RCL2HK
        count = len(old) if rows is None else len(rows)
        if self._spare.size(0) < count or self._spare.size(1) != room:
            self._spare = old.new_empty(count, room, *old.shape[2:])
        new = self._spare[:count]
        used = self.length * old[0, 0].numel()
        source, target = old.flatten(1)[:, :used], new.flatten(1)[:, :used]
        target.copy_(source) if rows is None else torch.index_select(source, 0, rows, out=target)
        self._cache_RCL2HK, self._spare = new, old

    def reorder(self, beams_BN: Tensor) -> None:
        """Continue beam `beams_BN[b, n]` of sentence b as its new beam n; the number of beams may change."""
        starts_B1 = torch.arange(self.sentences, device=beams_BN.device).unsqueeze(1) * self.beams
        self._move((beams_BN + starts_B1).flatten(), self._cache_RCL2HK.size(1))
        self.beams = beams_BN.size(1)

    def keep(self, sentences: Tensor) -> None:
        """Go on with the sentences of these indices only, in this order."""
        self.memory = [(k.index_select(0, sentences), v.index_select(0, sentences)) for k, v in self.memory]
        self.mask_B11S = self.mask_B11S.index_select(0, sentences)
        beams = torch.arange(self.beams, device=sentences.device)
        rows = (sentences.unsqueeze(1) * self.beams + beams).flatten()
        self._move(rows, self._cache_RCL2HK.size(1))
