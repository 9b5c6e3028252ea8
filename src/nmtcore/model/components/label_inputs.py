"""Components that read the labels of the source's words: as queries and keys of a head, or as a part of embeddings.

Shapes: B sentences, D width, E head width, F features, H heads, K keys, Q queries, S source.
"""

import math

import torch
from torch import Tensor, nn

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components import LabelHeadSettings, SennrichHaddowSettings
from nmtcore.config.features import LABEL_SYMBOLS
from nmtcore.model.batch import BatchArrays, label_vocabulary, token_label_ids
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Build, Component, Context, Stack
from nmtcore.model.linear import Linear


class LabelInputs(Component):
    """Embeds the label of every token of the source; it stands in a column of the feature files.

    Raises UserError if the source has no vocabulary of such labels.
    """

    def __init__(
        self, settings: LabelHeadSettings | SennrichHaddowSettings, build: Build, *, label_column: str, width: int
    ) -> None:
        super().__init__(settings, build)
        self.label_column = label_column
        self.label_count = len(label_vocabulary(build.labels, self.label_column, name=build.name))
        self.embedding = nn.Embedding(self.label_count + LABEL_SYMBOLS, width)

    def add_to_batch(self, arrays: BatchArrays) -> None:
        """Add the label of every token."""
        ids_BS = token_label_ids(arrays, self.label_column, label_count=self.label_count)
        arrays.extra[f"{self.name}.labels"] = ids_BS

    def embedded(self, context: Context) -> Tensor:
        """Return the embedding of every token's label: (B, S, width)."""
        return self.embedding(context.extra[f"{self.name}.labels"])


class LabelHead(LabelInputs):
    r"""A head whose queries and keys come from annotated labels, not from tokens (pham2018, section 3.2: Spec).

    They are made from the embedding l of a token's label, scaled by the root of the model's width D.

    In equation 3.1 of pham2018, labels stand in place of states (section 3.2):

    .. math::

        e_{ij} = \frac{(W_q \sqrt{D}\, l_i + b_q) \cdot (W_k \sqrt{D}\, l_j + b_k)}{\sqrt{E}}

    The head's values, and all other heads, use the tokens' states.
    """

    def __init__(self, settings: LabelHeadSettings, build: Build) -> None:
        column = settings.labels
        if column == "pos":  # the language-specific tags if there are any
            specific = build.labels.get("source", {}).get("xpos", ())
            column = "xpos" if len(specific) > len(LABEL_SPECIALS) else "upos"
        super().__init__(settings, build, label_column=column, width=build.model.width)
        self.queries = Linear(build.model.width, build.model.width // build.model.heads)
        self.keys = Linear(build.model.width, build.model.width // build.model.heads)

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Replace queries and keys in one layer of the encoder."""
        applies = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(queries_keys=self._queries_keys) if applies else None

    def _queries_keys(self, inputs: AttentionInputs) -> tuple[Tensor, Tensor]:
        labels_BSD = self.embedded(inputs.context) * math.sqrt(self.embedding.embedding_dim)
        queries_BHQE, keys_BHKE = inputs.queries_BHQE.clone(), inputs.keys_BHKE.clone()
        queries_BHQE[:, self.settings.head] = self.queries(labels_BSD)
        keys_BHKE[:, self.settings.head] = self.keys(labels_BSD)
        return queries_BHQE, keys_BHKE


class SennrichHaddow(LabelInputs):
    r"""Dependency labels as part of each source token's embedding (bugliarello2020, after Sennrich and Haddow 2016).

    The last dimensions of the scaled token embedding become the unscaled embedding of the token's label.

    With the embeddings w of tokens and d of labels, of which the second has `width` dimensions (F), and before
    positions are added (bugliarello2020 describes it in words):

    .. math::

        x_i = [\sqrt{D}\, w_{i, 1 \ldots D - F};\ d_i]
    """

    def __init__(self, settings: SennrichHaddowSettings, build: Build) -> None:
        super().__init__(settings, build, label_column="deprel", width=settings.width)

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Overwrite the last dimensions, before positions are added."""
        labels_BSF = self.embedded(context).to(embedded_BSD.dtype)
        return torch.cat([embedded_BSD[..., : -labels_BSF.size(-1)], labels_BSF], dim=-1)
