"""A model given by a table of logits, and reference searches that are simple enough to be obviously right."""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.inference.search import NEVER_GENERATED
from nmtcore.segmentation.vocabulary import BOS, EOS

NextToken = Callable[[tuple[int, ...]], Tensor]
"""Maps a prefix (without `<s>`) to the log probabilities (V) of the next token."""


class TableState:
    def __init__(self, sentences: Tensor) -> None:
        self.sentences = sentences
        self.prefixes = torch.zeros(len(sentences), 1, 0, dtype=torch.int64)

    def select(self, beams_BM: Tensor, sentences_B: Tensor | None = None) -> None:
        if sentences_B is not None:
            self.sentences, self.prefixes = self.sentences[sentences_B], self.prefixes[sentences_B]
        self.prefixes = torch.stack([rows[beams_M] for rows, beams_M in zip(self.prefixes, beams_BM, strict=True)])


class TableModel:
    """Random logits for every sentence and every prefix; prefixes share logits by a hash."""

    def __init__(self, *, sentences: int, vocabulary: int, seed: int, histories: int = 97, sharpness: float = 2.0):
        generator = torch.Generator().manual_seed(seed)
        size = (sentences, histories, vocabulary)
        self.table = torch.randn(size, generator=generator, dtype=torch.float64) * sharpness
        self.steps = 0

    def start(self, encoded: Sequence[int]) -> TableState:
        return TableState(torch.tensor(encoded))

    def step(self, tokens_Z: Tensor, state: TableState) -> Tensor:
        self.steps += 1
        sentences = len(state.sentences)
        state.prefixes = torch.cat([state.prefixes, tokens_Z.view(sentences, -1, 1)], dim=2)
        weights = 3 ** torch.arange(state.prefixes.shape[2]) % 1009
        histories = (state.prefixes * weights).sum(dim=2) % self.table.shape[1]
        return self.table[state.sentences[:, None], histories].flatten(0, 1)

    def next_token(self, sentence: int) -> NextToken:
        @cache
        def log_probabilities(prefix: tuple[int, ...]) -> Tensor:
            state = self.start([sentence])
            for token in (BOS, *prefix):
                logits = self.step(torch.tensor([token]), state)
            return logits[0].log_softmax(dim=0)

        return log_probabilities


def penalty(settings: DecodingSettings, n: int) -> float:
    """The length penalty of n tokens, `</s>` included."""
    if settings.length_penalty == "gnmt":
        return ((5 + n) / 6) ** settings.alpha
    return n**settings.alpha if settings.length_penalty == "fairseq" else 1.0


def words_of(vocabulary: int) -> list[int]:
    return [token for token in range(vocabulary) if token not in NEVER_GENERATED and token != EOS]


Ranking = list[tuple[float, tuple[int, ...]]]
"""Scores and tokens, best first."""


def enumerate_all(next_token: NextToken, settings: DecodingSettings, *, limit: int, vocabulary: int) -> Ranking:
    """Score every sequence of at least `settings.min_length` and at most `limit` tokens."""
    scored = []
    for length in range(settings.min_length, limit + 1):
        for tokens in product(words_of(vocabulary), repeat=length):
            total = sum(float(next_token(tokens[:i])[token]) for i, token in enumerate((*tokens, EOS)))
            scored.append((total / penalty(settings, length + 1), tokens))
    return sorted(scored, reverse=True)


def simple_beam(next_token: NextToken, settings: DecodingSettings, *, limit: int, vocabulary: int) -> Ranking:
    """Search one sentence up to its limit, without ending early."""
    live, finished = [(0.0, ())], []
    for length in range(limit + 1):
        words, end = words_of(vocabulary) * (length < limit), [EOS] * (length >= settings.min_length)
        allowed = [*words, *end]
        extended = []
        for total, tokens in live:
            after = next_token(tokens)
            extended += [(total + float(after[token]), tokens, token) for token in allowed]
        best = sorted(extended, reverse=True)[: 2 * settings.beam]
        finished += [(total / penalty(settings, length + 1), tokens) for total, tokens, token in best if token == EOS]
        live = [(total, (*tokens, token)) for total, tokens, token in best if token != EOS][: settings.beam]
    return sorted(finished, reverse=True)[: settings.beam]


def simple_greedy(next_token: NextToken, *, least: int, limit: int, vocabulary: int) -> tuple[int, ...]:
    """Take the likeliest token until it is `</s>`, after `least` others, or the limit is reached."""
    tokens: tuple[int, ...] = ()
    while len(tokens) < limit:
        after = next_token(tokens)
        allowed = [*words_of(vocabulary), *[EOS] * (len(tokens) >= least)]
        best = max(allowed, key=lambda token: float(after[token]))
        if best == EOS:
            break
        tokens = (*tokens, best)
    return tokens
