"""An encoder head that attends by the marginals of dependency trees: tran2018's structured attention in a transformer.

The head's plain scores are scores of trees, and the logarithms of the trees' marginals take their place.
"""

import numpy as np
import torch
from torch import Tensor

from nmtcore.config.components.settings import TreeHeadSettings
from nmtcore.features.examples import NO_WORD
from nmtcore.model.batch import tree_scores
from nmtcore.model.components.base import AttentionHooks, AttentionInputs, Component, Context, Stack
from nmtcore.model.trees import tree_marginals


class TreeHead(Component):
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
        context.notes[self.name] = plain_BSS
        nodes_BS = context.words_BS != NO_WORD
        marginals_BSS = tree_marginals(plain_BSS.mT, nodes_BS, ids_B=context.ids_B)
        changed_BSS = torch.where(nodes_BS.unsqueeze(2), logarithm(marginals_BSS.mT), plain_BSS)
        head = self.settings.head % scores_BHSS.size(1)
        parts = [scores_BHSS[:, :head], changed_BSS.unsqueeze(1), scores_BHSS[:, head + 1 :]]
        return torch.cat([part.to(changed_BSS.dtype) for part in parts], dim=1)

    def parse_scores(self, context: Context) -> list[np.ndarray]:
        """Sum the plain scores over the subwords of words; these are scores of trees, not log-probabilities."""
        return tree_scores(context.notes[self.name], context.words_BS)


def logarithm(probabilities: Tensor) -> Tensor:
    """Compute logarithms; probabilities too small for their type, 0 above all, give -inf and have no gradient."""
    least = torch.finfo(probabilities.dtype).tiny
    return probabilities.clamp_min(least).log().masked_fill(probabilities < least, float("-inf"))
