"""Greedy search for a batch of sentences: the likeliest token at each step, up to the first `</s>`.

Row r of a search (R rows) is one of the sentences that have not ended.
"""

from typing import Any

import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.inference.hypotheses import Decoder, Hypothesis, length_penalty, never_generated, next_log_probabilities
from nmtcore.inference.topk import best_entries
from nmtcore.segmentation.vocabulary import BOS, EOS


def greedy_search(model: Decoder, encoded: Any, settings: DecodingSettings, *, limits_B: Tensor) -> list[Hypothesis]:
    """Return the hypothesis of each sentence; the arguments are those of `beam_search`."""
    search = _Search(model, encoded, limits_B)
    while search.rows:
        search.step()
    return search.results(settings)


class _Search:
    """The sentences of a batch; each step copies its tokens to the host, the only wait for the device."""

    def __init__(self, model: Decoder, encoded: Any, limits_B: Tensor) -> None:
        self.model, self.state = model, model.start(encoded)
        self.never_generated = never_generated(limits_B.device)
        self.limits: list[int] = limits_B.tolist()
        self.rows = list(range(len(self.limits)))
        """The sentence of each row."""
        self.tokens: list[list[int]] = [[] for _ in self.rows]
        self.log_probabilities = [0.0] * len(self.rows)
        self.newest_R = torch.full_like(limits_B, BOS)
        self.length = 0
        """Tokens of every sentence that has not ended."""

    def step(self) -> None:
        """Extend every row by one token, and drop those that end."""
        next_RV = next_log_probabilities(self.model.step(self.newest_R, self.state), self.never_generated)
        self.newest_R = best_entries(next_RV)
        best_R = next_RV.gather(1, self.newest_R[:, None])[:, 0]
        # In fp32, ids below 2^24 are exact.
        columns = torch.stack([self.newest_R.to(best_R.dtype), best_R, next_RV[:, EOS]]).tolist()
        live = []
        for row, (sentence, token, best, end) in enumerate(zip(self.rows, *columns, strict=True)):
            ends = token == EOS or self.length == self.limits[sentence]
            self.log_probabilities[sentence] += end if ends else best
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
            self.state.keep(live_R)

    def results(self, settings: DecodingSettings) -> list[Hypothesis]:
        """Return the hypothesis of each sentence, once all have ended."""
        return [
            Hypothesis(
                tokens=tuple(tokens),
                score=log_probability / length_penalty(settings, len(tokens) + 1.0),
                log_probability=log_probability,
            )
            for tokens, log_probability in zip(self.tokens, self.log_probabilities, strict=True)
        ]
