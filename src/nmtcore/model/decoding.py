"""The state of step-by-step decoding.

B sentences, N beams a sentence, R = B * N rows, H heads, K head width, S source length, C room of the cache,
L decoder layers.
"""

from typing import Any

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
        self.notes: dict[str, Any] = {}
        """What components noted in the last step, by row."""
        self.cache_L2RHCK = keys_BHSK.new_empty(len(memory), 2, sentences, heads, ROOM, width)

    @property
    def sentences(self) -> int:
        """B, those still being decoded."""
        return self.mask_B11S.size(0)

    def make_room(self) -> None:
        """Grow the cache by half when it is full."""
        room = self.cache_L2RHCK.size(4)
        if self.length == room:
            self.cache_L2RHCK = torch.nn.functional.pad(self.cache_L2RHCK, (0, 0, 0, max(ROOM, room // 2)))

    def reorder(self, beams_BN: Tensor) -> None:
        """Continue beam `beams_BN[b, n]` of sentence b as its new beam n; the number of beams may change."""
        starts_B1 = torch.arange(self.sentences, device=beams_BN.device).unsqueeze(1) * self.beams
        self.cache_L2RHCK = self.cache_L2RHCK.index_select(2, (beams_BN + starts_B1).flatten())
        self.beams = beams_BN.size(1)

    def keep(self, sentences: Tensor) -> None:
        """Go on with the sentences of these indices only, in this order."""
        self.memory = [(k.index_select(0, sentences), v.index_select(0, sentences)) for k, v in self.memory]
        self.mask_B11S = self.mask_B11S.index_select(0, sentences)
        beams = torch.arange(self.beams, device=sentences.device)
        rows = (sentences.unsqueeze(1) * self.beams + beams).flatten()
        self.cache_L2RHCK = self.cache_L2RHCK.index_select(2, rows)
