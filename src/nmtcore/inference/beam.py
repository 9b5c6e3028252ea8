"""Beam search for a batch of sentences, each searched as if it were alone.

Letters in names: N sentences, K beams, R = N * K rows (row n * K + k is beam k of sentence n), V target vocabulary,
C candidates, T tokens so far.

The rule is Tensor2Tensor's. Each step takes the 2K best extensions of a sentence's K beams. Those that end
(`</s>`) become finished hypotheses, ranked by their log probability over a length penalty; the K best of the others
live on. The search of a sentence ends when none of its live beams, however it goes on, can come before the worst of
the finished hypotheses that are asked for; so ending early changes no result.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference.topk import best_extensions
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD, ROOT_ID

NEVER = (PAD, BOS, ROOT_ID)
"""Entries that are never generated; `<unk>` may be."""

Number = TypeVar("Number", float, Tensor)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hypothesis:
    """One translation: its tokens without `</s>`, and what ranks it."""

    tokens: tuple[int, ...]
    score: float
    """`log_probability` over the length penalty."""
    log_probability: float
    """Natural logarithm, `</s>` included."""


class State(Protocol):
    """What a decoder remembers between steps: N sentences of K beams, row n * K + k."""

    def reorder(self, parents_NK: Tensor) -> None:
        """Let beam k of sentence n go on from what was its beam `parents_NK[n, k]`; K may change."""

    def keep(self, sentences_N: Tensor) -> None:
        """Forget all sentences but these."""


class Decoder(Protocol):
    """What a model must offer to be searched."""

    def start(self, encoded: Any) -> State:
        """Begin to decode encoded sentences, with one beam each."""

    def step(self, tokens_R: Tensor, state: State) -> Tensor:
        """Read one token a row; give the logits `(R, V)` of the next."""


def length_penalty(settings: DecodingSettings, length: Number) -> Number:
    """What a log probability is divided by, for a length that counts `</s>`.

    gnmt: ((5 + n) / 6)^alpha, equation 14 of Wu et al. 2016 without coverage. fairseq: n^alpha. none: 1.
    """
    base = {"gnmt": (5 + length) / 6, "fairseq": length * 1.0, "none": length * 0.0 + 1.0}[settings.length_penalty]
    return base**settings.alpha


def length_limits(settings: DecodingSettings, source_lengths: Sequence[int]) -> list[int]:
    """The most tokens (without `</s>`) for sources of these lengths (without `</s>`): the least of the limits set."""
    limits = []
    if settings.max_length is not None:
        limits.append([settings.max_length] * len(source_lengths))
    if settings.max_length_ratio is not None:
        limits.append([int(settings.max_length_ratio * n) + settings.max_length_extra for n in source_lengths])
    return [min(each) for each in zip(*limits, strict=True)]


@torch.inference_mode()
def beam_search(
    model: Decoder, encoded: Any, settings: DecodingSettings, *, limits_B: Tensor, n_best: int = 1
) -> list[list[Hypothesis]]:
    """Search translations of encoded sentences.

    `limits_B` (int64, on the model's device) holds the most tokens of each sentence, without `</s>`. Beams that reach
    it are finished with `</s>` at the probability that the model gives it there, even if something else is likelier.

    Gives for each sentence at most `n_best` different hypotheses, best first (fewer only where fewer exist).
    `beam: 1` is greedy search: the likeliest token at each step up to the first `</s>`.
    """
    if not 1 <= n_best <= settings.beam:
        raise UserError(f"{n_best} hypotheses a sentence were asked for, but the beam is {settings.beam}: widen it.")
    search = _Search(model, encoded, settings, limits_B, n_best)
    step = search.greedy_step if settings.beam == 1 else search.beam_step
    while len(search.sentence_N):
        step()
    if not all(search.results):
        raise UserError("The model gives no probabilities (NaN): its training has diverged.")
    return search.results


class _Search:
    """The sentences of a batch that are not decided yet, and the results of all."""

    def __init__(self, model: Decoder, encoded: Any, settings: DecodingSettings, limits_B: Tensor, n_best: int) -> None:
        self.model, self.settings, self.n_best = model, settings, n_best
        self.state = model.start(encoded)
        n, device = len(limits_B), limits_B.device
        self.results: list[list[Hypothesis]] = [[] for _ in range(n)]
        self.sentence_N = torch.arange(n, device=device)
        self.limit_N = limits_B
        self.score_NK = torch.zeros(n, 1, device=device)
        """Log probability of every live beam, falling."""
        self.worst_N = torch.full((n,), -torch.inf, device=device)
        """What a hypothesis must surpass to be among the `n_best` finished ones."""
        self.tokens_NKT = torch.full((n, 1, 1), BOS, device=device)

    @property
    def length(self) -> int:
        """Tokens of every live beam, without `<s>`."""
        return self.tokens_NKT.shape[2] - 1

    def greedy_step(self) -> None:
        """Lengthen every sentence by its likeliest token; `</s>` decides it."""
        value_N1, parent_N1, token_N1 = self._extensions(1)
        ended_N1 = token_N1 == EOS
        self._finish(value_N1, parent_N1, ended_N1)
        self._live_on(value_N1, parent_N1, token_N1, ended_N1[:, 0])

    def beam_step(self) -> None:
        """Lengthen every beam by a token, finish those that end, drop the sentences that are decided."""
        beams = self.settings.beam
        value_NC, parent_NC, token_NC = self._extensions(2 * beams)
        ended_NC = token_NC == EOS
        self._finish(value_NC, parent_NC, ended_NC)

        living_NC = value_NC.masked_fill(ended_NC, -torch.inf)
        value_NK, best_NK = living_NC.topk(min(beams, living_NC.shape[1]), dim=1)
        self._live_on(value_NK, parent_NC.gather(1, best_NK), token_NC.gather(1, best_NK), self._decided(value_NK))

    def _extensions(self, count: int) -> tuple[Tensor, Tensor, Tensor]:
        """Give the best extensions of the live beams: their log probabilities, beams and tokens, (N, C) each.

        At its limit a sentence has as many as beams: every beam ends.
        """
        n, beams = self.score_NK.shape
        logits_RV = self.model.step(self.tokens_NKT[:, :, -1].flatten(), self.state)
        precision = torch.promote_types(logits_RV.dtype, torch.float32)
        next_NKV = torch.log_softmax(logits_RV, dim=1, dtype=precision).view(n, beams, -1)
        next_NKV[:, :, NEVER] = -torch.inf
        value_NC, parent_NC, token_NC = best_extensions(self.score_NK, next_NKV, count=count)
        full_N = self.limit_N == self.length
        if full_N.any():
            value_NC[full_N] = -torch.inf
            value_NC[full_N, :beams] = (self.score_NK + next_NKV[:, :, EOS])[full_N]
            parent_NC[full_N, :beams] = torch.arange(beams, device=parent_NC.device)
            token_NC[full_N] = EOS
        return value_NC, parent_NC, token_NC

    def _finish(self, value_NC: Tensor, parent_NC: Tensor, ended_NC: Tensor) -> None:
        """Put those candidates that ended, and are good enough, among the results."""
        score_NC = value_NC / length_penalty(self.settings, self.length + 1.0)
        self.worst_N = self.worst_N.to(score_NC.dtype)
        good_NC = ended_NC & (score_NC > self.worst_N[:, None])
        row, candidate = good_NC.nonzero(as_tuple=True)
        tokens = self.tokens_NKT[row, parent_NC[row, candidate], 1:].tolist()
        found = zip(row.tolist(), score_NC[good_NC].tolist(), value_NC[good_NC].tolist(), tokens, strict=True)
        sentences = self.sentence_N.tolist() if tokens else []
        for n, score, log_probability, its_tokens in found:
            best = self.results[sentences[n]]
            hypothesis = Hypothesis(tokens=tuple(its_tokens), score=score, log_probability=log_probability)
            insort(best, hypothesis, key=lambda h: -h.score)
            del best[self.n_best :]
            if len(best) == self.n_best:
                self.worst_N[n] = best[-1].score

    def _decided(self, value_NK: Tensor) -> Tensor:
        """Say of which sentences (N) no live beam can come among the best any more.

        A beam of log probability s ends with at most s over the largest penalty that lies before it. Penalties rise or
        fall with the length, so that is the penalty at the limit or at the next length.
        """
        at_limit_N = length_penalty(self.settings, (self.limit_N + 1).to(value_NK.dtype))
        largest_N = at_limit_N.clamp_min(length_penalty(self.settings, self.length + 2.0))
        return value_NK[:, 0] / largest_N <= self.worst_N

    def _live_on(self, value_NK: Tensor, parent_NK: Tensor, token_NK: Tensor, decided_N: Tensor) -> None:
        """Make the chosen extensions the live beams of the sentences that are not decided."""
        decided_N = decided_N | (self.limit_N <= self.length)
        if decided_N.any():
            left = (~decided_N).nonzero()[:, 0]
            self.sentence_N, self.limit_N, self.worst_N = self.sentence_N[left], self.limit_N[left], self.worst_N[left]
            if not len(left):
                return
            self.tokens_NKT = self.tokens_NKT[left]
            value_NK, parent_NK, token_NK = value_NK[left], parent_NK[left], token_NK[left]
            self.state.keep(left)
        if not self._stay(parent_NK):
            self.tokens_NKT = self.tokens_NKT.gather(1, parent_NK[:, :, None].expand(-1, -1, self.length + 1))
            self.state.reorder(parent_NK)
        self.score_NK = value_NK
        self.tokens_NKT = torch.cat([self.tokens_NKT, token_NK[:, :, None]], dim=2)

    def _stay(self, parent_NK: Tensor) -> bool:
        """Whether every beam goes on from itself, so that nothing need be moved."""
        beams = parent_NK.shape[1]
        if beams != self.tokens_NKT.shape[1]:
            return False
        return (
            beams == 1 or not len(parent_NK) or bool((parent_NK == torch.arange(beams, device=parent_NK.device)).all())
        )
