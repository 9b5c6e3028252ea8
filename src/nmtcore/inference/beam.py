"""Beam search for a batch of sentences; the result for each is the same as if it were searched alone.

The rule is Tensor2Tensor's. Each step takes the 2M best extensions of a sentence's M beams. Extensions by `</s>` become
finished hypotheses, ranked by log probability over a length penalty; the M best of the others are the next live beams.
The search of a sentence ends when no continuation of its live beams can outrank the worst of the `n_best` finished
hypotheses; so ending early changes no result.

Row `b * M + m` of a search (R = B * M rows) is beam m of sentence b.
"""

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference.topk import Extensions, best_extensions
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD, ROOT_ID

NEVER_GENERATED = (PAD, BOS, ROOT_ID)
"""Vocabulary entries that are never generated; `<unk>` may be."""

Number = TypeVar("Number", float, Tensor)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hypothesis:
    """One translation: its tokens without `</s>`, its score and its log probability."""

    tokens: tuple[int, ...]
    score: float
    """`log_probability` over the length penalty."""
    log_probability: float
    """Natural logarithm, `</s>` included."""


class SearchState(Protocol):
    """The decoder's state between the steps of a search, for B sentences of M beams."""

    def reorder(self, beams_BM: Tensor) -> None:
        """Continue beam m of sentence b from its previous beam `beams_BM[b, m]`; M may change."""

    def keep(self, sentences_B: Tensor) -> None:
        """Drop all sentences but these (indices)."""


class Decoder(Protocol):
    """The interface of a model that beam search requires."""

    def start(self, encoded: Any) -> SearchState:
        """Start to decode encoded sentences, with one beam each."""

    def step(self, tokens_R: Tensor, state: SearchState) -> Tensor:
        """Read one token per row; return the logits `(R, V)` of the next."""


def length_penalty(settings: DecodingSettings, length: Number) -> Number:
    """Compute the divisor of the log probability of a hypothesis of `length` tokens, `</s>` included.

    gnmt: ((5 + n) / 6)^alpha, equation 14 of Wu et al. 2016 without coverage. fairseq: n^alpha. none: 1.
    """
    base = {"gnmt": (5 + length) / 6, "fairseq": length * 1.0, "none": length * 0.0 + 1.0}[settings.length_penalty]
    return base**settings.alpha


def length_limits(settings: DecodingSettings, source_lengths: Sequence[int]) -> list[int]:
    """Compute the largest number of tokens per translation: the smallest of the configured limits.

    Neither the limits nor `source_lengths` count `</s>`, and `source_lengths` do not count the tags of words.
    """
    limits = []
    if settings.max_length is not None:
        limits.append([settings.max_length] * len(source_lengths))
    if settings.max_length_ratio is not None:
        limits.append([int(settings.max_length_ratio * n) + settings.max_length_extra for n in source_lengths])
    return [min(sentence_limits) for sentence_limits in zip(*limits, strict=True)]


@torch.inference_mode()
def beam_search(
    model: Decoder, encoded: Any, settings: DecodingSettings, *, limits_B: Tensor, n_best: int = 1
) -> list[list[Hypothesis]]:
    """Search for the best translations of encoded sentences.

    `limits_B` (int64, on the model's device) is the largest number of tokens of each sentence, without `</s>`. A beam
    that reaches it is finished with `</s>`, at the model's probability for it, even if another token is likelier.

    Returns at most `n_best` different hypotheses per sentence, best first (fewer only if fewer exist). `beam: 1` is
    greedy search: the likeliest token at each step up to the first `</s>`.
    """
    if not 1 <= n_best <= settings.beam:
        raise UserError(
            f"{n_best} hypotheses per sentence were requested, but the beam has {settings.beam}: use a wider beam."
        )
    search = _Search(model, encoded, settings, limits_B, n_best)
    step = search.greedy_step if settings.beam == 1 else search.beam_step
    while len(search.sentence_B):
        step()
    if not all(search.results):
        raise UserError("The model's probabilities are NaN: its training has diverged.")
    return search.results


class _Search:
    """The undecided sentences of a batch, and the results of all its sentences."""

    def __init__(self, model: Decoder, encoded: Any, settings: DecodingSettings, limits_B: Tensor, n_best: int) -> None:
        self.model, self.settings, self.n_best = model, settings, n_best
        self.state = model.start(encoded)
        sentences, device = len(limits_B), limits_B.device
        self.results: list[list[Hypothesis]] = [[] for _ in range(sentences)]
        self.sentence_B = torch.arange(sentences, device=device)
        """The index of each undecided sentence in the batch."""
        self.limit_B = limits_B
        self.log_probability_BM = torch.zeros(sentences, 1, device=device)
        """Log probabilities of the live beams, in descending order."""
        self.worst_B = torch.full((sentences,), -torch.inf, device=device)
        """The score that a hypothesis must exceed to be among the `n_best` finished ones."""
        self.tokens_BMT = torch.full((sentences, 1, 1), BOS, device=device)

    @property
    def length(self) -> int:
        """Tokens of every live beam, without `<s>`."""
        return self.tokens_BMT.shape[2] - 1

    def greedy_step(self) -> None:
        """Extend every sentence by its likeliest token; `</s>` decides the sentence."""
        extensions = self._extensions(1)
        ended_BC = extensions.token_BC == EOS
        self._finish(extensions, ended_BC)
        self._advance(extensions, decided_B=ended_BC[:, 0])

    def beam_step(self) -> None:
        """Extend every beam by one token, finish the beams that end, and drop the decided sentences."""
        beams = self.settings.beam
        extensions = self._extensions(2 * beams)
        ended_BC = extensions.token_BC == EOS
        self._finish(extensions, ended_BC)

        live_BC = extensions.log_probability_BC.masked_fill(ended_BC, -torch.inf)
        log_probability_BM, best_BM = live_BC.topk(min(beams, live_BC.shape[1]), dim=1)
        chosen = Extensions(
            log_probability_BC=log_probability_BM,
            beam_BC=extensions.beam_BC.gather(1, best_BM),
            token_BC=extensions.token_BC.gather(1, best_BM),
        )
        self._advance(chosen, decided_B=self._decided(log_probability_BM))

    def _extensions(self, count: int) -> Extensions:
        """Find the `count` best extensions of the live beams.

        At its length limit a sentence has one extension per beam, by `</s>`; the other candidates are at -inf.
        """
        sentences, beams = self.log_probability_BM.shape
        logits_RV = self.model.step(self.tokens_BMT[:, :, -1].flatten(), self.state)
        precision = torch.promote_types(logits_RV.dtype, torch.float32)
        next_BMV = torch.log_softmax(logits_RV, dim=1, dtype=precision).view(sentences, beams, -1)
        next_BMV[:, :, NEVER_GENERATED] = -torch.inf
        extensions = best_extensions(self.log_probability_BM, next_BMV, count=count)
        full_B = self.limit_B == self.length
        if full_B.any():
            extensions.log_probability_BC[full_B] = -torch.inf
            extensions.log_probability_BC[full_B, :beams] = (self.log_probability_BM + next_BMV[:, :, EOS])[full_B]
            extensions.beam_BC[full_B, :beams] = torch.arange(beams, device=full_B.device)
            extensions.token_BC[full_B] = EOS
        return extensions

    def _finish(self, extensions: Extensions, ended_BC: Tensor) -> None:
        """Add the candidates that ended with a high enough score to the results."""
        score_BC = extensions.log_probability_BC / length_penalty(self.settings, self.length + 1.0)
        self.worst_B = self.worst_B.to(score_BC.dtype)
        good_BC = ended_BC & (score_BC > self.worst_B[:, None])
        row, candidate = good_BC.nonzero(as_tuple=True)
        tokens = self.tokens_BMT[row, extensions.beam_BC[row, candidate], 1:].tolist()
        log_probabilities = extensions.log_probability_BC[good_BC].tolist()
        finished = zip(row.tolist(), score_BC[good_BC].tolist(), log_probabilities, tokens, strict=True)
        sentences = self.sentence_B.tolist() if tokens else []
        for b, score, log_probability, hypothesis_tokens in finished:
            best = self.results[sentences[b]]
            hypothesis = Hypothesis(tokens=tuple(hypothesis_tokens), score=score, log_probability=log_probability)
            insort(best, hypothesis, key=lambda h: -h.score)
            del best[self.n_best :]
            if len(best) == self.n_best:
                self.worst_B[b] = best[-1].score

    def _decided(self, log_probability_BM: Tensor) -> Tensor:
        """Mark the sentences (B) in which no live beam can become one of the best hypotheses.

        A beam with log probability s ends with a score of at most s over the largest penalty still ahead. Penalties
        are monotonic in the length, so the largest is the penalty either of the limit or of the next length.
        """
        at_limit_B = length_penalty(self.settings, (self.limit_B + 1).to(log_probability_BM.dtype))
        largest_B = at_limit_B.clamp_min(length_penalty(self.settings, self.length + 2.0))
        return log_probability_BM[:, 0] / largest_B <= self.worst_B

    def _advance(self, chosen: Extensions, *, decided_B: Tensor) -> None:
        """Make the chosen extensions the live beams (M = C) of the undecided sentences; drop all other sentences."""
        decided_B = decided_B | (self.limit_B <= self.length)
        if decided_B.any():
            undecided = (~decided_B).nonzero()[:, 0]
            self.sentence_B, self.limit_B = self.sentence_B[undecided], self.limit_B[undecided]
            self.worst_B = self.worst_B[undecided]
            if not len(undecided):
                return
            self.tokens_BMT = self.tokens_BMT[undecided]
            chosen = Extensions(*(values_BC[undecided] for values_BC in chosen))
            self.state.keep(undecided)
        if not self._in_place(chosen.beam_BC):
            self.tokens_BMT = self.tokens_BMT.gather(1, chosen.beam_BC[:, :, None].expand(-1, -1, self.length + 1))
            self.state.reorder(chosen.beam_BC)
        self.log_probability_BM = chosen.log_probability_BC
        self.tokens_BMT = torch.cat([self.tokens_BMT, chosen.token_BC[:, :, None]], dim=2)

    def _in_place(self, beam_BM: Tensor) -> bool:
        """Whether every beam continues itself, so that nothing has to move."""
        beams = beam_BM.shape[1]
        if beams != self.tokens_BMT.shape[1]:
            return False
        return beams == 1 or not len(beam_BM) or bool((beam_BM == torch.arange(beams, device=beam_BM.device)).all())
