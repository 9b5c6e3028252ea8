"""Dependency labels as part of each source token's embedding (bugliarello2020, after Sennrich and Haddow 2016)."""

import torch
from torch import Tensor, nn

from nmtcore.config.components.sennrich_haddow import SennrichHaddowSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import BatchArrays
from nmtcore.model.components.base import Component, Context, LabelVocabularies
from nmtcore.model.components.token_labels import SYMBOLS, label_vocabulary, token_label_ids


class SennrichHaddow(Component):
    r"""Overwrites the last dimensions of the scaled token embedding with the unscaled embedding of the token's label.

    With the embeddings w of tokens and d of labels, of which the second has `width` dimensions (F), and before
    positions are added (bugliarello2020 describes it in words):

    .. math::

        x_i = [\sqrt{D}\, w_{i, 1 \ldots D - F};\ d_i]

    Raises UserError if the source has no vocabulary of dependency labels.
    """

    def __init__(
        self,
        settings: SennrichHaddowSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: LabelVocabularies | None = None,
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        self.label_count = len(label_vocabulary(labels, "deprel", name=name))
        self.embedding = nn.Embedding(self.label_count + SYMBOLS, settings.width)

    def add_to_batch(self, arrays: BatchArrays, examples: Examples) -> None:
        """Add the label of every token."""
        ids_BS = token_label_ids(arrays.source, "deprel", label_count=self.label_count, name=self.name)
        arrays.extra[f"{self.name}.labels"] = ids_BS

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Overwrite the last dimensions, before positions are added."""
        labels_BSF = self.embedding(context.extra[f"{self.name}.labels"]).to(embedded_BSD.dtype)
        token_width = embedded_BSD.size(-1) - self.embedding.embedding_dim
        return torch.cat([embedded_BSD[..., :token_width], labels_BSF], dim=-1)
