"""Components that predict tags of the target's words (aycock2021): the loss and its decay, accuracy, and two models.

Every subword of a word has the word's tag, and `</s>` a tag of its own; a sentence without tags trains its words alone.

Shapes: B sentences, N target tokens, T target.
"""

import numpy as np
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.annotation.labels import NO_LABEL
from nmtcore.config.components import MultitaskSettings, TagAttentionSettings, TargetTagSettings
from nmtcore.config.features import FEATURES
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import BatchArrays, token_label_ids
from nmtcore.model.components.base import Build, Component, Context
from nmtcore.model.linear import Linear, linear
from nmtcore.model.losses import at_least_fp32

END_TAG, START_TAG = "</s>", "<s>"
"""The tags of the symbols; no position has that of `<s>`, which stands for a prefix in other vocabularies."""


class TargetTags(Component[Tensor]):
    r"""Predicts a tag for every target position, with a loss whose weight decays over epochs.

    The loss of the n tags t (aycock2021, equation 3.18) is added to that of translation with a weight that decreases
    from epoch to epoch (equations 3.21 to 3.23; `decay` is 0.65 there, `least` 0.1):

    .. math::

        \mathcal{L} = \mathcal{L}_{\mathrm{words}} - \frac{w}{n} \sum_{i=1}^{n} \log p(t_i \mid y_{<i}, x)

    .. math::

        w = \begin{cases}
            \mathrm{weight} \cdot \mathrm{decay}^{\mathrm{epoch} - 1}
                & \text{if } \mathrm{decay}^{\mathrm{epoch} - 1} > \mathrm{least} \\
            0 & \text{otherwise}
        \end{cases}

    Subclasses note the scores of all tags, (N, L). Raises UserError if the target has no
    vocabulary of these tags.
    """

    def __init__(self, settings: TargetTagSettings, build: Build) -> None:
        super().__init__(settings, build)
        (self.label_column,) = FEATURES[settings.tags].labels
        vocabulary = build.label_vocabulary(self.label_column, side="target")
        self.label_count = len(vocabulary)
        self.tag_names = (*vocabulary, END_TAG, START_TAG)
        self._epoch = 1

    def add_to_batch(self, arrays: BatchArrays) -> None:
        """Add the tag of every real target token, `NO_LABEL` without one, and count the tags.

        Hypotheses, which are decoded again to observe the model, come without features.
        """
        if arrays.target is None or not arrays.target.examples.features:
            return
        tags_BT = token_label_ids(arrays.target, self.label_column, label_count=self.label_count)
        is_word_BT = arrays.target.word_of_column_BS != NO_WORD
        tagged_B1 = ((tags_BT != NO_LABEL) & is_word_BT).any(axis=1, keepdims=True)
        tags_N = np.where(tagged_B1, tags_BT, NO_LABEL)[arrays.target.mask_BS]  # `</s>` has its tag after tagged words
        arrays.extra[f"{self.name}.tags"] = tags_N
        arrays.counts[self.name] = int((tags_N != NO_LABEL).sum())

    def tag_scores(self, context: Context) -> Tensor:
        """Return the log-probabilities of `tag_names`, (N, L), fp32 or float64."""
        return at_least_fp32(self.note(context)).log_softmax(dim=-1)

    def loss(self, context: Context) -> Tensor:
        """Sum the negative log-likelihood of the tags (equation 3.18)."""
        tags_N = context.extra[f"{self.name}.tags"]
        return F.nll_loss(self.tag_scores(context), tags_N, ignore_index=NO_LABEL, reduction="sum")

    def correct_tags(self, context: Context) -> Tensor:
        """Count the tags that are the likeliest at their position."""
        tags_N = context.extra[f"{self.name}.tags"]
        return ((self.note(context).argmax(dim=-1) == tags_N) & (tags_N != NO_LABEL)).sum()

    @property
    def loss_weight(self) -> float:
        """The factor of the tag loss: `weight * decay^(epochs since the first)`, 0 at the end (equation 3.22)."""
        decayed = self.settings.decay ** (self._epoch - 1)
        return self.settings.weight * decayed if decayed > self.settings.least else 0.0

    def begin_epoch(self, epoch: int) -> None:
        """Let the weight decay."""
        self._epoch = epoch


class TagAttention(TargetTags):
    r"""Attention of the decoder to embeddings of tags, before the output layer (aycock2021, section 3.2.1).

    It adds the mean embedding of the predicted tags to the decoder's states x, of which words are predicted.

    T and S are two tables of embeddings of the tags (aycock2021, equations 3.11 to 3.16):

    .. math::

        a = \operatorname{softmax}(T W_1 x), \qquad
        c = \sum_{\mathrm{tag}} a_{\mathrm{tag}} S_{\mathrm{tag}}, \qquad
        x' = x + W_2 c

    The tag loss is that of the probabilities a. With `choice: hard`, c is the embedding of the likeliest tag alone,
    with `gumbel` in training that of a sampled one.
    """

    def __init__(self, settings: TagAttentionSettings, build: Build) -> None:
        super().__init__(settings, build)
        tags = len(self.tag_names)
        self.query = Linear(build.model.width, settings.width, bias=False)
        """W1."""
        self.keys = nn.Embedding(tags, settings.width)
        """T."""
        self.values = nn.Embedding(tags, settings.width)
        """S."""
        self.output = Linear(settings.width, build.model.width, bias=False)
        """W2."""

    def make_neutral(self) -> None:
        """Start with W2 of zeros."""
        nn.init.zeros_(self.output.weight)

    def change_output(self, states: Tensor, context: Context) -> Tensor:
        """Add the embedding of the tags that the states predict."""
        scores = linear(self.query(states), self.keys.weight)
        self.set_note(context, scores)
        return states + self.output(self._chosen(scores))

    def _chosen(self, scores: Tensor) -> Tensor:
        """Return the mean embedding of the tags, or that of one tag, given their scores: (..., L) to (..., F)."""
        if self.settings.choice == "soft":
            return scores.softmax(dim=-1) @ self.values.weight
        if self.settings.choice == "gumbel" and self.training:
            sampled = F.gumbel_softmax(scores, tau=self.settings.temperature, hard=True)
            return sampled @ self.values.weight
        return self.values(scores.argmax(dim=-1))


class Multitask(TargetTags):
    r"""Prediction of tags from the decoder's states, only as a second loss (aycock2021, section 3.2.2).

    The states are x, and tags have a layer of their own (equations 3.24 and 3.25):

    .. math::

        p(t \mid y_{<i}, x) = \operatorname{softmax}(W_2 \tanh (W_1 x + b_1))

    Translation does without it.
    """

    def __init__(self, settings: MultitaskSettings, build: Build) -> None:
        super().__init__(settings, build)
        self.hidden = Linear(build.model.width, settings.hidden)
        self.scores = Linear(settings.hidden, len(self.tag_names), bias=False)

    def change_output(self, states: Tensor, context: Context) -> Tensor:
        """Score the tags, unless this is a step of a search; change nothing."""
        if context.words_BS is not None:
            self.set_note(context, self.scores(self.hidden(states).tanh()))
        return states
