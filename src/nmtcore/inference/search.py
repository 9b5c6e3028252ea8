"""Greedy and beam search for batches of sentences; the result for each is the same as if it were searched alone.

Greedy search takes the likeliest token at each step, up to the first `</s>`. Beam search follows Tensor2Tensor's rule.
Each step takes the 2M best extensions of a sentence's M beams. Extensions by `</s>` become finished hypotheses, ranked
by log probability over a length penalty; the M best of the others are the next live beams. The search of a sentence
ends when no continuation of its live beams can outrank the worst of the `n_best` finished hypotheses; so ending early
changes no result.

The model runs on its device, and its best extensions are found there. All that follows is arithmetic with a few numbers
per beam, which NumPy does on the host. Row `b * M + m` of a search (Z = B * M rows) is beam m of sentence b.

Shapes: B sentences, C candidates, M beams, T target, V vocabulary, X extensions, Z rows.
"""

import math
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.errors import DivergedError, UserError
from nmtcore.features.examples import Examples
from nmtcore.inference.batches import device_of, in_batches
from nmtcore.model.base import TranslationModel
from nmtcore.model.batch import Batch
from nmtcore.model.components.base import Context
from nmtcore.segmentation.vocabulary import BOS, EOS, PAD, ROOT_ID

NEVER_GENERATED = (PAD, BOS, ROOT_ID)
"""Vocabulary entries that are never generated; `<unk>` may be."""

Number = TypeVar("Number", float, np.ndarray)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hypothesis:
    """One translation: its tokens without `</s>`, and its score."""

    tokens: tuple[int, ...]
    score: float
    """The log probability (natural, `</s>` included) over the length penalty. Greedy search computes it only if it is
    asked for it; otherwise it is NaN."""


def translate_examples(
    model: TranslationModel, examples: Examples, settings: DecodingSettings, *, n_best: int = 1, scores: bool = True
) -> list[list[Hypothesis]]:
    """Return the `n_best` best translations of every source sentence, in order, best first; targets are ignored.

    See `search_batch` for `scores`.
    """
    limits = torch.tensor(length_limits(settings, examples.source.subword_counts.tolist()))

    def work(batch: Batch, rows_B: np.ndarray) -> list[list[Hypothesis]]:
        limits_B = limits[rows_B].to(device_of(model))
        return search_batch(model, model.encode(batch), settings, limits_B=limits_B, n_best=n_best, scores=scores)

    return in_batches(model, replace(examples, target=None), work, sentences=settings.batch_sentences)


@torch.inference_mode()
def search_batch(
    model: TranslationModel,
    context: Context,
    settings: DecodingSettings,
    *,
    limits_B: Tensor,
    n_best: int = 1,
    scores: bool = True,
) -> list[list[Hypothesis]]:
    """Search for the best translations of encoded sentences.

    `limits_B` (int64, on the model's device) is the largest number of tokens of each sentence, without `</s>`, as
    `length_limits` computes it. A beam that reaches it is finished with `</s>`, at the model's probability for it, even
    if another token is likelier. Before `settings.min_length` tokens, `</s>` is not generated, however likely it is;
    the probabilities of other tokens stay as they are.

    Returns at most `n_best` different hypotheses per sentence, best first (fewer only if fewer exist). `beam: 1` is
    greedy search; without `scores`, it is faster, as the likeliest token is that of the largest logit. Raises
    `DivergedError` if probabilities are NaN.
    """
    if not 1 <= n_best <= settings.beam:
        raise UserError(
            f"{n_best} hypotheses per sentence were requested, but the beam has {settings.beam}: use a wider beam."
        )
    if settings.beam == 1:
        return [[hypothesis] for hypothesis in _greedy(model, context, settings, limits_B, scores)]
    beams = _BeamSearch(model, context, settings, limits_B, n_best)
    while len(beams.sentence_B):
        beams.step()
    if not all(beams.finished):
        raise _diverged()
    return beams.finished


def length_penalty(settings: DecodingSettings, length: Number) -> Number:
    """Compute the divisor of the log probability of a hypothesis of `length` tokens, `</s>` included.

    gnmt: ((5 + n) / 6)^alpha, equation 14 of Wu et al. 2016 without coverage. fairseq: n^alpha. none: 1.
    """
    base = {"gnmt": (5 + length) / 6, "fairseq": length * 1.0, "none": length * 0.0 + 1.0}[settings.length_penalty]
    return base**settings.alpha


def length_limits(settings: DecodingSettings, source_lengths: Sequence[int]) -> list[int]:
    """Compute the largest number of tokens per translation: the smallest of the limits, but at least `min_length`.

    Neither the limits nor `source_lengths` count `</s>`, and `source_lengths` do not count the tags of words.
    """
    longest, ratio = settings.max_length, settings.max_length_ratio
    if ratio is None:
        return [longest] * len(source_lengths)
    by_ratio = [max(int(ratio * n) + settings.max_length_extra, settings.min_length) for n in source_lengths]
    return by_ratio if longest is None else [min(longest, limit) for limit in by_ratio]


def log_probabilities(logits_ZV: Tensor) -> Tensor:
    """Compute the log probabilities of the next tokens, in fp32 or better."""
    return torch.log_softmax(logits_ZV, dim=1, dtype=torch.promote_types(logits_ZV.dtype, torch.float32))


def exclude_tokens(values_ZV: Tensor, *, end: bool) -> Tensor:
    """Set the columns of `NEVER_GENERATED`, and with `end` that of `</s>`, to -inf, in place."""
    excluded = (*NEVER_GENERATED, EOS) if end else NEVER_GENERATED
    return values_ZV.index_fill_(1, torch.tensor(excluded, device=values_ZV.device), -torch.inf)


def _diverged() -> DivergedError:
    return DivergedError("The model's probabilities are NaN: its training has diverged.")


def _greedy(
    model: TranslationModel, context: Context, settings: DecodingSettings, limits_B: Tensor, scores: bool
) -> list[Hypothesis]:
    """Return the hypothesis of each sentence. A row of a step (Z) is a sentence that has not ended.

    The host waits for the device once per step, for the new tokens.
    """
    state, limits = model.start(context), limits_B.tolist()
    tokens: list[list[int]] = [[] for _ in limits]
    totals = [0.0] * len(limits)  # log probabilities; without scores sums of logits, to see whether they are finite
    sentences, newest_Z, length = list(range(len(limits))), torch.full_like(limits_B, BOS), 0
    while sentences:
        next_ZV = model.step(newest_Z, state)
        next_ZV = log_probabilities(next_ZV) if scores else next_ZV
        next_ZV = exclude_tokens(next_ZV, end=length < settings.min_length)
        best_Z, newest_Z = next_ZV.max(dim=1)
        columns = torch.stack([newest_Z.double(), best_Z.double(), next_ZV[:, EOS].double()]).tolist()
        live = []
        for row, (sentence, token, best, end) in enumerate(zip(sentences, *columns, strict=True)):
            ends = token == EOS or length == limits[sentence]
            totals[sentence] += end if ends else best
            if not ends:
                tokens[sentence].append(int(token))
                live.append(row)
        length += 1
        if len(live) < len(sentences):
            sentences = [sentences[row] for row in live]
            live_Z = torch.tensor(live, dtype=torch.int64, device=newest_Z.device)
            newest_Z = newest_Z.index_select(0, live_Z)
            if live:
                state.select(torch.zeros_like(live_Z)[:, None], live_Z)
    if not all(map(math.isfinite, totals)):
        raise _diverged()
    return [
        Hypothesis(
            tokens=tuple(ids),
            score=total / length_penalty(settings, len(ids) + 1.0) if scores else math.nan,
        )
        for ids, total in zip(tokens, totals, strict=True)
    ]


def best_extensions(log_probability_BM: Tensor, next_BMV: Tensor, *, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Find the `count` best extensions of each sentence's beams by one token (M * V if there are fewer), best first.

    `log_probability_BM` and `next_BMV` are the log probabilities of the beams and of the next tokens given each beam.
    Returns the log probabilities of the extended beams, which beams they are, and the tokens, each (B, C).
    """
    log_probability_BX = (log_probability_BM[:, :, None] + next_BMV).flatten(1)
    log_probability_BC, index_BC = log_probability_BX.topk(min(count, log_probability_BX.shape[1]), dim=1)
    return log_probability_BC, index_BC // next_BMV.shape[2], index_BC % next_BMV.shape[2]


class _BeamSearch:
    """The live beams of the undecided sentences of a batch, and the finished hypotheses of all sentences."""

    def __init__(
        self, model: TranslationModel, context: Context, settings: DecodingSettings, limits_B: Tensor, n_best: int
    ) -> None:
        self.model, self.settings, self.n_best, self.device = model, settings, n_best, limits_B.device
        self.state, self.limit_B = model.start(context), np.array(limits_B.tolist(), dtype=np.int64)
        sentences = len(self.limit_B)
        self.sentence_B = np.arange(sentences)
        """The index of each undecided sentence in the batch."""
        self.log_probability_BM = np.zeros((sentences, 1))
        """Log probabilities of the live beams, in descending order."""
        self.tokens_BMT = np.full((sentences, 1, 1), BOS)
        """All tokens of the live beams."""
        self.finished: list[list[Hypothesis]] = [[] for _ in range(sentences)]
        """The best finished hypotheses of each sentence, at most `n_best`, best first."""

    def worst_B(self) -> np.ndarray:
        """Return the score of the `n_best`-th finished hypothesis of each undecided sentence, -inf if it has fewer."""
        finished = (self.finished[sentence] for sentence in self.sentence_B)
        return np.array(
            [hypotheses[-1].score if len(hypotheses) == self.n_best else -math.inf for hypotheses in finished]
        )

    def step(self) -> None:
        """Extend every beam by one token, finish the beams that end, and drop the decided sentences."""
        log_probability_BC, beam_BC, token_BC = self._extensions()
        ended_BC = token_BC == EOS
        self._finish(np.where(ended_BC, log_probability_BC, -math.inf), beam_BC)
        # Those that do not end, best first, then those that do.
        order_BM = np.argsort(ended_BC, axis=1, kind="stable")[:, : self.settings.beam]
        live = np.where(ended_BC, -math.inf, log_probability_BC), beam_BC, token_BC
        self._advance(*(np.take_along_axis(values_BC, order_BM, axis=1) for values_BC in live))

    def _extensions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find the best extensions of the live beams, as `best_extensions`, on the host.

        At its length limit a sentence has only those by `</s>`, before the minimum only others; the rest is at -inf.
        """
        newest_Z = self._on_device(self.tokens_BMT[:, :, -1]).flatten()
        length = self.tokens_BMT.shape[2] - 1
        next_ZV = log_probabilities(self.model.step(newest_Z, self.state))
        next_ZV = exclude_tokens(next_ZV, end=length < self.settings.min_length)
        next_BMV = next_ZV.view(*self.log_probability_BM.shape, -1)
        at_limit_B = self.limit_B == length
        if at_limit_B.any():
            is_end_V = torch.arange(next_BMV.shape[2], device=self.device) == EOS
            next_BMV = next_BMV.masked_fill(self._on_device(at_limit_B)[:, None, None] & ~is_end_V, -math.inf)
        log_probability_BM = self._on_device(self.log_probability_BM).to(next_BMV.dtype)
        extensions = best_extensions(log_probability_BM, next_BMV, count=2 * self.settings.beam)
        log_probability_BC, beam_BC, token_BC = (values_BC.cpu().numpy() for values_BC in extensions)
        return log_probability_BC.astype(np.float64), beam_BC, token_BC

    def _finish(self, log_probability_BC: np.ndarray, beam_BC: np.ndarray) -> None:
        """Put candidates that end, those above -inf, among the finished hypotheses if their scores are high enough.

        Of equal scores, the first is the better.
        """
        score_BC = log_probability_BC / length_penalty(self.settings, float(self.tokens_BMT.shape[2]))
        for row, candidate in zip(*np.nonzero(score_BC > self.worst_B()[:, None]), strict=True):
            hypothesis = Hypothesis(
                tokens=tuple(self.tokens_BMT[row, beam_BC[row, candidate], 1:].tolist()),
                score=float(score_BC[row, candidate]),
            )
            finished = self.finished[self.sentence_B[row]]
            insort(finished, hypothesis, key=lambda other: -other.score)
            del finished[self.n_best :]

    def _advance(self, log_probability_BM: np.ndarray, beam_BM: np.ndarray, token_BM: np.ndarray) -> None:
        """Make extensions the live beams of the undecided sentences; drop all other sentences.

        A sentence is decided if it is at its limit, or has no live beam that can become one of the best. A beam with
        log probability s ends with a score of at most s over the largest penalty still ahead. Penalties are monotonic
        in the length, so the largest is the penalty either of the limit or of the next length.
        """
        length = self.tokens_BMT.shape[2]
        penalties = (length_penalty(self.settings, lengths) for lengths in (self.limit_B + 1.0, length + 1.0))
        hopeless_B = log_probability_BM[:, 0] / np.maximum(*penalties) <= self.worst_B()
        kept_B = np.flatnonzero(~(hopeless_B | (self.limit_B < length)))
        dropped = len(kept_B) < len(self.sentence_B)
        self.sentence_B, self.limit_B = self.sentence_B[kept_B], self.limit_B[kept_B]
        if not len(kept_B):
            return
        beam_BM = beam_BM[kept_B]
        tokens_BMT = np.take_along_axis(self.tokens_BMT[kept_B], beam_BM[:, :, None], axis=1)
        self.tokens_BMT = np.concatenate([tokens_BMT, token_BM[kept_B, :, None]], axis=2)
        self.log_probability_BM = log_probability_BM[kept_B]
        self.state.select(self._on_device(beam_BM), self._on_device(kept_B) if dropped else None)

    def _on_device(self, values: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)
