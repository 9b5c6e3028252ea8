"""Marginals of dependency trees by the matrix-tree theorem (Koo et al. 2007; tran2018, equations 12 to 15).

The probability of a non-projective dependency tree is proportional to `exp` of the sum of its edges' scores, and the
marginals are the gradient of the logarithm of the sum over all trees, the log-partition. A tree has one word below the
artificial root. Two routes, in float64:

- the determinant of the Laplacian, whose gradient is the inverse: fast, but it subtracts, and loses all digits if two
  words each prefer the other as head;
- an elimination of word after word without subtractions (after Grassmann, Taksar and Heyman), for any scores.

Each sentence takes the first route, unless its marginals do not sum to one or the inverse is so large that digits are
lost.

Shapes: B sentences, S source, U nodes, W words.
"""

import numpy as np
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from nmtcore.errors import UserError

TOLERANCE = 1e-8
"""The largest deviation of a word's marginals from a sum of one at which the inverse is trusted."""

LARGEST_INVERSE = 1e5
"""The largest entry at which the inverse is trusted.

Marginals are then right to 1e-6, gradients to 1e-5 (of 30,000 random sentences of 4 to 100 words: to 1e-8 and 1e-7).
Beyond it, marginals sum to one and are right, but gradients can be off by a third (mutual pairs of five words).
"""

LONGEST_ELIMINATED = 500
"""The most words of a sentence that can be eliminated: in training, n words take some 27 n^3 bytes, here 3.4 GB."""

_NEVER = -1e300
"""The logarithm of no weight: finite, since infinite differences have no derivative."""


class DivergedTrees(UserError):
    """Scores of trees that are infinite or not numbers, which only a model without finite parameters computes."""

    def __init__(self, sentence: str) -> None:
        self.problem = f"the scores of the trees of {sentence} are not finite"
        super().__init__(f"The model cannot be used, since {self.problem}: train it again.")


class TooLongForTrees(UserError):
    """A sentence, in `row` of its batch, that has to be eliminated and has too many words for that."""

    def __init__(self, sentence: str, words: int, row: int) -> None:
        self.row = row
        self.problem = (
            f"the memory is too small for the trees of {sentence}, which has {words} subwords; with scores as far "
            f"apart as its own, at most {LONGEST_ELIMINATED} are possible"
        )
        super().__init__(f"T{self.problem[1:]}. Leave it out (training.batch.max_length), or cut it into parts.")


def tree_marginals(scores_BSS: Tensor, nodes_BS: Tensor, *, ids_B: np.ndarray | None = None) -> Tensor:
    """Compute the probability of every edge: (B, S, S).

    `scores_BSS[b, i, j]` is the score of word i as the head of word j, `scores_BSS[b, j, j]` that of the artificial
    root; `nodes_BS` is True where a position is a word, and scores at other positions are ignored. Marginals are laid
    out like the scores and are 0 outside the words; each word's column sums to one. They are differentiable once, and
    have the precision of the scores, but at least fp32.

    `ids_B` are the sentences' ids, for errors. Raises `DivergedTrees` if a score between words, or of the root, is
    infinite or not a number, and `TooLongForTrees`.
    """
    differentiable = torch.is_grad_enabled() and scores_BSS.requires_grad
    # Marginals are gradients also where no gradients are wanted.
    with torch.autocast(scores_BSS.device.type, enabled=False), torch.inference_mode(False), torch.enable_grad():
        pairs_BSS = nodes_BS.unsqueeze(1) & nodes_BS.unsqueeze(2)
        log_BSS = scores_BSS.double().masked_fill(~pairs_BSS, _NEVER)
        wrong_B = ~log_BSS.isfinite().flatten(1).all(1)
        if wrong_B.any():
            raise DivergedTrees(_sentence(ids_B, int(wrong_B.nonzero()[0, 0])))
        log_BSS = _relative(log_BSS.requires_grad_())
        marginals_BSS, trusted_B = _by_inverse(log_BSS, nodes_BS)
        if not trusted_B.all():
            inverted, eliminated = (rows_B.nonzero().squeeze(1) for rows_B in (trusted_B, ~trusted_B))
            words = nodes_BS[eliminated].sum(1)
            longest = int(words.max())
            if longest > LONGEST_ELIMINATED:
                row = int(eliminated[words.argmax()])
                raise TooLongForTrees(_sentence(ids_B, row), longest, row)
            # Again without the others: where an inverse has no digits, its gradient is no number.
            parts = [_by_inverse(log_BSS[inverted], nodes_BS[inverted])[0]]
            # The steps of one group at a time are in memory; gradients make them again.
            for rows in eliminated.split(LONGEST_ELIMINATED**3 // longest**3):
                options = {"use_reentrant": False, "preserve_rng_state": False}
                parts.append(checkpoint(_by_elimination, log_BSS[rows], nodes_BS[rows], **options))
            marginals_BSS = torch.cat(parts)[torch.cat([inverted, eliminated]).argsort()]
    marginals_BSS = marginals_BSS if differentiable else marginals_BSS.detach()
    return marginals_BSS.to(torch.promote_types(scores_BSS.dtype, torch.float32))


def _sentence(ids_B: np.ndarray | None, row: int) -> str:
    return f"sentence {row} of a batch" if ids_B is None else f"the source sentence with the id {ids_B[row]}"


def _relative(log_BSS: Tensor) -> Tensor:
    """Make the score of each word's best head 0, and then the best score as the root, which changes no marginal."""

    def best(scores: Tensor) -> Tensor:
        highest = scores.detach().amax(1, keepdim=True)
        return highest.masked_fill(highest == _NEVER, 0.0)

    itself_SS = torch.eye(log_BSS.size(1), dtype=torch.bool, device=log_BSS.device)
    log_BSS = log_BSS - best(log_BSS.masked_fill(itself_SS, _NEVER))
    return log_BSS - torch.where(itself_SS, best(log_BSS.diagonal(dim1=1, dim2=2)).unsqueeze(2), 0.0)


def _by_inverse(log_BSS: Tensor, nodes_BS: Tensor) -> tuple[Tensor, Tensor]:
    """Compute marginals by the inverse of the Laplacian, and say which sentences' can be trusted.

    The Laplacian is `L_jj = sum_i A_ij`, `L_ij = -A_ij`, with `A = exp(scores)`; the row of the first word is replaced
    by the root weights (Koo et al., section 3.2).
    """
    weights_BSS = log_BSS.exp()
    root_BS = weights_BSS.diagonal(dim1=1, dim2=2)
    edges_BSS = weights_BSS - torch.diag_embed(root_BS)
    first_BS = torch.arange(nodes_BS.size(1), device=nodes_BS.device) == nodes_BS.byte().argmax(1, keepdim=True)
    laplacian_BSS = torch.diag_embed(edges_BSS.sum(1)) - edges_BSS
    laplacian_BSS = torch.where(first_BS.unsqueeze(2), root_BS.unsqueeze(1), laplacian_BSS)
    laplacian_BSS = laplacian_BSS + torch.diag_embed((~nodes_BS).double())
    inverse_BSS = torch.linalg.inv_ex(laplacian_BSS).inverse
    (marginals_BSS,) = torch.autograd.grad(laplacian_BSS, log_BSS, inverse_BSS.mT, create_graph=True)
    with torch.no_grad():
        residual_B = (marginals_BSS.sum(1) - nodes_BS.double()).abs().amax(1)
        largest_B = inverse_BSS.abs().flatten(1).amax(1)
    return marginals_BSS, (residual_B <= TOLERANCE) & (largest_B <= LARGEST_INVERSE)


def _by_elimination(log_BSS: Tensor, nodes_BS: Tensor) -> Tensor:
    """Compute marginals by eliminating one word after another, from the last to the first.

    Let A be the weights of edges: `A_ij` for head i and dependent j, where i may be the artificial root. Word k has the
    pivot `p = sum_i A_ik` over the words i before it, and leaves `A_ij + A_ik A_kj / p` for them. The pivot of the
    first word is its root weight, and the product of all pivots is the sum over all trees. All this is in logarithms.
    """
    # Words come first, in order, so that padding is eliminated before them; row 0 belongs to the artificial root.
    order_BW = nodes_BS.byte().argsort(dim=1, descending=True, stable=True)[:, : int(nodes_BS.sum(1).max())]
    words_BW = nodes_BS.gather(1, order_BW)
    sentences_B11 = torch.arange(len(log_BSS), device=log_BSS.device)[:, None, None]
    log_BWW = log_BSS[sentences_B11, order_BW.unsqueeze(2), order_BW.unsqueeze(1)]
    log_BUW = torch.cat([log_BWW.diagonal(dim1=1, dim2=2).unsqueeze(1), log_BWW], dim=1)
    pivots = []
    for k in reversed(range(1, log_BUW.size(2))):
        into_BU, from_BW, rest_BUW = log_BUW[:, : k + 1, k], log_BUW[:, k + 1, :k], log_BUW[:, : k + 1, :k]
        pivot_B = into_BU[:, 1:].logsumexp(1)
        # Padding has no heads and no dependents: its pivot counts as 1, and its elimination adds nothing.
        pivots.append(torch.where(words_BW[:, k], pivot_B, 0.0))
        through_BUW = (into_BU - pivots[-1].unsqueeze(1)).unsqueeze(2) + from_BW.unsqueeze(1)
        # Unlike `logaddexp`, this has a finite second derivative at any distance.
        log_BUW = torch.stack([rest_BUW, through_BUW]).logsumexp(0)
    pivots.append(log_BUW[:, 0, 0])
    return torch.autograd.grad(torch.stack(pivots).sum(), log_BSS, create_graph=True)[0]
