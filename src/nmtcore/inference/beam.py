"""Beam search for a batch of sentences; the result for each is the same as if it were searched alone.

The rule is Tensor2Tensor's. Each step takes the 2M best extensions of a sentence's M beams. Extensions by `</s>` become
finished hypotheses, ranked by log probability over a length penalty; the M best of the others are the next live beams.
The search of a sentence ends when no continuation of its live beams can outrank the worst of the `n_best` finished
hypotheses; so ending early changes no result.

The model runs on its device, and its best extensions are found there. All that follows is arithmetic with a few numbers
per beam, which NumPy does on the host. Row `b * M + m` of a search (R = B * M rows) is beam m of sentence b.
"""

import math
from bisect import insort
from typing import Any, NamedTuple

import numpy as np
import torch
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
    to_host,
)
from nmtcore.inference.topk import Extensions, best_extensions
from nmtcore.segmentation.vocabulary import BOS, EOS

HostExtensions = Extensions[np.ndarray]


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
    results = search.finished.hypotheses(search.history)
    if not all(results):
        raise diverged()
    return results


class _Step(NamedTuple):
    """The live beams after a step."""

    sentence_B: np.ndarray
    """The sentences that were undecided, by their indices in the batch."""
    parent_BM: np.ndarray
    """The beam of the step before that each beam continues."""
    token_BM: np.ndarray
    """The token by which it does."""


class _Ending(NamedTuple):
    """A finished hypothesis: where it ended."""

    score: float
    log_probability: float
    length: int
    """Tokens, without `</s>`."""
    beam: int
    """The beam that ended, as it was numbered when it had these tokens."""


class _Finished:
    """The N best finished hypotheses of all A sentences."""

    def __init__(self, sentences: int, n_best: int) -> None:
        self.n_best = n_best
        self.endings: list[list[_Ending]] = [[] for _ in range(sentences)]
        """Per sentence, best first."""
        self.worst_A = np.full(sentences, -math.inf)
        """The N-th best score, -inf where there are fewer."""

    def add(self, sentence: int, ending: _Ending) -> None:
        """Rank an ending among those of its sentence; of equal scores, the first is the better."""
        endings = self.endings[sentence]
        insort(endings, ending, key=lambda other: -other.score)
        del endings[self.n_best :]
        if len(endings) == self.n_best:
            self.worst_A[sentence] = endings[-1].score

    def hypotheses(self, history: list[_Step]) -> list[list[Hypothesis]]:
        """Follow each hypothesis (F of all sentences) from its end to its beginning; return those of every sentence."""
        every = [(sentence, ending) for sentence, endings in enumerate(self.endings) for ending in endings]
        sentence_F = np.array([sentence for sentence, _ in every], dtype=np.int64)
        length_F = np.array([ending.length for _, ending in every], dtype=np.int64)
        beam_F = np.array([ending.beam for _, ending in every], dtype=np.int64)
        tokens_FT = np.zeros((len(every), len(history)), dtype=np.int64)
        row_A = np.empty(len(self.endings), dtype=np.int64)
        for position, step in reversed(list(enumerate(history))):
            row_A[step.sentence_B] = np.arange(len(step.sentence_B))
            longer = np.flatnonzero(length_F > position)
            rows, beams = row_A[sentence_F[longer]], beam_F[longer]
            tokens_FT[longer, position] = step.token_BM[rows, beams]
            beam_F[longer] = step.parent_BM[rows, beams]
        results: list[list[Hypothesis]] = [[] for _ in self.endings]
        for (sentence, ending), tokens in zip(every, tokens_FT.tolist(), strict=True):
            hypothesis = Hypothesis(
                tokens=tuple(tokens[: ending.length]), score=ending.score, log_probability=ending.log_probability
            )
            results[sentence].append(hypothesis)
        return results


class _Search:
    """The undecided sentences of a batch, and the finished hypotheses of all.

    The host waits for the device once per step, for the best extensions.
    """

    def __init__(self, model: Decoder, encoded: Any, settings: DecodingSettings, limits_B: Tensor, n_best: int) -> None:
        self.model, self.settings, self.device = model, settings, limits_B.device
        self.state = model.start(encoded)
        self.never_generated = never_generated(self.device)
        self.limit_B = np.array(limits_B.tolist(), dtype=np.int64)
        self.limits = frozenset(self.limit_B.tolist())
        self.limit_penalty_B = length_penalty(settings, self.limit_B + 1.0)
        sentences = len(self.limit_B)
        self.sentence_B = np.arange(sentences)
        """The index of each undecided sentence in the batch."""
        self.log_probability_BM = torch.zeros(sentences, 1, device=self.device)
        """Log probabilities of the live beams, in descending order."""
        self.newest_R = torch.full((sentences,), BOS, device=self.device)
        """The last tokens of the live beams."""
        self.dtype = self.log_probability_BM.dtype
        """The type of the model's log probabilities; the host computes in float64."""
        self.finished = _Finished(sentences, n_best)
        self.history: list[_Step] = []

    @property
    def length(self) -> int:
        """Tokens of every live beam, without `<s>`."""
        return len(self.history)

    def step(self) -> None:
        """Extend every beam by one token, finish the beams that end, and drop the decided sentences."""
        extensions = self._extensions(2 * self.settings.beam)
        ended_BC = extensions.token_BC == EOS
        live = extensions
        if ended_BC.any():
            self._finish(extensions, ended_BC)
            live = _live_first(extensions, ended_BC)
        live = HostExtensions(*(values_BC[:, : self.settings.beam] for values_BC in live))
        self._advance(live, self._decided(live.log_probability_BC[:, 0]))

    def _extensions(self, count: int) -> HostExtensions:
        """Find the `count` best extensions of the live beams, best first.

        At its length limit a sentence has one extension per beam, by `</s>`; the other candidates are at -inf.
        """
        sentences, beams = self.log_probability_BM.shape
        logits_RV = self.model.step(self.newest_R, self.state)
        next_RV = log_probabilities(logits_RV).index_fill_(1, self.never_generated, -torch.inf)
        next_BMV, self.dtype = next_RV.view(sentences, beams, -1), next_RV.dtype
        extensions = best_extensions(self.log_probability_BM, next_BMV, count=count)
        if self.length not in self.limits:
            return HostExtensions(*to_host(*extensions))
        *extensions, end_BM = to_host(*extensions, self.log_probability_BM + next_BMV[:, :, EOS])
        return self._only_ends(HostExtensions(*extensions), end_BM)

    def _only_ends(self, extensions: HostExtensions, end_BM: np.ndarray) -> HostExtensions:
        """Replace the extensions of sentences at their limit; `end_BM` has the log probability of ending each beam."""
        full_B, beams = self.limit_B == self.length, end_BM.shape[1]
        log_probability_BC, beam_BC, token_BC = extensions
        log_probability_BC[full_B, :beams], log_probability_BC[full_B, beams:] = end_BM[full_B], -math.inf
        beam_BC[full_B, :beams], beam_BC[full_B, beams:] = np.arange(beams), 0
        token_BC[full_B] = EOS
        return extensions

    def _finish(self, extensions: HostExtensions, ended_BC: np.ndarray) -> None:
        """Put the candidates that ended with a high enough score among the finished hypotheses."""
        score_BC = extensions.log_probability_BC / length_penalty(self.settings, self.length + 1.0)
        good_BC = ended_BC & (score_BC > self.finished.worst_A[self.sentence_B, None])
        for row, candidate in zip(*np.nonzero(good_BC), strict=True):
            ending = _Ending(
                score=float(score_BC[row, candidate]),
                log_probability=float(extensions.log_probability_BC[row, candidate]),
                length=self.length,
                beam=int(extensions.beam_BC[row, candidate]),
            )
            self.finished.add(self.sentence_B[row], ending)

    def _decided(self, best_B: np.ndarray) -> np.ndarray:
        """Mark the sentences (B) that are at their limit, or have no live beam that can become one of the best.

        A beam with log probability s ends with a score of at most s over the largest penalty still ahead. Penalties
        are monotonic in the length, so the largest is the penalty either of the limit or of the next length.
        """
        largest_B = np.maximum(self.limit_penalty_B, length_penalty(self.settings, self.length + 2.0))
        return (best_B / largest_B <= self.finished.worst_A[self.sentence_B]) | (self.limit_B <= self.length)

    def _advance(self, live: HostExtensions, decided_B: np.ndarray) -> None:
        """Make the chosen extensions the live beams of the undecided sentences (M = C); drop all other sentences."""
        kept_B = None
        if decided_B.any():
            kept_B = np.flatnonzero(~decided_B)
            live = HostExtensions(*(values_BM[kept_B] for values_BM in live))
            self.sentence_B, self.limit_B = self.sentence_B[kept_B], self.limit_B[kept_B]
            self.limit_penalty_B = self.limit_penalty_B[kept_B]
        if not len(self.sentence_B):
            return
        self.history.append(_Step(self.sentence_B, live.beam_BC, live.token_BC))
        self.state.select(self._on_device(live.beam_BC), None if kept_B is None else self._on_device(kept_B))
        self.log_probability_BM = self._on_device(live.log_probability_BC).to(self.dtype)
        self.newest_R = self._on_device(live.token_BC).flatten()

    def _on_device(self, values: np.ndarray) -> Tensor:
        """Copy an array to the device; the host does not wait for the copy."""
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device, non_blocking=True)


def _live_first(extensions: HostExtensions, ended_BC: np.ndarray) -> HostExtensions:
    """Put the extensions that do not end before those that do, which get a log probability of -inf."""
    rows = np.flatnonzero(ended_BC.any(axis=1))
    order = np.argsort(ended_BC[rows], axis=1, kind="stable")
    log_probability_BC = np.where(ended_BC, -math.inf, extensions.log_probability_BC)
    result = HostExtensions(log_probability_BC, extensions.beam_BC.copy(), extensions.token_BC.copy())
    for values_BC in result:
        values_BC[rows] = values_BC[rows[:, None], order]
    return result
