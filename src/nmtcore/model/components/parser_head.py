"""An encoder attention head that is trained to point from word to word.

By default (pham2018, chapter 4) a word's first piece points to the first piece of another word, its other pieces to
the first. The head goes on to serve the translation. B batch, S source length, W words, P real subwords of a batch,
H heads, K head width.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from nmtcore.config.components.parser_head import ParserHeadSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.attention import head_scores
from nmtcore.model.components.base import AttentionHooks, Component, Context, Heads, Stack
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, NO_COLUMN, NO_GOVERNOR


class ParserHead(Component):
    """Supervises one head; subclasses say where each word's first piece points to."""

    settings: ParserHeadSettings

    def pointed_to(self, arrays: Arrays, examples: Examples) -> np.ndarray | None:
        """Give the column that each word's first piece points to: (B, W), `NO_COLUMN` where it is not supervised.

        None where the examples came without what says so.
        """
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

    def targets(self, arrays: Arrays, examples: Examples) -> np.ndarray | None:
        """Give the column that each of `arrays.words` points to: (P,), otherwise as `pointed_to`."""
        pointed_BW = self.pointed_to(arrays, examples)
        if pointed_BW is None:
            return None
        rows, columns, words = arrays.words
        own_first, pointed = arrays.first_BW[rows, words], pointed_BW[rows, words]
        return np.where((columns == own_first) | (pointed == NO_COLUMN), pointed, own_first)

    def on_arrays(self, arrays: Arrays, examples: Examples) -> None:
        """Put the first piece of each word, who may be pointed to, and where trees are known each token's target."""
        arrays.extra[f"{self.name}.first"] = arrays.first_BW
        arrays.extra[f"{self.name}.candidates"] = self._candidates(arrays)
        targets = self.targets(arrays, examples)
        if targets is None:
            return
        rows, columns, _ = arrays.words
        targets_BS = np.full_like(arrays.source_BS, NO_COLUMN)
        targets_BS[rows, columns] = targets
        arrays.extra[f"{self.name}.targets"] = targets_BS
        arrays.counts[self.name] = int((targets_BS != NO_COLUMN).sum())

    def _candidates(self, arrays: Arrays) -> np.ndarray:
        """Find the sentence's own subwords, and this component's prefix: neither `</s>` nor what others put before."""
        columns_S = np.arange(arrays.source_BS.shape[1])
        ends_B1 = arrays.offset + arrays.source.ids.lengths[:, None]
        return (columns_S >= arrays.offset - len(self.source_prefix)) & (columns_S < ends_B1)

    def _log_probabilities(self, context: Context) -> Tensor:
        """Normalise the scores (fp32 or float64) over the candidates: (B, S, S)."""
        scores_BSS = context.notes[self.name]
        scores_BSS = scores_BSS.float() if scores_BSS.dtype.itemsize < 4 else scores_BSS
        candidates_BS = context.extra[f"{self.name}.candidates"]
        # Not -inf: a sentence without words has no candidates, and its gradient must stay a number.
        lowest = torch.finfo(scores_BSS.dtype).min
        return scores_BSS.masked_fill(~candidates_BS.unsqueeze(1), lowest).log_softmax(dim=-1)

    def loss(self, context: Context) -> Tensor:
        """Sum `-log p(target column)` over the supervised tokens, without label smoothing."""
        targets_BS = context.extra.get(f"{self.name}.targets")
        if targets_BS is None:
            raise ValueError(f"{self.name} is trained on dependency trees, but the examples came without governors")
        log_BSS = self._log_probabilities(context)
        return F.nll_loss(log_BSS.flatten(0, 1), targets_BS.flatten(), ignore_index=NO_COLUMN, reduction="sum")

    @property
    def loss_weight(self) -> float:
        """The factor of the loss."""
        return self.settings.weight

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Read the head's log-probabilities off the words' first pieces."""
        log_BSS = self._log_probabilities(context).detach().float().cpu().numpy()
        first_BW = context.extra[f"{self.name}.first"].cpu().numpy()
        return [
            self.word_scores(log_SS, first_W[first_W != NO_COLUMN])
            for log_SS, first_W in zip(log_BSS, first_BW, strict=True)
        ]

    @staticmethod
    def governor_columns(arrays: Arrays, examples: Examples, *, of_root: int | np.ndarray) -> np.ndarray | None:
        """Give the column of the first piece of each word's governor: (B, W), `NO_COLUMN` where none is known.

        Roots have `of_root`, one column or (B, W). None where the examples came without governors.
        """
        governors = examples.source.features.get("governor")
        if governors is None:
            return None
        governor_BW = governors.padded(fill=NO_GOVERNOR, width=arrays.first_BW.shape[1]).astype(np.int64)
        columns_BW = np.take_along_axis(arrays.first_BW, np.maximum(governor_BW, 0), axis=1)
        columns_BW = np.where(governor_BW == GOVERNOR_OF_ROOT, of_root, columns_BW)
        return np.where(governor_BW == NO_GOVERNOR, NO_COLUMN, columns_BW)

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Cut the words' scores out of a sentence's (as `parse_scores` says), given the words' first columns."""
        return log_SS[np.ix_(first_W, first_W)]
