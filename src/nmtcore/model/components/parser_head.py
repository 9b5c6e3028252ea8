"""An encoder attention head that is trained to point from word to word (pham2018, chapter 4).

A word's first piece points to the first piece of another word, its other pieces to the first. The head goes on to
serve the translation, and has no parameters of its own. B batch, S source length, W words, H heads, K head width.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from nmtcore.config.components.parser_head import ParserHead as ParserHeadSettings
from nmtcore.features.examples import Examples
from nmtcore.model.attention import head_scores
from nmtcore.model.batch import NO_TARGET, Arrays, Batch
from nmtcore.model.components.base import AttentionHooks, Component, Context, Heads, Stack


class ParserHead(Component):
    """Supervises one head; subclasses say where each word's first piece points to."""

    def __init__(self, settings: ParserHeadSettings, name: str) -> None:
        super().__init__(name)
        self.settings = settings

    def pointed_to(self, arrays: Arrays, examples: Examples) -> np.ndarray | None:
        """Give the column that each word's first piece points to, (B, W); negative: not supervised. None: unknown."""
        raise NotImplementedError

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Watch one layer of the encoder."""
        watched = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(observe=self._observe) if watched else None

    def _observe(self, heads: Heads, scores_BHSS: Tensor | None) -> None:
        head = self.settings.head
        if scores_BHSS is None:
            scores_BSS = head_scores(heads.queries_BHQK[:, head], heads.keys_BHSK[:, head])
        else:
            scores_BSS = scores_BHSS[:, head]
        heads.context.notes[self.name] = scores_BSS

    def on_arrays(self, arrays: Arrays, examples: Examples) -> None:
        """Put the first piece of each word, and where trees are known the target column of each token."""
        arrays.extra[f"{self.name}.first"] = arrays.first_BW
        pointed_BW = self.pointed_to(arrays, examples)
        if pointed_BW is None:
            return
        rows, columns, words = arrays.words
        own_first = arrays.first_BW[rows, words]
        pointed = pointed_BW[rows, words]
        targets = np.where(columns == own_first, pointed, own_first)
        targets_BS = np.full_like(arrays.source_BS, NO_TARGET)
        targets_BS[rows, columns] = np.where(pointed < 0, NO_TARGET, targets)
        arrays.extra[f"{self.name}.targets"] = targets_BS
        arrays.counts[self.name] = int((targets_BS != NO_TARGET).sum())

    def _log_probabilities(self, context: Context) -> Tensor:
        """Normalise the scores (fp32 or float64) over all real tokens but `</s>`: (B, S, S)."""
        scores_BSS = context.notes[self.name]
        scores_BSS = scores_BSS.float() if scores_BSS.dtype.itemsize < 4 else scores_BSS
        # `</s>` is the last real token: a candidate is one that another real token follows.
        candidates_BS = F.pad(context.mask_BS[:, 1:], (0, 1))
        # Not -inf: a sentence without words has no candidates, and its gradient must stay a number.
        lowest = torch.finfo(scores_BSS.dtype).min
        return scores_BSS.masked_fill(~candidates_BS.unsqueeze(1), lowest).log_softmax(dim=-1)

    def loss(self, batch: Batch, context: Context) -> Tensor:
        """Sum `-log p(target column)` over the supervised tokens, without label smoothing."""
        targets_BS = batch.extra.get(f"{self.name}.targets")
        if targets_BS is None:
            raise ValueError(f"{self.name} is trained on dependency trees, but the examples came without governors")
        log_BSS = self._log_probabilities(context)
        return F.nll_loss(log_BSS.flatten(0, 1), targets_BS.flatten(), ignore_index=NO_TARGET, reduction="sum")

    @property
    def loss_weight(self) -> float:
        """The factor of the loss."""
        return self.settings.weight

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Read the head's log-probabilities off the words' first pieces."""
        log_BSS = self._log_probabilities(context).detach().float().cpu().numpy()
        first_BW = context.extra[f"{self.name}.first"].cpu().numpy()
        found = []
        for log_SS, first_W in zip(log_BSS, first_BW, strict=True):
            rows = first_W[first_W >= 0]
            columns = np.concatenate([[0], rows]) if self.points_to_root else rows
            found.append(log_SS[np.ix_(rows, columns)])
        return found
