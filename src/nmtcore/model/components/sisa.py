"""Syntactically informed self-attention: a biaffine head that is trained to parse (Strubell et al. 2018, section 3.1).

With subwords, as in bugliarello2020 (section 4.2).
"""

import math

import numpy as np
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components.sisa import SisaSettings
from nmtcore.config.transformer import TransformerSettings
from nmtcore.model.arrays import SideArrays
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, LabelVocabularies, Stack
from nmtcore.model.components.parser_head import ParserHead
from nmtcore.model.pooling import with_root_scores


class Sisa(ParserHead):
    r"""Scores by a biaffine operator U, where x are the layer's states; the head's values are unchanged.

    Strubell et al. 2018, section 3.1 (bugliarello2020 describes it in words), with a leaky ReLU:

    .. math::

        q_i = \operatorname{leaky}(W_q x_i + b_q), \qquad
        k_j = \operatorname{leaky}(W_k x_j + b_k), \qquad
        e_{ij} = [q_i; 1]^\top U [k_j; 1]

    Every subword of a word points to the first subword of its governor; those of a root point to its own first subword.
    The terms of `e_ij` without j (the query's bias, the constant) cancel in the softmax and are not computed. So the
    scores are dot products of `U' q_i + u` and `k_j`, which the fused kernel can compute.
    """

    points_to_root = True

    def __init__(
        self,
        settings: SisaSettings,
        *,
        name: str,
        model: TransformerSettings,
        labels: LabelVocabularies | None = None,
    ) -> None:
        super().__init__(settings, name=name, model=model, labels=labels)
        width = model.width // model.heads
        self.queries = nn.Linear(model.width, width)
        self.keys = nn.Linear(model.width, width)
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
