"""Syntactically informed self-attention: a biaffine head that is trained to parse (Strubell et al. 2018, section 3.1).

As bugliarello2020 (section 4.2) takes it to subwords. B batch, S source length, W words, H heads, K head width.
"""

import math

import numpy as np
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components.sisa import SisaSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.base import AttentionHooks, Heads, Labels, Stack
from nmtcore.model.components.parser_head import ParserHead


class Sisa(ParserHead):
    """`s_ij = [q_i; 1] U [k_j; 1]`, where `q = leaky(Wq x)` and `k = leaky(Wk x)`; values are the head's own.

    Every piece of a word points to the first piece of its governor, the root's to the root's own first. Those terms
    of `s_ij` that j is not in (the query's bias, the constant) fall out of every softmax, so they are not computed:
    the scores are a dot product of `U' q_i + u` and `k_j`, and the fused kernel stays.
    """

    points_to_root = True

    def __init__(
        self, settings: SisaSettings, *, name: str, model: TransformerSettings, labels: Labels | None = None
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        width = model.width // model.heads
        self.queries = nn.Linear(model.width, width)
        self.keys = nn.Linear(model.width, width)
        self.biaffine = nn.Linear(width, width)

    def initialise(self, kind: str) -> None:
        """Start at scores of about a plain head's size; else nothing divides them, and the head is one-hot at first.

        Assumed: neither paper says how U starts, and the code of bugliarello2020 leaves it as its memory was.
        """
        if kind == "xavier":
            nn.init.xavier_uniform_(self.biaffine.weight, gain=self.biaffine.in_features**-0.5)

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Replace one head's comparison in one layer of the encoder, and watch it."""
        chosen = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(queries_keys=self._queries_keys, observe=self._observe) if chosen else None

    def _queries_keys(self, heads: Heads) -> tuple[Tensor, Tensor]:
        head, slope = self.settings.head, self.settings.slope
        queries_BSK = self.biaffine(F.leaky_relu(self.queries(heads.states_BQD), slope))
        queries_BHSK, keys_BHSK = heads.queries_BHQK.clone(), heads.keys_BHSK.clone()
        # The layer divides by sqrt(K), the biaffine operator does not.
        queries_BHSK[:, head] = queries_BSK * math.sqrt(queries_BSK.size(-1))
        keys_BHSK[:, head] = F.leaky_relu(self.keys(heads.states_BQD), slope)
        return queries_BHSK, keys_BHSK

    def pointed_to(self, arrays: Arrays, examples: Examples) -> np.ndarray | None:
        """Point to the governor's first piece, the root to its own."""
        return self.governor_columns(arrays, examples, of_root=arrays.first_BW)

    def targets(self, arrays: Arrays, examples: Examples) -> np.ndarray | None:
        """Point every piece where its word points."""
        pointed_BW = self.pointed_to(arrays, examples)
        rows, _, words = arrays.words
        return None if pointed_BW is None else pointed_BW[rows, words]

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Take a word's score of itself for that of being a root."""
        scores_WW = log_SS[np.ix_(first_W, first_W)]
        roots_W = scores_WW.diagonal().copy()
        np.fill_diagonal(scores_WW, -np.inf)
        return np.column_stack([roots_W, scores_WW])
