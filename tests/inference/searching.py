"""A model that is a table, and searches so simple that they are seen to be right."""

from collections.abc import Callable, Sequence
from itertools import product

import torch
from torch import Tensor

from nmtcore.config.training import DecodingSettings
from nmtcore.inference.beam import NEVER_GENERATED
from nmtcore.segmentation.vocabulary import BOS, EOS

Next = Callable[[Sequence[int]], Tensor]
"""Gives the log probabilities (V) of what follows a prefix (without `<s>`)."""


class TableState:
    def __init__(self, sentences: Tensor) -> None:
        self.sentences = sentences
        self.prefixes = torch.zeros(len(sentences), 1, 0, dtype=torch.int64)

    def reorder(self, parents_NK: Tensor) -> None:
        self.prefixes = torch.stack([rows[parents] for rows, parents in zip(self.prefixes, parents_NK, strict=True)])

    def keep(self, sentences_N: Tensor) -> None:
        self.sentences, self.prefixes = self.sentences[sentences_N], self.prefixes[sentences_N]


class TableModel:
    """Random logits for every sentence and (by a remainder) every prefix."""

    def __init__(self, *, sentences: int, vocabulary: int, seed: int, histories: int = 97, sharpness: float = 2.0):
        generator = torch.Generator().manual_seed(seed)
        size = (sentences, histories, vocabulary)
        self.table = torch.randn(size, generator=generator, dtype=torch.float64) * sharpness
        self.steps = 0

    def start(self, encoded: Sequence[int]) -> TableState:
        return TableState(torch.tensor(encoded))

    def step(self, tokens_R: Tensor, state: TableState) -> Tensor:
        self.steps += 1
        n = len(state.sentences)
        state.prefixes = torch.cat([state.prefixes, tokens_R.view(n, -1, 1)], dim=2)
        weights = 3 ** torch.arange(state.prefixes.shape[2]) % 1009
        histories = (state.prefixes * weights).sum(dim=2) % self.table.shape[1]
        return self.table[state.sentences[:, None], histories].flatten(0, 1)

    def next(self, sentence: int) -> Next:
        def log_probabilities(prefix: Sequence[int]) -> Tensor:
            state = self.start([sentence])
            for token in (BOS, *prefix):
                logits = self.step(torch.tensor([token]), state)
            return logits[0].log_softmax(dim=0)

        return log_probabilities


def penalty(settings: DecodingSettings, n: int) -> float:
    """The length penalty of n tokens, `</s>` counted."""
    if settings.length_penalty == "gnmt":
        return ((5 + n) / 6) ** settings.alpha
    return n**settings.alpha if settings.length_penalty == "fairseq" else 1.0


def words_of(vocabulary: int) -> list[int]:
    return [token for token in range(vocabulary) if token not in NEVER_GENERATED and token != EOS]


Found = list[tuple[float, tuple[int, ...]]]
"""Score and tokens, best first."""


def enumerate_all(following: Next, settings: DecodingSettings, *, limit: int, vocabulary: int) -> Found:
    """Score every sequence of at most `limit` tokens."""
    found = []
    for length in range(limit + 1):
        for tokens in product(words_of(vocabulary), repeat=length):
            total = sum(float(following(tokens[:i])[token]) for i, token in enumerate((*tokens, EOS)))
            found.append((total / penalty(settings, length + 1), tokens))
    return sorted(found, reverse=True)


def simple_beam(following: Next, settings: DecodingSettings, *, limit: int, vocabulary: int) -> Found:
    """Search one sentence up to its limit, never ending early."""
    live, finished = [(0.0, ())], []
    for length in range(limit + 1):
        allowed = [EOS] if length == limit else [*words_of(vocabulary), EOS]
        extended = []
        for total, tokens in live:
            after = following(tokens)
            extended += [(total + float(after[token]), tokens, token) for token in allowed]
        best = sorted(extended, reverse=True)[: 2 * settings.beam]
        finished += [(total / penalty(settings, length + 1), tokens) for total, tokens, token in best if token == EOS]
        live = [(total, (*tokens, token)) for total, tokens, token in best if token != EOS][: settings.beam]
    return sorted(finished, reverse=True)[: settings.beam]


def simple_greedy(following: Next, *, limit: int, vocabulary: int) -> tuple[int, ...]:
    """Take the likeliest token until it is `</s>` or the limit is reached."""
    tokens: tuple[int, ...] = ()
    while len(tokens) < limit:
        after = following(tokens)
        best = max([*words_of(vocabulary), EOS], key=lambda token: float(after[token]))
        if best == EOS:
            break
        tokens = (*tokens, best)
    return tokens
