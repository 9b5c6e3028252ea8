"""Attention of the decoder to embeddings of tags, before the output layer (aycock2021, section 3.2.1)."""

import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.bases import BaseSettings
from nmtcore.config.components.target_tags import TagAttentionSettings
from nmtcore.model.components.base import Context, LabelVocabularies
from nmtcore.model.components.target_tags import TargetTags


class TagAttention(TargetTags):
    r"""Adds the mean embedding of the predicted tags to the decoder's states x, of which words are predicted.

    T and S are two tables of embeddings of the tags (aycock2021, equations 3.11 to 3.16):

    .. math::

        a = \operatorname{softmax}(T W_1 x), \qquad
        c = \sum_{\mathrm{tag}} a_{\mathrm{tag}} S_{\mathrm{tag}}, \qquad
        x' = x + W_2 c

    The tag loss is that of the probabilities a. With `choice: hard`, c is the embedding of the likeliest tag alone,
    with `gumbel` in training that of a sampled one.
    """

    def __init__(
        self,
        settings: TagAttentionSettings,
        *,
        name: str,
        model: BaseSettings,
        labels: LabelVocabularies | None = None,
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        tags = len(self.tag_names)
        self.query = nn.Linear(model.width, settings.width, bias=False)
        """W1."""
        self.keys = nn.Embedding(tags, settings.width)
        """T."""
        self.values = nn.Embedding(tags, settings.width)
        """S."""
        self.output = nn.Linear(settings.width, model.width, bias=False)
        """W2."""

    def change_output(self, states: Tensor, context: Context) -> Tensor:
        """Add the embedding of the tags that the states predict."""
        scores = F.linear(self.query(states), self.keys.weight)
        context.notes[self.name] = scores
        return states + self.output(self._chosen(scores))

    def _chosen(self, scores: Tensor) -> Tensor:
        """Return the mean embedding of the tags, or that of one tag, given their scores: (..., L) to (..., F)."""
        if self.settings.choice == "soft":
            return scores.softmax(dim=-1) @ self.values.weight
        if self.settings.choice == "gumbel" and self.training:
            sampled = F.gumbel_softmax(scores, tau=self.settings.temperature, hard=True)
            return sampled @ self.values.weight
        return self.values(scores.argmax(dim=-1))
