"""Encoder attention heads that are trained to point from word to word (pham2018, chapter 4; Strubell et al. 2018).

By default (pham2018) a word's first subword points to the first subword of another word, and its other subwords point
to its first. The head still takes part in translation.

Shapes: B sentences, E head width, H heads, J subwords, K keys, Q queries, S source, W words.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components import DepParseSettings, ParserHeadSettings, SisaSettings
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import BatchArrays, with_root_scores
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Build, Component, Context, Stack
from nmtcore.model.linear import Linear
from nmtcore.model.losses import at_least_fp32
from nmtcore.segmentation.vocabulary import ROOT_ID
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, NO_COLUMN, NO_GOVERNOR


class ParserHead(Component[Tensor]):
    r"""Supervises one head; subclasses compute the target g(i) of each word's first subword.

    The head's scores e, which also are those of its attention, are compared with the targets by cross-entropy, where C
    are the subwords of the sentence and the artificial root, if there is one. The mean over the n supervised tokens is
    added to the loss of translation, times `weight`:

    .. math::

        \mathcal{L} = \mathcal{L}_{\mathrm{translation}} - \frac{\mathrm{weight}}{n}
        \sum_{i=1}^{n} \log \frac{\exp(e_{i, g(i)})}{\sum_{j \in C} \exp(e_{ij})}
    """

    settings: ParserHeadSettings
    points_from_all = False
    """Whether all subwords of a word point to its target, not only the first."""

    def __init__(self, settings: ParserHeadSettings, build: Build) -> None:
        super().__init__(settings, build)
        self.loss_weight = settings.weight

    def first_subword_targets(self, arrays: BatchArrays) -> np.ndarray | None:
        """Return the column g that the word of each of `arrays.subwords` points to: (J,), `NO_COLUMN` for none.

        Returns None if the examples have no annotation to compute it from.
        """
        raise NotImplementedError

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Observe one layer of the encoder."""
        applies = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(observe=self._observe) if applies else None

    def _observe(self, inputs: AttentionInputs, scores_BHSS: Tensor) -> None:
        self.set_note(inputs.context, scores_BHSS[:, self.settings.head])

    def add_to_batch(self, arrays: BatchArrays) -> None:
        """Add the columns that may be pointed to and, with trees, each token's target."""
        columns_S = np.arange(arrays.tokens_BS.shape[1])
        # A sentence's subwords and this component's prefix, which comes first; neither `</s>` nor another prefix.
        may_be_S = (columns_S >= arrays.offset) | (columns_S < len(self.source_prefix))
        candidates_BS = may_be_S & (columns_S < arrays.ends_B[:, None])
        arrays.extra[f"{self.name}.candidates"] = candidates_BS
        targets_J = self.first_subword_targets(arrays)
        if targets_J is None:
            return
        rows_J, columns_J, words_J = arrays.subwords
        first_J = arrays.first_subword_BW[rows_J, words_J]
        if not self.points_from_all:
            targets_J = np.where((columns_J == first_J) | (targets_J == NO_COLUMN), targets_J, first_J)
        targets_BS = np.full_like(arrays.tokens_BS, NO_COLUMN)
        targets_BS[rows_J, columns_J] = targets_J
        arrays.extra[f"{self.name}.targets"] = targets_BS
        arrays.counts[self.name] = int((targets_J != NO_COLUMN).sum())

    def _log_probabilities_BSS(self, context: Context) -> Tensor:
        """Normalise the scores (fp32 or float64) over the candidates."""
        scores_BSS = at_least_fp32(self.note(context))
        candidates_BS = context.extra[f"{self.name}.candidates"]
        # Not -inf: a sentence without words has no candidates, and its gradients must be finite.
        lowest = torch.finfo(scores_BSS.dtype).min
        return scores_BSS.masked_fill(~candidates_BS.unsqueeze(1), lowest).log_softmax(dim=-1)

    def loss(self, context: Context) -> Tensor:
        """Sum `-log p(target column)` over the supervised tokens, without label smoothing."""
        log_BSS, targets_BS = self._log_probabilities_BSS(context), context.extra[f"{self.name}.targets"]
        return F.nll_loss(log_BSS.flatten(0, 1), targets_BS.flatten(), ignore_index=NO_COLUMN, reduction="sum")

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Read the head's log-probabilities at the words' first subwords."""
        log_BSS = self._log_probabilities_BSS(context).detach().float().cpu().numpy()
        parses = []
        for log_SS, words_S in zip(log_BSS, context.words_BS.cpu().numpy(), strict=True):
            words, columns = np.unique(words_S, return_index=True)
            parses.append(self.word_scores(log_SS, columns[words != NO_WORD]))
        return parses

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Select a sentence's `parse_scores` from its log-probabilities, given the words' first columns."""
        return log_SS[np.ix_(first_W, first_W)]


ROOT_COLUMN = 0
"""The column of `<ROOT>` in every source."""


class GovernorHead(ParserHead):
    """Points to governors. Words without annotation are not supervised.

    The governor of a root is `<ROOT>`, if the component puts it before the source, else the root itself.
    """

    points_to_root = True

    def first_subword_targets(self, arrays: BatchArrays) -> np.ndarray | None:
        """Return the column of the governor's first subword, for a root that of `<ROOT>` or its own."""
        if "governor" not in arrays.examples.features:
            return None
        rows_J, columns_J, words_J = arrays.subwords
        governor_J = arrays.of_words("governor", fill=NO_GOVERNOR)[rows_J, columns_J]
        # Words without annotation point to themselves until the last line.
        targets_J = arrays.first_subword_BW[rows_J, np.where(governor_J < 0, words_J, governor_J)]
        if self.source_prefix:
            targets_J = np.where(governor_J == GOVERNOR_OF_ROOT, ROOT_COLUMN, targets_J)
        return np.where(governor_J == NO_GOVERNOR, NO_COLUMN, targets_J)

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Return the scores of being a root, which are those of `<ROOT>` or of the word itself; then of the words."""
        if self.source_prefix:
            return log_SS[np.ix_(first_W, np.concatenate([[ROOT_COLUMN], first_W]))]
        return with_root_scores(log_SS[np.ix_(first_W, first_W)])


class DepParse(GovernorHead):
    r"""A head that points from each word to its governor (pham2018, section 4.1).

    It puts `<ROOT>` before the source as the governor of the roots, or with `root: itself` nothing.

    A word points to its governor (pham2018, section 4.1.2, which has no equation of its own, and has `<ROOT>`):

    .. math::

        g(i) = \begin{cases}
            \text{the position of <ROOT>, or } i & \text{if word } i \text{ is a root} \\
            \text{the first subword of the governor of } i & \text{otherwise}
        \end{cases}
    """

    def __init__(self, settings: DepParseSettings, build: Build) -> None:
        super().__init__(settings, build)
        self.source_prefix = (ROOT_ID,) if settings.root == "symbol" else ()


class DiagonalParse(ParserHead):
    r"""A head that points from each word to the previous one, as a control for `depparse` (pham2018, section 6.3).

    It supervises all words, without any annotation; the first word points to itself.

    In words (pham2018, section 4.2, which has no equation of its own):

    .. math::

        g(i) = \max(1, i - 1)
    """

    def first_subword_targets(self, arrays: BatchArrays) -> np.ndarray | None:
        """Return the column of the previous word's first subword."""
        rows_J, _, words_J = arrays.subwords
        return arrays.first_subword_BW[rows_J, np.maximum(words_J - 1, 0)]


class Sisa(GovernorHead):
    r"""Syntactically informed self-attention: a biaffine head that is trained to parse (Strubell et al. 2018).

    It scores by a biaffine operator U, where x are the layer's states; the head's values are unchanged (section 3.1,
    with a leaky ReLU; bugliarello2020, section 4.2, describes it in words, with subwords):

    .. math::

        q_i = \operatorname{leaky}(W_q x_i + b_q), \qquad
        k_j = \operatorname{leaky}(W_k x_j + b_k), \qquad
        e_{ij} = [q_i; 1]^\top U [k_j; 1]

    Every subword of a word points to the first subword of its governor; those of a root point to its own first subword.
    The terms of `e_ij` without j (the query's bias, the constant) cancel in the softmax and are not computed. So the
    scores are dot products of `U' q_i + u` and `k_j`.
    """

    points_from_all = True

    def __init__(self, settings: SisaSettings, build: Build) -> None:
        super().__init__(settings, build)
        width = build.model.width // build.model.heads
        self.queries = Linear(build.model.width, width)
        self.keys = Linear(build.model.width, width)
        self.biaffine = Linear(width, width)

    def initialise(self, initialisation: str) -> None:
        """Scale U so that the first scores are about as large as those of a plain head.

        Biaffine scores are not divided by sqrt(E), so without this the head would start nearly one-hot.
        """
        if initialisation == "xavier":
            nn.init.xavier_uniform_(self.biaffine.weight, gain=self.biaffine.in_features**-0.5)

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Replace and observe one head's queries and keys in one layer of the encoder."""
        applies = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(queries_keys=self._queries_keys, observe=self._observe) if applies else None

    def _queries_keys(self, inputs: AttentionInputs) -> tuple[Tensor, Tensor]:
        head, slope = self.settings.head, self.settings.slope
        queries_BQE = self.biaffine(F.leaky_relu(self.queries(inputs.states_BQD), slope))
        queries_BHQE, keys_BHKE = inputs.queries_BHQE.clone(), inputs.keys_BHKE.clone()
        # The layer divides scores by sqrt(E), the biaffine operator does not.
        queries_BHQE[:, head] = queries_BQE * math.sqrt(queries_BQE.size(-1))
        keys_BHKE[:, head] = F.leaky_relu(self.keys(inputs.states_BQD), slope)
        return queries_BHQE, keys_BHKE
