"""Structured attention (tran2018): a distribution over the heads of every source token, learned by translating.

Head selection is the paper's (section 3), in the recurrent model; the tree head does the same in a transformer.

Shapes: B sentences, D width, H heads, M beams, S source.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmtcore.config.components import HeadSelectionSettings, TreeHeadSettings
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import tree_scores
from nmtcore.model.components.base import (
    AttentionHooks,
    AttentionInputs,
    Build,
    Component,
    Context,
    RecurrentComponent,
    RecurrentNote,
    Stack,
)
from nmtcore.model.linear import Linear
from nmtcore.model.losses import at_least_fp32
from nmtcore.model.trees import tree_marginals


@dataclass(kw_only=True)
class SelectedHeads(RecurrentNote):
    """The heads of the source; `source_weights_BSS` is beta, with a row per dependent, and the root on the diagonal."""

    scores_BSS: Tensor
    """phi, with a row per head."""
    heads_BSD: Tensor
    """M: the expected head of each token."""


class HeadSelection(RecurrentComponent[SelectedHeads]):
    r"""Computes phi, beta and M once per sentence, and in each step of the decoder what M adds to the output.

    Scores of token i as the head of token j, from the annotations s of the source (tran2018, equations 6 and 9), are
    those of the edges of dependency trees z, and the score of a token for itself is that of being the root. Their
    marginals (equations 10 to 15, by the matrix-tree theorem) weigh the expected heads, columns m of M (equation 8):

    .. math::

        \phi_{ij} = (W_q s_i) \cdot (W_k s_j), \qquad
        \beta_{ij} = \frac{1}{Z} \sum_{z \ni (i \to j)} \exp \Bigl( \sum_{(k \to l) \in z} \phi_{kl} \Bigr), \qquad
        m_j = \sum_i \beta_{ij} W_v s_i

    With `weights: flat`, the control, beta is a softmax over i; with `hard: true`, it is 1 for the likeliest head, else
    0 (equation 21). In each step of the decoder, its attention alpha over the source, or with `annotations: separate` a
    second attention gamma (equation 19), selects heads, and a gate scales what they add (equations 16 to 20, which have
    no bias b_g):

    .. math::

        d_t = \sum_j \alpha_{tj} m_j \ \text{ or } \ \sum_j \gamma_{tj} m_j, \qquad
        \gamma_{tj} \propto \exp (h_t^\top W_m m_j)

    .. math::

        u_t = \tanh (W [c_t; h_t] + W_d (d_t \odot \sigma(W_g h_t + b_g)))

    With `annotations: one_set`, heads are added to the annotations of the source instead (equation 22, without b_g):

    .. math::

        s'_j = s_j + \sigma(W_g s_j + b_g) \odot m_j
    """

    points_to_root = True

    def __init__(self, settings: HeadSelectionSettings, build: Build) -> None:
        super().__init__(settings, build)
        width = build.model.width
        self.queries, self.keys, self.values = (Linear(width, width, bias=False) for _ in range(3))
        """W_q, W_k and W_v (equation 6)."""
        self.gate = Linear(width, width)
        """W_g (equations 17 and 22)."""
        in_decoder = settings.annotations != "one_set"
        self.into_output = Linear(width, width, bias=False) if in_decoder else None
        self.attention = Linear(width, width, bias=False) if settings.annotations == "separate" else None
        """W_m (equation 19)."""

    def make_neutral(self) -> None:
        """Start with W_d of zeros or, with one set of annotations, with W_v of zeros."""
        nn.init.zeros_((self.values if self.into_output is None else self.into_output).weight)

    def annotate(self, memory_BSD: Tensor, context: Context) -> Tensor:
        """Select heads; with one set of annotations, add them to the encoder's (equation 22)."""
        scores_BSS = self.queries(memory_BSD) @ self.keys(memory_BSD).mT  # phi (equation 9), the root's on the diagonal
        weights_BSS = self.head_weights(scores_BSS, context).mT
        heads_BSD = weights_BSS.to(memory_BSD.dtype) @ self.values(memory_BSD)
        self.set_note(
            context, SelectedHeads(source_weights_BSS=weights_BSS, scores_BSS=scores_BSS, heads_BSD=heads_BSD)
        )
        if self.into_output is not None:
            return memory_BSD
        return memory_BSD + self.gate(memory_BSD).sigmoid() * heads_BSD

    def head_weights(self, scores_BSS: Tensor, context: Context) -> Tensor:
        """Compute beta, at least fp32: every subword's column sums to one, that of `</s>` and of padding is 0."""
        words_BS = F.pad(context.mask_BS[:, 1:], (0, 1))  # all real tokens but the last
        if self.settings.weights == "tree":
            weights_BSS = tree_marginals(scores_BSS, words_BS, ids_B=context.ids_B)
        else:
            exact_BSS = at_least_fp32(scores_BSS)
            exact_BSS = exact_BSS.masked_fill(~words_BS.unsqueeze(2), torch.finfo(exact_BSS.dtype).min)
            weights_BSS = exact_BSS.softmax(dim=1) * words_BS.unsqueeze(1)
        return straight_through(weights_BSS, words_BS) if self.settings.hard else weights_BSS

    def step_memory(self, context: Context) -> dict[str, Tensor] | None:
        """Return the expected heads M, and what a separate attention over them needs."""
        if self.into_output is None:
            return None
        heads_BSD = self.note(context).heads_BSD
        if self.attention is None:
            return {"heads_BSD": heads_BSD}
        return {"heads_BSD": heads_BSD, "keys_BDS": self.attention(heads_BSD).mT, "mask_B1S": context.mask_BS[:, None]}

    def before_tanh(self, hidden_BMD: Tensor, weights_BMS: Tensor, memory: Mapping[str, Tensor]) -> Tensor:
        """Compute `W_d (d * sigmoid(W_g h))`, where d is the mean of M under the attention (equations 16 to 20)."""
        own_BMS = self.cross_weights(hidden_BMD, memory)
        selected_BMD = (weights_BMS if own_BMS is None else own_BMS) @ memory["heads_BSD"]
        return self.into_output(selected_BMD * self.gate(hidden_BMD).sigmoid())

    def cross_weights(self, hidden_BMD: Tensor, memory: Mapping[str, Tensor]) -> Tensor | None:
        """Compute the attention over M (equation 19); None if M shares the decoder's attention."""
        if self.attention is None:
            return None
        scores_BMS = hidden_BMD @ memory["keys_BDS"]
        return scores_BMS.masked_fill(~memory["mask_B1S"], float("-inf")).softmax(dim=-1)

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Sum phi over the subwords of words (equation 24); these are scores of trees, not log-probabilities."""
        return tree_scores(self.note(context).scores_BSS.mT, context.words_BS)

    def gate_norms(self, hidden: Tensor) -> Tensor:
        """Compute the L2 norm of the gate at decoder states (..., D): (...)."""
        return self.gate(hidden).sigmoid().norm(dim=-1)


def straight_through(weights_BSS: Tensor, words_BS: Tensor) -> Tensor:
    """Make the largest weight of each column 1 and the others 0; gradients pass as if the weights were unchanged.

    Straight-through estimation (Bengio et al. 2013; tran2018, equation 21); of equal weights the first counts.
    """
    hard_BSS = torch.zeros_like(weights_BSS).scatter_(1, weights_BSS.argmax(dim=1, keepdim=True), 1.0)
    hard_BSS = hard_BSS * words_BS.unsqueeze(1)
    return hard_BSS + (weights_BSS - weights_BSS.detach())


class TreeHead(Component[Tensor]):
    r"""Makes the weights of one head marginals: subword j attends to i with the probability that i is its head.

    The head's plain scores e score the edges of dependency trees z; the sums over all trees of a sentence are computed
    by the matrix-tree theorem (tran2018, equations 10 to 15, for its recurrent model):

    .. math::

        a_{ji} = \frac{1}{Z} \sum_{z \ni (i \to j)} \exp \Bigl( \sum_{(k \to l) \in z} e_{lk} \Bigr), \qquad
        o_j = \sum_i a_{ji} v_i

    Its attention to itself is the probability that it is the root. Prefixes and `</s>` stand in no tree: they attend as
    in any other head, and no subword attends to them. It has no parameters.
    """

    settings: TreeHeadSettings
    points_to_root = True

    def attention_hooks(self, stack: Stack, layer: int) -> AttentionHooks | None:
        """Change the scores of one head in one layer of the encoder."""
        applies = stack == "encoder" and layer == self.settings.layer
        return AttentionHooks(scores=self._change_scores) if applies else None

    def _change_scores(self, scores_BHSS: Tensor, inputs: AttentionInputs) -> Tensor:
        """Replace the head's scores of subwords (rows) as dependents of others by log-marginals, at least fp32."""
        plain_BSS, context = scores_BHSS[:, self.settings.head], inputs.context
        self.set_note(context, plain_BSS)
        nodes_BS = context.words_BS != NO_WORD
        marginals_BSS = tree_marginals(plain_BSS.mT, nodes_BS, ids_B=context.ids_B)
        changed_BSS = torch.where(nodes_BS.unsqueeze(2), logarithm(marginals_BSS.mT), plain_BSS)
        head = self.settings.head % scores_BHSS.size(1)
        parts = [scores_BHSS[:, :head], changed_BSS.unsqueeze(1), scores_BHSS[:, head + 1 :]]
        return torch.cat([part.to(changed_BSS.dtype) for part in parts], dim=1)

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Sum the plain scores over the subwords of words; these are scores of trees, not log-probabilities."""
        return tree_scores(self.note(context), context.words_BS)


def logarithm(probabilities: Tensor) -> Tensor:
    """Compute logarithms; probabilities too small for their type, 0 above all, give -inf and have no gradient."""
    least = torch.finfo(probabilities.dtype).tiny
    return probabilities.clamp_min(least).log().masked_fill(probabilities < least, float("-inf"))
