"""A head whose queries and keys come from annotated labels, not from tokens (pham2018, section 3.2: Spec)."""

import math

from torch import Tensor, nn

from nmtcore.annotation.labels import LABEL_SPECIALS
from nmtcore.config.components.label_head import LabelHeadSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.features.examples import Examples
from nmtcore.model.arrays import BatchArrays
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Component, LabelVocabularies, Stack
from nmtcore.model.components.token_labels import SYMBOLS, label_vocabulary, token_label_ids


class LabelHead(Component):
    r"""Makes queries and keys from the embedding l of a token's label, scaled by the root of the model's width D.

    In equation 3.1 of pham2018, labels stand in place of states (section 3.2):

    .. math::

        e_{ij} = \frac{(W_q \sqrt{D}\, l_i + b_q) \cdot (W_k \sqrt{D}\, l_j + b_k)}{\sqrt{E}}

    The head's values, and all other heads, use the tokens' states. Raises UserError if the source has no vocabulary of
    these labels.
    """

    def __init__(
        self,
        settings: LabelHeadSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: LabelVocabularies | None = None,
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        self.label_column = _resolve_pos(settings, labels)
        self.label_count = len(label_vocabulary(labels, self.label_column, name=name))
        self.embedding = nn.Embedding(self.label_count + SYMBOLS, model.width)
        self.queries = nn.Linear(model.width, model.width // model.heads)
        self.keys = nn.Linear(model.width, model.width // model.heads)

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Replace queries and keys in one layer of the encoder."""
        applies = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(queries_keys=self._queries_keys) if applies else None

    def add_to_batch(self, arrays: BatchArrays, examples: Examples) -> None:
        """Add the label of every token."""
        ids_BS = token_label_ids(arrays.source, self.label_column, label_count=self.label_count, name=self.name)
        arrays.extra[f"{self.name}.labels"] = ids_BS

    def _queries_keys(self, inputs: AttentionInputs) -> tuple[Tensor, Tensor]:
        labels_BSD = self.embedding(inputs.context.extra[f"{self.name}.labels"])
        labels_BSD = labels_BSD * math.sqrt(self.embedding.embedding_dim)
        queries_BHQE, keys_BHKE = inputs.queries_BHQE.clone(), inputs.keys_BHKE.clone()
        queries_BHQE[:, self.settings.head] = self.queries(labels_BSD)
        keys_BHKE[:, self.settings.head] = self.keys(labels_BSD)
        return queries_BHQE, keys_BHKE


def _resolve_pos(settings: LabelHeadSettings, labels: LabelVocabularies | None) -> str:
    """Choose the column of the feature files: for `pos` the language-specific tags if there are any, else UPOS."""
    if settings.labels != "pos":
        return settings.labels
    specific = (labels or {}).get("source", {}).get("xpos", ())
    return "xpos" if len(specific) > len(LABEL_SPECIALS) else "upos"
