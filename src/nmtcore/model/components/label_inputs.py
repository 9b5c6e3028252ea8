"""Components that read the labels of the source's words: as queries and keys of a head, or as a part of embeddings.

Shapes: B sentences, D width, E head width, F features, H heads, K keys, Q queries, S source,
W words.
"""

import math

import numpy as np
import torch
from torch import Tensor, nn

from nmtcore.annotation.labels import LABEL_SPECIALS, NO_LABEL
from nmtcore.config.components import FactorsSettings, LabelHeadSettings, SennrichHaddowSettings
from nmtcore.config.features import LABEL_SYMBOLS
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import BatchArrays, token_label_ids
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Build, Component, Context, Stack
from nmtcore.model.linear import Linear
from nmtcore.syntax.random_syntax import random_tags


class LabelHead(Component):
    r"""A head whose queries and keys come from annotated labels, not from tokens (pham2018, section 3.2: Spec).

    They are made from the embedding l of a token's label, scaled by the root of the model's width D.

    In equation 3.1 of pham2018, labels stand in place of states (section 3.2):

    .. math::

        e_{ij} = \frac{(W_q \sqrt{D}\, l_i + b_q) \cdot (W_k \sqrt{D}\, l_j + b_k)}{\sqrt{E}}

    The head's values, and all other heads, use the tokens' states. Raises UserError if the source has no such labels.
    """

    def __init__(self, settings: LabelHeadSettings, build: Build) -> None:
        column = settings.labels
        if column == "pos":  # the language-specific tags if there are any
            specific = build.labels.get("source", {}).get("xpos", ())
            column = "xpos" if len(specific) > len(LABEL_SPECIALS) else "upos"
        super().__init__(settings, build)
        self.label_column, self.label_count = column, len(build.label_vocabulary(column))
        self.embedding = nn.Embedding(self.label_count + LABEL_SYMBOLS, build.model.width)
        self.queries = Linear(build.model.width, build.model.width // build.model.heads)
        self.keys = Linear(build.model.width, build.model.width // build.model.heads)

    def add_to_batch(self, arrays: BatchArrays) -> None:
        """Add the label of every token."""
        arrays.extra[f"{self.name}.labels"] = token_label_ids(arrays, self.label_column, label_count=self.label_count)

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Replace queries and keys in one layer of the encoder."""
        applies = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(queries_keys=self._queries_keys) if applies else None

    def _queries_keys(self, inputs: AttentionInputs) -> tuple[Tensor, Tensor]:
        ids_BS = inputs.context.extra[f"{self.name}.labels"]
        labels_BSD = self.embedding(ids_BS) * math.sqrt(self.embedding.embedding_dim)
        queries_BHQE, keys_BHKE = inputs.queries_BHQE.clone(), inputs.keys_BHKE.clone()
        queries_BHQE[:, self.settings.head] = self.queries(labels_BSD)
        keys_BHKE[:, self.settings.head] = self.keys(labels_BSD)
        return queries_BHQE, keys_BHKE


class Factors(Component):
    r"""Embeddings of columns of the annotation of each source token (Sennrich and Haddow 2016, section 2.2).

    With the embeddings w of tokens and d^c of the labels in column c, which have F dimensions together, and before
    positions are added, tokens become, to concatenate and to add (with a matrix U of D x F, which is zero at first):

    .. math::

        x_i &= [\sqrt{D}\, w_{i, 1 \ldots D - F};\ d_i^1;\ d_i^2 \ldots] \\
        x_i &= \sqrt{D}\, w_i + U\, [d_i^1;\ d_i^2 \ldots]

    All subwords of a word have its labels. Raises UserError if the source has no labels in a column.
    """

    def __init__(self, settings: FactorsSettings, build: Build) -> None:
        super().__init__(settings, build)
        self.label_counts = {
            column: min(len(build.label_vocabulary(column)), len(LABEL_SPECIALS) + settings.most)
            for column in settings.columns
        }
        # The first is called as that of a model with one factor always was.
        self._names = ["embedding", *(f"embedding_{number}" for number in range(2, len(settings.columns) + 1))]
        for name, (column, width) in zip(self._names, settings.columns.items(), strict=True):
            self.add_module(name, nn.Embedding(self.label_counts[column] + LABEL_SYMBOLS, width))
        if self.settings.combine == "add":
            self.projection = Linear(sum(settings.columns.values()), build.model.width, bias=False)

    def initialise(self, initialisation: str) -> None:
        """Start with a matrix of zeros."""
        if self.settings.combine == "add":
            nn.init.zeros_(self.projection.weight)

    def add_to_batch(self, arrays: BatchArrays) -> None:
        """Add the label of every token in each column; with `random`, drawn ones of all words that have one."""
        words_BS = arrays.word_of_column_BS
        lengths_B = np.full(len(words_BS), words_BS.max(initial=0) + 1)
        for number, (column, count) in enumerate(self.label_counts.items()):
            ids_BS, types = token_label_ids(arrays, column, label_count=count), count - len(LABEL_SPECIALS)
            if self.settings.random:
                drawn_W = random_tags(arrays.ids_B, lengths_B, types=types, seed=number, side="source")
                drawn_BS = np.take_along_axis(drawn_W.reshape(len(words_BS), -1), np.maximum(words_BS, 0), axis=1)
                is_drawn_BS = (words_BS != NO_WORD) & (ids_BS != NO_LABEL)
                ids_BS = np.where(is_drawn_BS, len(LABEL_SPECIALS) + drawn_BS, ids_BS)
            arrays.extra[f"{self.name}.{column}"] = ids_BS

    def embed_source(self, embedded_BSD: Tensor, context: Context) -> Tensor:
        """Overwrite the last dimensions, or add, before positions are added."""
        ids = (context.extra[f"{self.name}.{column}"] for column in self.label_counts)
        parts = [self.get_submodule(name)(ids_BS) for name, ids_BS in zip(self._names, ids, strict=True)]
        labels_BSF = torch.cat(parts, dim=-1)
        if self.settings.combine == "add":
            return embedded_BSD + self.projection(labels_BSF).to(embedded_BSD.dtype)
        return torch.cat([embedded_BSD[..., : -labels_BSF.size(-1)], labels_BSF.to(embedded_BSD.dtype)], dim=-1)


class SennrichHaddow(Factors):
    r"""Dependency labels as part of each source token's embedding (bugliarello2020, after Sennrich and Haddow 2016).

    They are the only factor, with F dimensions (`width`); bugliarello2020 describes this in words:

    .. math::

        x_i = [\sqrt{D}\, w_{i, 1 \ldots D - F};\ d_i]
    """

    def __init__(self, settings: SennrichHaddowSettings, build: Build) -> None:
        super().__init__(settings.factors, build)
