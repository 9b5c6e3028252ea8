"""A head whose queries and keys come from known labels, not from the tokens (pham2018, section 3.2: Spec).

B batch, S source length, D width, H heads, K head width.
"""

import math

import numpy as np
from torch import Tensor, nn

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components.label_head import LabelHeadSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.base import AttentionHooks, Component, Heads, Labels, Stack
from nmtcore.model.components.source_labels import SYMBOLS, label_ids, vocabulary


class LabelHead(Component):
    """`q_i = Wq l_i`, `k_j = Wk l_j`, where `l` is the embedding of a token's label, scaled by sqrt(D).

    The head's values, and all other heads, come from the token stream. Without a vocabulary of its labels it is a
    `UserError`.
    """

    def __init__(
        self, settings: LabelHeadSettings, *, name: str, model: TransformerSettings, labels: Labels | None = None
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        self.column = _column(settings, labels)
        self.labels = len(vocabulary(labels, self.column, name=name))
        self.embedding = nn.Embedding(self.labels + SYMBOLS, model.width)
        self.queries = nn.Linear(model.width, model.width // model.heads)
        self.keys = nn.Linear(model.width, model.width // model.heads)

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Work in one layer of the encoder."""
        chosen = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(queries_keys=self._queries_keys) if chosen else None

    def on_arrays(self, arrays: Arrays, examples: Examples) -> None:
        """Put the label of every token."""
        ids_BS: np.ndarray = label_ids(arrays, examples, self.column, labels=self.labels, name=self.name)
        arrays.extra[f"{self.name}.labels"] = ids_BS

    def _queries_keys(self, heads: Heads) -> tuple[Tensor, Tensor]:
        embedded_BSD = self.embedding(heads.context.extra[f"{self.name}.labels"])
        embedded_BSD = embedded_BSD * math.sqrt(self.embedding.embedding_dim)
        queries_BHSK, keys_BHSK = heads.queries_BHQK.clone(), heads.keys_BHSK.clone()
        queries_BHSK[:, self.settings.head] = self.queries(embedded_BSD)
        keys_BHSK[:, self.settings.head] = self.keys(embedded_BSD)
        return queries_BHSK, keys_BHSK


def _column(settings: LabelHeadSettings, labels: Labels | None) -> str:
    """Choose the language's own tags for `pos` where there are any, else UPOS."""
    if settings.labels != "pos":
        return settings.labels
    own = (labels or {}).get("source", {}).get("xpos", ())
    return "xpos" if len(own) > len(LABEL_SPECIALS) else "upos"
