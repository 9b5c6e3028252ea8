"""Dependency labels as a part of each source token's embedding (bugliarello2020, after Sennrich and Haddow 2016).

B batch, S source length, D width.
"""

import torch
from torch import Tensor, nn

from nmtcore.config.components.sennrich_haddow import SennrichHaddowSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import Arrays
from nmtcore.model.components.base import Component, Context, Labels
from nmtcore.model.components.source_labels import SYMBOLS, label_ids, vocabulary


class SennrichHaddow(Component):
    """The label's embedding, not scaled, overwrites the last dimensions of the scaled embedding of the token.

    Without a vocabulary of dependency labels it is a `UserError`.
    """

    def __init__(
        self, settings: SennrichHaddowSettings, *, name: str, model: TransformerSettings, labels: Labels | None = None
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        self.labels = len(vocabulary(labels, "deprel", name=name))
        self.embedding = nn.Embedding(self.labels + SYMBOLS, settings.width)

    def on_arrays(self, arrays: Arrays, examples: Examples) -> None:
        """Put the label of every token."""
        ids_BS = label_ids(arrays, examples, "deprel", labels=self.labels, name=self.name)
        arrays.extra[f"{self.name}.labels"] = ids_BS

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Overwrite; positions are added after."""
        labels_BSE = self.embedding(context.extra[f"{self.name}.labels"]).to(embedded_BSD.dtype)
        kept = embedded_BSD.size(-1) - self.embedding.embedding_dim
        return torch.cat([embedded_BSD[..., :kept], labels_BSE], dim=-1)
