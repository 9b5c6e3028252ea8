"""Beam search for a batch of sentences; the result for each is the same as if it were searched alone.

The rule is Tensor2Tensor's. Each step takes the 2M best extensions of a sentence's M beams. Extensions by `</s>` become
finished hypotheses, ranked by log probability over a length penalty; the M best of the others are the next live beams.
The search of a sentence ends when no continuation of its live beams can outrank the worst of the `n_best` finished
hypotheses; so ending early changes no result.

Row `b * M + m` of a search (R = B * M rows) is beam m of sentence b.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import UserError
from nmtcore.inference.greedy import greedy_search
from nmtcore.inference.hypotheses import (
    Decoder,
    Hypothesis,
    diverged,
    length_penalty,
    log_probabilities,
    never_generated,
)
from nmtcore.inference.topk import Extensions, best_extensions
from nmtcore.segmentation.vocabulary import BOS, EOS

SKIP_RANKING = True
"""Whether finished hypotheses are ranked, on a CPU, only after steps in which some ended; for tests."""


@torch.inference_mode()
def beam_search(
    model: Decoder,
    encoded: Any,
    settings: DecodingSettings,
    *,
    limits_B: Tensor,
    n_best: int = 1,
    scores: bool = True,
) -> list[list[Hypothesis]]:
    """Search for the best translations of encoded sentences.

    `limits_B` (int64, on the model's device) is the largest number of tokens of each sentence, without `</s>`. A beam
    that reaches it is finished with `</s>`, at the model's probability for it, even if another token is likelier.

    Returns at most `n_best` different hypotheses per sentence, best first (fewer only if fewer exist). `beam: 1` is
    greedy search: the likeliest token at each step up to the first `</s>`; without `scores`, it is faster. Raises
    `DivergedError` if probabilities are NaN.
    """
    if not 1 <= n_best <= settings.beam:
        raise UserError(
            f"{n_best} hypotheses per sentence were requested, but the beam has {settings.beam}: use a wider beam."
        )
    if settings.beam == 1:
        return [
            [hypothesis] for hypothesis in greedy_search(model, encoded, settings, limits_B=limits_B, scores=scores)
        ]
    search = _Search(model, encoded, settings, limits_B, n_best)
    while len(search.sentence_B):
        search.step()
    results = search.results()
    if not all(results):
        raise diverged()
    return results


class _Finished(NamedTuple):
    """The N best finished hypotheses of each sentence, best first; where there are fewer, the scores are -inf."""

    score_BN: Tensor
    log_probability_BN: Tensor
    length_BN: Tensor
    """Tokens, without `</s>`."""
    tokens_BNT: Tensor
    """Tokens, without `<s>`; undefined from a hypothesis' length on."""

    def padded(self, length: int) -> "_Finished":
        """Make room for hypotheses of `length` tokens."""
        return self._replace(tokens_BNT=F.pad(self.tokens_BNT, (0, length - self.tokens_BNT.shape[2])))

    def of_sentences(self, rows: Tensor) -> "_Finished":
        """Select sentences by their indices."""
        return _Finished(*(values.index_select(0, rows) for values in self))

    def hypotheses(self) -> list[list[Hypothesis]]:
        """Copy the hypotheses of every sentence to the host."""
        return [
            [
                Hypothesis(tokens=tuple(tokens[:length]), score=score, log_probability=log_probability)
                for score, log_probability, length, tokens in zip(*columns, strict=True)
                if score > -math.inf
            ]
            for columns in zip(*(values.tolist() for values in self), strict=True)
        ]


class _Search:
    """The undecided sentences of a batch, and the results of the decided ones.

    The host waits for the device once per step, in `_advance`.
    """

    def __init__(self, model: Decoder, encoded: Any, settings: DecodingSettings, limits_B: Tensor, n_best: int) -> None:
        self.model, self.settings = model, settings
        self.state = model.start(encoded)
        sentences, device = len(limits_B), limits_B.device
        self.sentence_B = torch.arange(sentences, device=device)
        """The index of each undecided sentence in the batch."""
        self.never_generated = never_generated(device)
        self.limit_B, self.limits = limits_B, frozenset(limits_B.tolist())
        self.log_probability_BM = torch.zeros(sentences, 1, device=device)
        """Log probabilities of the live beams, in descending order."""
        self.tokens_BMT = torch.full((sentences, 1, 1), BOS, device=device)
        lowest_BN = torch.full((sentences, n_best), -torch.inf, device=device)
        length_BN = torch.zeros(sentences, n_best, dtype=torch.int64, device=device)
        self.finished = _Finished(lowest_BN, lowest_BN, length_BN, length_BN.new_zeros(sentences, n_best, 0))
        self.decided: list[tuple[Tensor, _Finished]] = []
        """Indices of decided sentences in the batch, and their results."""

    @property
    def length(self) -> int:
        """Tokens of every live beam, without `<s>`."""
        return self.tokens_BMT.shape[2] - 1

    def step(self) -> None:
        """Extend every beam by one token, finish the beams that end, and drop the decided sentences."""
        extensions = self._extensions(2 * self.settings.beam)
        ended_BC = extensions.token_BC == EOS
        self._finish(extensions, ended_BC)
        live = self._live(extensions, ended_BC)
        self._advance(live, self._decided(live.log_probability_BC) | (self.limit_B <= self.length))

    def results(self) -> list[list[Hypothesis]]:
        """Return the finished hypotheses of every sentence, once all are decided."""
        if not self.decided:
            return []
        sentences, parts = zip(*self.decided, strict=True)
        finished = _joined([part.padded(self.length) for part in parts], dim=0)
        by_sentence = dict(zip(torch.cat(sentences).tolist(), finished.hypotheses(), strict=True))
        return [by_sentence[b] for b in range(len(by_sentence))]

    def _extensions(self, count: int) -> Extensions:
        """Find the `count` best extensions of the live beams.

        At its length limit a sentence has one extension per beam, by `</s>`; the other candidates are at -inf.
        """
        sentences, beams = self.log_probability_BM.shape
        logits_RV = self.model.step(self.tokens_BMT[:, :, -1].flatten(), self.state)
        next_RV = log_probabilities(logits_RV).index_fill_(1, self.never_generated, -torch.inf)
        next_BMV = next_RV.view(sentences, beams, -1)
        extensions = best_extensions(self.log_probability_BM, next_BMV, count=count)
        return self._only_ends(extensions, next_BMV[:, :, EOS]) if self.length in self.limits else extensions

    def _only_ends(self, extensions: Extensions, end_BM: Tensor) -> Extensions:
        """Replace the extensions of sentences at their limit; `end_BM` has the log probability of `</s>`."""
        full_B1 = (self.limit_B == self.length)[:, None]
        room = extensions.token_BC.shape[1] - end_BM.shape[1]
        log_probability_BC = F.pad(self.log_probability_BM + end_BM, (0, room), value=-torch.inf)
        beam_C = F.pad(torch.arange(end_BM.shape[1], device=end_BM.device), (0, room))
        return Extensions(
            log_probability_BC=torch.where(full_B1, log_probability_BC, extensions.log_probability_BC),
            beam_BC=torch.where(full_B1, beam_C, extensions.beam_BC),
            token_BC=extensions.token_BC.masked_fill(full_B1, EOS),
        )

    def _live(self, extensions: Extensions, ended_BC: Tensor) -> Extensions:
        """Choose the best extensions that do not end: the next live beams."""
        live_BC = extensions.log_probability_BC.masked_fill(ended_BC, -torch.inf)
        log_probability_BM, best_BM = live_BC.topk(min(self.settings.beam, live_BC.shape[1]), dim=1)
        return Extensions(
            log_probability_BC=log_probability_BM,
            beam_BC=extensions.beam_BC.gather(1, best_BM),
            token_BC=extensions.token_BC.gather(1, best_BM),
        )

    def _finish(self, extensions: Extensions, ended_BC: Tensor) -> None:
        """Put the candidates that ended with a high enough score among the finished hypotheses."""
        may_skip = SKIP_RANKING and ended_BC.device.type == "cpu"  # elsewhere, the host would wait for the answers
        if may_skip and not ended_BC.any():
            return
        score_BC = extensions.log_probability_BC / length_penalty(self.settings, self.length + 1.0)
        good_BC = ended_BC & (score_BC > self.finished.score_BN[:, -1:])
        if may_skip and not good_BC.any():
            return
        ended = _Finished(
            score_BN=score_BC.masked_fill(~good_BC, -torch.inf),
            log_probability_BN=extensions.log_probability_BC,
            length_BN=torch.full_like(extensions.token_BC, self.length),
            tokens_BNT=_of_beams(self.tokens_BMT[:, :, 1:], extensions.beam_BC),
        )
        every = _joined([self.finished.padded(self.length), ended], dim=1)
        # Stable: of equal scores, the first to finish is the better.
        best_BN = every.score_BN.sort(dim=1, descending=True, stable=True).indices[:, : self.finished.score_BN.shape[1]]
        values = (values.gather(1, best_BN) for values in every[:3])
        self.finished = _Finished(*values, tokens_BNT=_of_beams(every.tokens_BNT, best_BN))

    def _decided(self, log_probability_BM: Tensor) -> Tensor:
        """Mark the sentences (B) in which no live beam can become one of the best hypotheses.

        A beam with log probability s ends with a score of at most s over the largest penalty still ahead. Penalties
        are monotonic in the length, so the largest is the penalty either of the limit or of the next length.
        """
        at_limit_B = length_penalty(self.settings, (self.limit_B + 1).to(log_probability_BM.dtype))
        largest_B = at_limit_B.clamp_min(length_penalty(self.settings, self.length + 2.0))
        return log_probability_BM[:, 0] / largest_B <= self.finished.score_BN[:, -1]

    def _advance(self, chosen: Extensions, decided_B: Tensor) -> None:
        """Make the chosen extensions the live beams (M = C) of the undecided sentences; drop all other sentences."""
        moves_B = self._moves(chosen.beam_BC) & ~decided_B
        decided, moves = torch.stack([decided_B, moves_B]).tolist()
        if any(decided):
            chosen = self._drop(decided, chosen)
        if not len(self.sentence_B):
            return
        if any(moves):
            self.tokens_BMT = _of_beams(self.tokens_BMT, chosen.beam_BC)
            self.state.reorder(chosen.beam_BC)
        self.log_probability_BM = chosen.log_probability_BC
        self.tokens_BMT = torch.cat([self.tokens_BMT, chosen.token_BC[:, :, None]], dim=2)

    def _moves(self, beam_BM: Tensor) -> Tensor:
        """Mark the sentences (B) of which some beam does not continue itself."""
        before, beams = self.tokens_BMT.shape[1], beam_BM.shape[1]
        if before != beams:
            return torch.ones_like(self.sentence_B, dtype=torch.bool)
        return (beam_BM != torch.arange(beams, device=beam_BM.device)).any(dim=1)

    def _drop(self, decided: list[bool], chosen: Extensions) -> Extensions:
        """Move the decided sentences to the results; return the chosen extensions of the others."""
        decided_rows, undecided = self._rows(decided), self._rows([not flag for flag in decided])
        self.decided.append((self.sentence_B[decided_rows], self.finished.of_sentences(decided_rows)))
        self.sentence_B, self.limit_B = self.sentence_B[undecided], self.limit_B[undecided]
        self.finished, self.tokens_BMT = self.finished.of_sentences(undecided), self.tokens_BMT[undecided]
        if len(undecided):
            self.state.keep(undecided)
        return Extensions(*(values_BC[undecided] for values_BC in chosen))

    def _rows(self, flags: list[bool]) -> Tensor:
        """List the rows with a true flag, in a tensor on the device; the host does not wait for the copy."""
        rows = torch.tensor([row for row, flag in enumerate(flags) if flag], dtype=torch.int64)
        return rows.to(self.limit_B.device, non_blocking=True)


def _of_beams(tokens_BMT: Tensor, beam_BC: Tensor) -> Tensor:
    """Select the tokens of beams: (B, M, T) and (B, C) to (B, C, T)."""
    return tokens_BMT.gather(1, beam_BC[:, :, None].expand(-1, -1, tokens_BMT.shape[2]))


def _joined(parts: Sequence[_Finished], *, dim: int) -> _Finished:
    return _Finished(*(torch.cat(values, dim=dim) for values in zip(*parts, strict=True)))
