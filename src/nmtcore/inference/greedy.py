"""Greedy search for a batch of sentences: the likeliest token at each step, up to the first `</s>`.

Row r of a search (R rows) is one of the sentences that have not ended.
"""

import math
from typing import Any

import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.inference.hypotheses import (
    Decoder,
    Hypothesis,
    diverged,
    length_penalty,
    log_probabilities,
    never_generated,
)
from nmtcore.inference.topk import best_entries
from nmtcore.segmentation.vocabulary import BOS, EOS


def greedy_search(
    model: Decoder, encoded: Any, settings: DecodingSettings, *, limits_B: Tensor, scores: bool
) -> list[Hypothesis]:
    """Return the hypothesis of each sentence; arguments and errors are those of `beam_search`.

    Without `scores`, the logits are not normalised to probabilities, as the likeliest token is the same.
    """
    search = _Search(model, encoded, limits_B, scores)
    while search.rows:
        search.step()
    return search.results(settings)


class _Search:
    """The sentences of a batch; each step copies its tokens to the host, the only wait for the device."""

    def __init__(self, model: Decoder, encoded: Any, limits_B: Tensor, scores: bool) -> None:
        self.model, self.state, self.scores = model, model.start(encoded), scores
        self.never_generated = never_generated(limits_B.device)
        self.limits: list[int] = limits_B.tolist()
        self.rows = list(range(len(self.limits)))
        """The sentence of each row."""
        self.tokens: list[list[int]] = [[] for _ in self.rows]
        self.totals = [0.0] * len(self.rows)
        """The log probability of each sentence so far; without scores a sum of logits, to see whether it is finite."""
        self.newest_R = torch.full_like(limits_B, BOS)
        self.length = 0
        """Tokens of every sentence that has not ended."""

    def step(self) -> None:
        """Extend every row by one token, and drop those that end."""
        next_RV = self.model.step(self.newest_R, self.state)
        if self.scores:
            next_RV = log_probabilities(next_RV)
        next_RV.index_fill_(1, self.never_generated, -torch.inf)
        self.newest_R = best_entries(next_RV)
        best_R = next_RV.gather(1, self.newest_R[:, None])[:, 0]
        columns = torch.stack([self.newest_R.double(), best_R.double(), next_RV[:, EOS].double()]).tolist()
        live = []
        for row, (sentence, token, best, end) in enumerate(zip(self.rows, *columns, strict=True)):
            ends = token == EOS or self.length == self.limits[sentence]
            self.totals[sentence] += end if ends else best
            if not ends:
                self.tokens[sentence].append(int(token))
                live.append(row)
        self.length += 1
        if len(live) < len(self.rows):
            self._keep(live)

    def _keep(self, live: list[int]) -> None:
        self.rows = [self.rows[row] for row in live]
        if live:
            live_R = torch.tensor(live).to(self.newest_R.device, non_blocking=True)
            self.newest_R = self.newest_R.index_select(0, live_R)
            self.state.select(torch.zeros_like(live_R)[:, None], live_R)

    def results(self, settings: DecodingSettings) -> list[Hypothesis]:
        """Return the hypothesis of each sentence, once all have ended."""
        if not all(map(math.isfinite, self.totals)):
            raise diverged()
        return [
            Hypothesis(
                tokens=tuple(tokens),
                score=total / length_penalty(settings, len(tokens) + 1.0) if self.scores else math.nan,
                log_probability=total if self.scores else math.nan,
            )
            for tokens, total in zip(self.tokens, self.totals, strict=True)
        ]
