"""Encoder attention heads that are trained to point from word to word (pham2018, chapter 4; Strubell et al. 2018).

By default (pham2018) a word's first subword points to the first subword of another word, and its other subwords point
to its first. The head still takes part in translation.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components.settings import ParserHeadSettings, SisaSettings
from nmtcore.features.examples import Examples
from nmtcore.model.batch import BatchArrays, SideArrays, with_root_scores
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Build, Component, Context, Stack
from nmtcore.model.losses import at_least_fp32
from nmtcore.segmentation.vocabulary import ROOT_ID
from nmtcore.syntax.trees import GOVERNOR_OF_ROOT, NO_COLUMN, NO_GOVERNOR


class ParserHead(Component):
    r"""Supervises one head; subclasses compute the target g(i) of each word's first subword.

    The head's scores e, which also are those of its attention, are compared with the targets by cross-entropy, where C
    are the subwords of the sentence and the artificial root, if there is one. The mean over the n supervised tokens is
    added to the loss of translation, times `weight`:

    .. math::

        \mathcal{L} = \mathcal{L}_{\mathrm{translation}} - \frac{\mathrm{weight}}{n}
        \sum_{i=1}^{n} \log \frac{\exp(e_{i, g(i)})}{\sum_{j \in C} \exp(e_{ij})}
    """

    settings: ParserHeadSettings

    def first_subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return the column that each word's first subword points to: (B, W), `NO_COLUMN` without supervision.

        Returns None if the examples have no annotation to compute it from.
        """
        raise NotImplementedError

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Observe one layer of the encoder."""
        applies = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(observe=self._observe) if applies else None

    def _observe(self, inputs: AttentionInputs, scores_BHSS: Tensor) -> None:
        inputs.context.notes[self.name] = scores_BHSS[:, self.settings.head]

    def subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return the column that each of `source.subwords` points to: (J,), else like `first_subword_targets`."""
        targets_BW = self.first_subword_targets(source)
        if targets_BW is None:
            return None
        rows_J, columns_J, words_J = source.subwords
        first_J, targets_J = source.first_subword_BW[rows_J, words_J], targets_BW[rows_J, words_J]
        return np.where((columns_J == first_J) | (targets_J == NO_COLUMN), targets_J, first_J)

    def add_to_batch(self, arrays: BatchArrays, examples: Examples) -> None:
        """Add each word's first subword, the columns that may be pointed to and, with trees, each token's target."""
        arrays.extra[f"{self.name}.first"] = arrays.source.first_subword_BW
        arrays.extra[f"{self.name}.candidates"] = self._candidates_BS(arrays.source)
        targets_J = self.subword_targets(arrays.source)
        if targets_J is None:
            return
        targets_BS = np.full_like(arrays.source.tokens_BS, NO_COLUMN)
        targets_BS[arrays.source.subwords.rows_J, arrays.source.subwords.columns_J] = targets_J
        arrays.extra[f"{self.name}.targets"] = targets_BS
        arrays.counts[self.name] = int((targets_BS != NO_COLUMN).sum())

    def _candidates_BS(self, source: SideArrays) -> np.ndarray:
        """Mark a sentence's subwords and this component's prefix, but neither `</s>` nor prefixes of others."""
        columns_S = np.arange(source.tokens_BS.shape[1])
        return (columns_S >= source.offset - len(self.source_prefix)) & (columns_S < source.ends_B[:, None])

    def _log_probabilities_BSS(self, context: Context) -> Tensor:
        """Normalise the scores (fp32 or float64) over the candidates."""
        scores_BSS = context.notes[self.name]
        scores_BSS = at_least_fp32(scores_BSS)
        candidates_BS = context.extra[f"{self.name}.candidates"]
        # Not -inf: a sentence without words has no candidates, and its gradients must be finite.
        lowest = torch.finfo(scores_BSS.dtype).min
        return scores_BSS.masked_fill(~candidates_BS.unsqueeze(1), lowest).log_softmax(dim=-1)

    def loss(self, context: Context) -> Tensor:
        """Sum `-log p(target column)` over the supervised tokens, without label smoothing."""
        targets_BS = context.extra.get(f"{self.name}.targets")
        if targets_BS is None:
            raise ValueError(f"{self.name} is trained on dependency trees, but the examples have no governors")
        log_BSS = self._log_probabilities_BSS(context)
        return F.nll_loss(log_BSS.flatten(0, 1), targets_BS.flatten(), ignore_index=NO_COLUMN, reduction="sum")

    @property
    def loss_weight(self) -> float:
        """The factor of the mean loss in the objective."""
        return self.settings.weight

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Read the head's log-probabilities at the words' first subwords."""
        log_BSS = self._log_probabilities_BSS(context).detach().float().cpu().numpy()
        first_BW = context.extra[f"{self.name}.first"].cpu().numpy()
        return [
            self.word_scores(log_SS, first_W[first_W != NO_COLUMN])
            for log_SS, first_W in zip(log_BSS, first_BW, strict=True)
        ]

    @staticmethod
    def governor_columns(source: SideArrays, *, root_column: int | np.ndarray) -> np.ndarray | None:
        """Return the column of the first subword of each word's governor: (B, W), `NO_COLUMN` without annotation.

        Roots have `root_column`: one column, or (B, W). Returns None if the examples have no governors.
        """
        governors = source.examples.features.get("governor")
        if governors is None:
            return None
        governor_BW = governors.padded(fill=NO_GOVERNOR, width=source.first_subword_BW.shape[1]).astype(np.int64)
        columns_BW = np.take_along_axis(source.first_subword_BW, np.maximum(governor_BW, 0), axis=1)
        columns_BW = np.where(governor_BW == GOVERNOR_OF_ROOT, root_column, columns_BW)
        return np.where(governor_BW == NO_GOVERNOR, NO_COLUMN, columns_BW)

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Select a sentence's `parse_scores` from its log-probabilities, given the words' first columns."""
        return log_SS[np.ix_(first_W, first_W)]


ROOT_COLUMN = 0
"""The column of `<ROOT>` in every source."""


class DepParse(ParserHead):
    r"""A head that points from each word to its governor (pham2018, section 4.1).

    It puts `<ROOT>` before the source as the governor of the roots. Words without annotation are not supervised.

    A word points to its governor (pham2018, section 4.1.2, which has no equation of its own):

    .. math::

        g(i) = \begin{cases}
            \text{the position of <ROOT>} & \text{if word } i \text{ is a root} \\
            \text{the first subword of the governor of } i & \text{otherwise}
        \end{cases}
    """

    source_prefix = (ROOT_ID,)
    points_to_root = True

    def first_subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return the column of the governor's first subword."""
        return self.governor_columns(source, root_column=ROOT_COLUMN)

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Return the scores of `<ROOT>`, then those of the words."""
        return log_SS[np.ix_(first_W, np.concatenate([[ROOT_COLUMN], first_W]))]


class DiagonalParse(ParserHead):
    r"""A head that points from each word to the previous one, as a control for `depparse` (pham2018, section 6.3).

    It supervises all words, without any annotation; the first word points to itself.

    In words (pham2018, section 4.2, which has no equation of its own):

    .. math::

        g(i) = \max(1, i - 1)
    """

    def first_subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return the column of the previous word's first subword."""
        first_BW = source.first_subword_BW
        previous_BW = np.concatenate([first_BW[:, :1], first_BW[:, :-1]], axis=1)
        return np.where(first_BW == NO_COLUMN, NO_COLUMN, previous_BW)


class Sisa(ParserHead):
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

    points_to_root = True

    def __init__(self, settings: SisaSettings, build: Build) -> None:
        super().__init__(settings, build)
        width = build.model.width // build.model.heads
        self.queries = nn.Linear(build.model.width, width)
        self.keys = nn.Linear(build.model.width, width)
        self.biaffine = nn.Linear(width, width)

    def initialise(self, initialisation: str) -> None:
        """Scale U so that the first scores are about as large as those of a plain head.

        Biaffine scores are not divided by sqrt(E), so without this the head would start nearly one-hot. This is our
        assumption: neither paper describes how U is initialised, and the code of bugliarello2020 does not initialise
        its memory.
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

    def first_subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return the column of the governor's first subword; for a root that of its own."""
        return self.governor_columns(source, root_column=source.first_subword_BW)

    def subword_targets(self, source: SideArrays) -> np.ndarray | None:
        """Return for every subword the target of its word."""
        targets_BW = self.first_subword_targets(source)
        return None if targets_BW is None else targets_BW[source.subwords.rows_J, source.subwords.words_J]

    def word_scores(self, log_SS: np.ndarray, first_W: np.ndarray) -> np.ndarray:
        """Return the scores of being a root, which are the words' scores for themselves, and those of the words."""
        return with_root_scores(log_SS[np.ix_(first_W, first_W)])
