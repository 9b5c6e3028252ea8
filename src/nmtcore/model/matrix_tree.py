"""Marginals of dependency trees by the matrix-tree theorem (Koo et al. 2007; tran2018, equations 12 to 15).

The probability of a non-projective dependency tree is proportional to `exp` of the sum of its edges' scores. Two routes
compute the probability of every edge in float64, outside autocast:

- the inverse of the Laplacian: fast, but it subtracts, and loses all digits if two words each prefer the other as head;
- an elimination without subtractions (after Grassmann, Taksar and Heyman), for any scores: on the weights themselves,
  or on their logarithms if the scores of a sentence are too far apart for float64.

Each sentence takes the first route, unless its marginals do not sum to one or the inverse is so large that digits are
lost. (The sums alone are no proof: with several roots and mutual margins of 60 they can be right and the marginals
wrong by .3.) Gradients are written by hand: the Hessian of the log-partition is symmetric, so the gradient of the
marginals is their derivative along the incoming gradient, in the memory of one pass.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

Roots = Literal["one", "many"]
"""Whether a tree has exactly one word below the artificial root, or one or more."""

TOLERANCE = 1e-8
"""The largest deviation of a word's marginals from a sum of one at which the inverse is trusted."""

LARGEST_INVERSE = 1e5
"""The largest entry at which the inverse is trusted.

Marginals are then right to 1e-6, gradients to 1e-5 (of 30,000 random sentences of 4 to 100 words: to 1e-8 and 1e-7).
"""

LARGEST_SPREAD = 500.0
"""The largest distance of a score from the best head's at which the elimination needs no logarithms.

Weights and pivots only grow, from `exp(-spread)` on, and no slope is larger than the inverse of its weight. The largest
number, about `exp(spread)` times the number of words squared, is far from overflow.
"""

_NEVER = float("-inf")


class ScoresNotFinite(ValueError):
    """Scores of trees that are infinite or not numbers, in sentence `row` of a batch."""

    def __init__(self, row: int) -> None:
        super().__init__(f"sentence {row} of the batch has scores of trees that are infinite or not numbers")
        self.row = row


def tree_marginals(scores_BSS: Tensor, nodes_BS: Tensor, *, roots: Roots = "one") -> tuple[Tensor, Tensor]:
    """Compute the probability of every edge, and the logarithm of the sum over all trees: (B, S, S) and (B,).

    `scores_BSS[b, i, j]` is the score of word i as the head of word j, `scores_BSS[b, j, j]` that of the artificial
    root; `nodes_BS` is True where a position is a word, and scores at other positions are ignored. Marginals are laid
    out like the scores and are 0 outside the words; each word's column sums to one. A sentence without words has the
    log-partition 0. The results are differentiable once, in the scores' precision, but at least fp32.

    Raises `ScoresNotFinite` if a score between words, or of the root, is infinite or not a number.
    """
    if not scores_BSS.numel():
        return scores_BSS, scores_BSS.sum((1, 2))
    with torch.autocast(scores_BSS.device.type, enabled=False):
        exact_BSS = scores_BSS.float() if scores_BSS.dtype.itemsize < 4 else scores_BSS
        marginals_BSS, partition_B = _TreeMarginals.apply(exact_BSS, nodes_BS, roots)
    return marginals_BSS, partition_B


class _TreeMarginals(torch.autograd.Function):
    """All routes, joined; keeps what each needs for its derivative along a direction."""

    @staticmethod
    def forward(ctx: Any, scores_BSS: Tensor, nodes_BS: Tensor, roots: Roots) -> tuple[Tensor, Tensor]:
        """Try the inverse for all sentences, and eliminate those whose inverse is not to be trusted."""
        scores = _Scores.normalise(scores_BSS.detach(), nodes_BS, roots)
        inverse = _Inverse(scores)
        marginals_BSS, partition_B = inverse.marginals_BSS, inverse.partition_B
        eliminations = []
        if not inverse.trusted_B.all():
            close_B = scores.spread_B <= LARGEST_SPREAD
            for route, rows_B in ((_LinearElimination, close_B), (_LogElimination, ~close_B)):
                rows = (rows_B & ~inverse.trusted_B).nonzero().squeeze(1)
                if len(rows):
                    elimination = route(scores.select(rows))
                    marginals_BSS = marginals_BSS.index_copy(0, rows, elimination.marginals_BSS)
                    partition_B = partition_B.index_copy(0, rows, elimination.partition_B)
                    eliminations.append((rows, elimination))
        ctx.inverse, ctx.eliminations, ctx.marginals_BSS = inverse, eliminations, marginals_BSS
        ctx.dtype = scores_BSS.dtype
        ctx.set_materialize_grads(False)
        return marginals_BSS.to(scores_BSS.dtype), partition_B.to(scores_BSS.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient_BSS: Tensor | None, gradient_B: Tensor | None) -> tuple[Tensor | None, ...]:
        """Differentiate the marginals along the incoming gradient; the log-partition's gradient is the marginals."""
        if gradient_BSS is None:
            total_BSS = torch.zeros_like(ctx.marginals_BSS)
        else:
            along_BSS = gradient_BSS.double()
            total_BSS = ctx.inverse.derivative(along_BSS)
            for rows, elimination in ctx.eliminations:
                total_BSS[rows] = elimination.derivative(along_BSS[rows])
        if gradient_B is not None:
            total_BSS.addcmul_(ctx.marginals_BSS, gradient_B.double()[:, None, None])
        return total_BSS.to(ctx.dtype), None, None


@dataclass(frozen=True, kw_only=True)
class _Scores:
    """Scores relative to the best head of each dependent, which gives the same marginals; `-inf` outside the words.

    With one root, the best head is a word, and the scores of the root's edges, one of which every tree has, are in
    addition relative to the largest of them.
    """

    log_BSS: Tensor
    nodes_BS: Tensor
    roots: Roots
    subtracted_B: Tensor
    """What was subtracted from every tree's score."""
    spread_B: Tensor
    """The distance of a sentence's lowest score from the best head's."""

    @classmethod
    def normalise(cls, scores_BSS: Tensor, nodes_BS: Tensor, roots: Roots) -> "_Scores":
        pairs_BSS = nodes_BS.unsqueeze(1) & nodes_BS.unsqueeze(2)
        log_BSS = scores_BSS.masked_fill(~pairs_BSS, _NEVER).double()
        if roots == "one":
            root_BS = log_BSS.diagonal(dim1=1, dim2=2).clone()
            log_BSS.diagonal(dim1=1, dim2=2).fill_(_NEVER)
        best_BS = _finite(log_BSS.amax(1))
        log_BSS -= best_BS.unsqueeze(1)
        subtracted_B = best_BS.sum(1)
        if roots == "one":
            root_BS -= best_BS
            best_B = _finite(root_BS.amax(1))
            log_BSS.diagonal(dim1=1, dim2=2).copy_(root_BS - best_B.unsqueeze(1))
            subtracted_B += best_B
        spread_B = -log_BSS.masked_fill(~pairs_BSS, 0.0).flatten(1).amin(1)
        wrong_B = ~spread_B.isfinite()
        if wrong_B.any():
            raise ScoresNotFinite(int(wrong_B.nonzero()[0, 0]))
        return cls(log_BSS=log_BSS, nodes_BS=nodes_BS, roots=roots, subtracted_B=subtracted_B, spread_B=spread_B)

    def select(self, rows: Tensor) -> "_Scores":
        """Select sentences."""
        tensors = {name: value[rows] for name, value in vars(self).items() if isinstance(value, Tensor)}
        return replace(self, **tensors)


def _finite(best: Tensor) -> Tensor:
    """Replace the largest of no scores by 0."""
    return best.masked_fill(best == _NEVER, 0.0)


class _Inverse:
    """Marginals from the inverse of the Laplacian.

    The Laplacian is `L_jj = sum_i A_ij`, `L_ij = -A_ij`, with `A = exp(scores)`. For one root, the row of the first
    word is replaced by the root weights r (Koo et al., section 3.2); for many, r is added to the diagonal. With K its
    inverse, `P(i heads j) = A_ij ([j is not first] K_jj - [i is not first] K_ji)` and `P(root heads j) = r_j K_jf` (one
    root) or `r_j K_jj` (many, where no word counts as the first).
    """

    def __init__(self, scores: _Scores) -> None:
        nodes_BS = scores.nodes_BS
        self.edges_BSS = scores.log_BSS.exp()
        self.root_BS = self.edges_BSS.diagonal(dim1=1, dim2=2).clone()
        self.edges_BSS.diagonal(dim1=1, dim2=2).zero_()
        self.first = None
        """Indices of the sentences and of their first words, for one root."""
        if scores.roots == "one":
            self.first = torch.arange(len(nodes_BS), device=nodes_BS.device), nodes_BS.byte().argmax(1)
        laplacian_BSS = self._laplacian(self.edges_BSS, self.root_BS)
        laplacian_BSS.diagonal(dim1=1, dim2=2).add_(~nodes_BS)
        factors_BSS, pivots_BS, _ = torch.linalg.lu_factor_ex(laplacian_BSS)
        identity_SS = torch.eye(nodes_BS.size(1), dtype=torch.float64, device=nodes_BS.device)
        self.inverse_BSS = torch.linalg.lu_solve(factors_BSS, pivots_BS, identity_SS.expand_as(laplacian_BSS))
        self.partition_B = factors_BSS.diagonal(dim1=1, dim2=2).abs().log().sum(1) + scores.subtracted_B
        self.marginals_BSS = self._along_edges(self.inverse_BSS)
        residual_B = (self.marginals_BSS.sum(1) - nodes_BS.double()).abs().amax(1)
        lowest_B = self.marginals_BSS.flatten(1).amin(1)
        largest_B = self.inverse_BSS.abs().flatten(1).amax(1)
        self.trusted_B = (residual_B <= TOLERANCE) & (lowest_B >= -TOLERANCE) & (largest_B <= LARGEST_INVERSE)
        """False also if a result is not a number."""

    def _laplacian(self, edges_BSS: Tensor, root_BS: Tensor) -> Tensor:
        laplacian_BSS = -edges_BSS
        laplacian_BSS.diagonal(dim1=1, dim2=2).add_(edges_BSS.sum(1))
        if self.first is None:
            laplacian_BSS.diagonal(dim1=1, dim2=2).add_(root_BS)
        else:
            laplacian_BSS[self.first] = root_BS
        return laplacian_BSS

    def _along_edges(self, inverse_BSS: Tensor) -> Tensor:
        """Lay out `A_ij ([j is not first] K_jj - [i is not first] K_ji)`, with the root's on the diagonal."""
        own_BS = root_BS = inverse_BSS.diagonal(dim1=1, dim2=2)
        if self.first is not None:
            own_BS, root_BS = own_BS.clone(), inverse_BSS.mT[self.first]
            own_BS[self.first] = 0
        result_BSS = own_BS.unsqueeze(1) - inverse_BSS.mT
        if self.first is not None:
            result_BSS[self.first] = own_BS
        result_BSS *= self.edges_BSS
        result_BSS.diagonal(dim1=1, dim2=2).copy_(self.root_BS * root_BS)
        return result_BSS

    def derivative(self, along_BSS: Tensor) -> Tensor:
        """Differentiate the marginals along a change of the scores: `dK = -K dL K`."""
        root_BS = self.root_BS * along_BSS.diagonal(dim1=1, dim2=2)
        change_BSS = self._laplacian(self.edges_BSS * along_BSS, root_BS)
        change_BSS = self._along_edges(self.inverse_BSS @ change_BSS @ self.inverse_BSS)
        return change_BSS.neg_().addcmul_(self.marginals_BSS, along_BSS)


class _Elimination(ABC):
    """Marginals by eliminating one word after another, from the last to the first.

    Let A be the weights of edges: `A_ij` for head i and dependent j, where i may be the artificial root. Word k has the
    pivot `p = sum_i A_ik` (without the root's edge for one root). It leaves `A_ij + w_i A_kj` for the words before it,
    with the shares `w_i = A_ik / p`. The pivot of the first word is its root weight, and the product of all pivots is
    the sum over all trees. The marginals are A times the gradient of its logarithm, the slopes G, by a pass in reverse:
    with `x_i = sum_j G_ij A_kj`, `G_ik = (x_i + 1 - sum_i w_i x_i) / p` (`x_i / p` for the root's edge, for one root)
    and `G_kj = sum_i w_i G_ij`.

    Words come first here, in order, so that padding is eliminated before them, and row 0 belongs to the artificial
    root. Column k of a matrix keeps what it held when word k was eliminated, and so does the row of word k.
    """

    def __init__(self, scores: _Scores) -> None:
        self.order_BS = scores.nodes_BS.byte().argsort(dim=1, descending=True, stable=True)
        self.words = int(scores.nodes_BS.sum(1).max())
        self.first_row = 1 if scores.roots == "one" else 0
        """The first row of a column that its pivot sums."""
        self.padding_BW = ~scores.nodes_BS.gather(1, self.order_BS)[:, : self.words]
        self.size = scores.log_BSS.size(1)
        marginals_BUW, partition_B = self._pass(self._by_words(scores.log_BSS))
        self.marginals_BSS, self.partition_B = self._by_positions(marginals_BUW), partition_B + scores.subtracted_B

    @abstractmethod
    def _pass(self, log_BUW: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the marginals and the log-partition."""

    @abstractmethod
    def _derivative(self, along_BUW: Tensor) -> Tensor:
        """Differentiate the marginals along a change of the scores."""

    def derivative(self, along_BSS: Tensor) -> Tensor:
        """Differentiate the marginals along a change of the scores."""
        return self._by_positions(self._derivative(self._by_words(along_BSS)))

    def _by_words(self, matrix_BSS: Tensor) -> Tensor:
        order_BW = self.order_BS[:, : self.words]
        rows_BWS = matrix_BSS.gather(1, order_BW.unsqueeze(2).expand(-1, -1, self.size))
        matrix_BWW = rows_BWS.gather(2, order_BW.unsqueeze(1).expand(-1, self.words, -1))
        return torch.cat([matrix_BWW.diagonal(dim1=1, dim2=2).unsqueeze(1), matrix_BWW], dim=1)

    def _by_positions(self, matrix_BUW: Tensor) -> Tensor:
        matrix_BWW = torch.diagonal_scatter(matrix_BUW[:, 1:], matrix_BUW[:, 0], dim1=1, dim2=2)
        order_BW = self.order_BS[:, : self.words]
        rows_BWS = matrix_BWW.new_zeros(len(matrix_BWW), self.words, self.size)
        rows_BWS.scatter_(2, order_BW.unsqueeze(1).expand(-1, self.words, -1), matrix_BWW)
        result_BSS = matrix_BWW.new_zeros(len(matrix_BWW), self.size, self.size)
        return result_BSS.scatter_(1, order_BW.unsqueeze(2).expand_as(rows_BWS), rows_BWS)


class _LinearElimination(_Elimination):
    """The elimination of the weights themselves, for sentences whose scores are not too far apart."""

    def _pass(self, log_BUW: Tensor) -> tuple[Tensor, Tensor]:
        self.weights_BUW, self.pivots_BW = log_BUW.exp(), self.padding_BW.double()
        self.shares_BUW = self.weights_BUW.clone()
        """In column k the shares of word k's heads, in the row of word k the weights of its dependents."""
        for k in reversed(range(1, self.words)):
            share_BU, out_BW, rest_BUW = _parts(self.shares_BUW, k)
            self.pivots_BW[:, k] += share_BU[:, self.first_row :].sum(1)
            share_BU /= self.pivots_BW[:, k, None]
            rest_BUW.addcmul_(share_BU.unsqueeze(2), out_BW.unsqueeze(1))
        self.pivots_BW[:, :1] += self.shares_BUW[:, 0, :1]
        self._reverse()
        self.marginals_BUW = self.weights_BUW * self.slopes_BUW
        return self.marginals_BUW, self.pivots_BW.log().sum(1)

    def _reverse(self) -> None:
        self.slopes_BUW, self.through_BUW = (torch.zeros_like(self.weights_BUW) for _ in range(2))
        self.slopes_BUW[:, 0, :1] = 1 / self.pivots_BW[:, :1]
        for k in range(1, self.words):
            share_BU, out_BW, _ = _parts(self.shares_BUW, k)
            into_BU, from_BW, slope_BUW = _parts(self.slopes_BUW, k)
            through_BU = (slope_BUW * out_BW.unsqueeze(1)).sum(2)
            self.through_BUW[:, : k + 1, k] = through_BU
            unused_B1 = 1 - (share_BU * through_BU).sum(1, keepdim=True)
            through_BU[:, self.first_row :] += unused_B1
            torch.div(through_BU.clamp_min_(0), self.pivots_BW[:, k, None], out=into_BU)
            torch.sum(slope_BUW * share_BU.unsqueeze(2), 1, out=from_BW)

    def _derivative(self, along_BUW: Tensor) -> Tensor:
        """Differentiate both passes, step by step; `pivot_B1` is the relative change of a pivot."""
        change_BUW, pivots_BW1 = self.weights_BUW * along_BUW, torch.zeros_like(self.pivots_BW).unsqueeze(2)
        for k in reversed(range(1, self.words)):
            share_BU, out_BW, _ = _parts(self.shares_BUW, k)
            share_change_BU, out_change_BW, rest_BUW = _parts(change_BUW, k)
            share_change_BU /= self.pivots_BW[:, k, None]
            pivot_B1 = pivots_BW1[:, k]
            torch.sum(share_change_BU[:, self.first_row :], 1, keepdim=True, out=pivot_B1)
            share_change_BU.addcmul_(share_BU, pivot_B1, value=-1)
            rest_BUW.addcmul_(share_change_BU.unsqueeze(2), out_BW.unsqueeze(1))
            rest_BUW.addcmul_(share_BU.unsqueeze(2), out_change_BW.unsqueeze(1))
        slope_change_BUW = torch.zeros_like(change_BUW)
        slope_change_BUW[:, 0, :1] = -(self.slopes_BUW[:, 0, :1] ** 2) * change_BUW[:, 0, :1]
        for k in range(1, self.words):
            share_BU, out_BW, _ = _parts(self.shares_BUW, k)
            share_change_BU, out_change_BW, _ = _parts(change_BUW, k)
            into_BU, _, slope_BUW = _parts(self.slopes_BUW, k)
            into_change_BU, from_change_BW, rest_BUW = _parts(slope_change_BUW, k)
            through_BU = (rest_BUW * out_BW.unsqueeze(1)).addcmul_(slope_BUW, out_change_BW.unsqueeze(1)).sum(2)
            used_BU = torch.addcmul(share_BU * through_BU, share_change_BU, self.through_BUW[:, : k + 1, k])
            through_BU[:, self.first_row :] -= used_BU.sum(1, keepdim=True)
            torch.div(through_BU, self.pivots_BW[:, k, None], out=into_change_BU)
            into_change_BU.addcmul_(into_BU, pivots_BW1[:, k], value=-1)
            from_BUW = (rest_BUW * share_BU.unsqueeze(2)).addcmul_(slope_BUW, share_change_BU.unsqueeze(2))
            torch.sum(from_BUW, 1, out=from_change_BW)
        return self.marginals_BUW * along_BUW + self.weights_BUW * slope_change_BUW


class _LogElimination(_Elimination):
    """The elimination of logarithms, for any scores."""

    def _pass(self, log_BUW: Tensor) -> tuple[Tensor, Tensor]:
        self.log_BUW, self.shares_BUW = log_BUW, log_BUW.clone()
        self.pivots_BW = torch.zeros_like(self.padding_BW, dtype=torch.float64)
        for k in reversed(range(1, self.words)):
            share_BU, out_BW, rest_BUW = _parts(self.shares_BUW, k)
            pivot_B = share_BU[:, self.first_row :].logsumexp(1)
            # Padding has no heads and no dependents: its pivot counts as 1, and its elimination adds nothing.
            self.pivots_BW[:, k] = pivot_B.masked_fill(self.padding_BW[:, k], 0.0)
            share_BU -= self.pivots_BW[:, k, None]
            torch.logaddexp(rest_BUW, share_BU.unsqueeze(2) + out_BW.unsqueeze(1), out=rest_BUW)
        self.pivots_BW[:, :1] = self.shares_BUW[:, 0, :1].masked_fill(self.padding_BW[:, :1], 0.0)
        self._reverse()
        self.marginals_BUW = (log_BUW + self.slopes_BUW).exp()
        return self.marginals_BUW, self.pivots_BW.sum(1)

    def _reverse(self) -> None:
        self.slopes_BUW, self.through_BUW = (torch.full_like(self.log_BUW, _NEVER) for _ in range(2))
        self.slopes_BUW[:, 0, :1] = -self.pivots_BW[:, :1]
        for k in range(1, self.words):
            share_BU, out_BW, _ = _parts(self.shares_BUW, k)
            into_BU, from_BW, slope_BUW = _parts(self.slopes_BUW, k)
            through_BU = (slope_BUW + out_BW.unsqueeze(1)).logsumexp(2)
            self.through_BUW[:, : k + 1, k] = through_BU
            unused_B1 = 1 - (share_BU + through_BU).exp().sum(1, keepdim=True)
            through_BU[:, self.first_row :] = _log_of_sum(through_BU[:, self.first_row :], unused_B1)
            torch.sub(through_BU, self.pivots_BW[:, k, None], out=into_BU)
            from_BW.copy_((slope_BUW + share_BU.unsqueeze(2)).logsumexp(1))

    def _derivative(self, along_BUW: Tensor) -> Tensor:
        """Go through both passes again, with relative changes."""
        log_BUW, change_BUW = self.log_BUW.clone(), along_BUW.clone()
        pivot_changes_BW = torch.zeros_like(self.pivots_BW)
        for k in reversed(range(1, self.words)):
            share_BU, out_BW, _ = _parts(self.shares_BUW, k)
            share_change_BU, out_change_BW, rest_BUW = _parts(change_BUW, k)
            pivot_changes_BW[:, k] = (share_BU.exp() * share_change_BU)[:, self.first_row :].sum(1)
            share_change_BU -= pivot_changes_BW[:, k, None]
            _, _, kept_BUW = _parts(log_BUW, k)
            joined_BUW = torch.logaddexp(kept_BUW, share_BU.unsqueeze(2) + out_BW.unsqueeze(1))
            # An edge without weight keeps all of it.
            kept_share_BUW = (kept_BUW - joined_BUW).masked_fill_(joined_BUW == _NEVER, 0.0).exp_()
            through_BUW = share_change_BU.unsqueeze(2) + out_change_BW.unsqueeze(1)
            torch.lerp(through_BUW, rest_BUW, kept_share_BUW, out=rest_BUW)
            kept_BUW.copy_(joined_BUW)
        slope_change_BUW = torch.zeros_like(change_BUW)
        slope_change_BUW[:, 0, :1] = -change_BUW[:, 0, :1]
        for k in range(1, self.words):
            share_BU, out_BW, _ = _parts(self.shares_BUW, k)
            share_change_BU, out_change_BW, _ = _parts(change_BUW, k)
            into_BU, _, slope_BUW = _parts(self.slopes_BUW, k)
            into_change_BU, from_change_BW, rest_BUW = _parts(slope_change_BUW, k)
            log_through_BU = self.through_BUW[:, : k + 1, k]
            through_BU = _mean(slope_BUW + out_BW.unsqueeze(1), rest_BUW + out_change_BW.unsqueeze(1), 2)
            used_BU = (share_BU + log_through_BU).exp() * (share_change_BU + through_BU)
            sum_BU = into_BU + self.pivots_BW[:, k, None]
            into_change_BU.copy_(_relative(log_through_BU, sum_BU, through_BU, used_BU.sum(1, keepdim=True), share_BU))
            into_change_BU[:, : self.first_row] = through_BU[:, : self.first_row]
            into_change_BU -= pivot_changes_BW[:, k, None]
            from_change_BW.copy_(_mean(slope_BUW + share_BU.unsqueeze(2), rest_BUW + share_change_BU.unsqueeze(2), 1))
        return self.marginals_BUW * (along_BUW + slope_change_BUW)


def _parts(matrix_BUW: Tensor, k: int) -> tuple[Tensor, Tensor, Tensor]:
    """Take column k, the row of word k, and the rest, as far as they belong to the root and the words before k."""
    return matrix_BUW[:, : k + 1, k], matrix_BUW[:, k + 1, :k], matrix_BUW[:, : k + 1, :k]


def _log_of_sum(log_x: Tensor, y: Tensor) -> Tensor:
    """Compute `log(exp(log_x) + y)` for a y that may be negative; a sum that rounding leaves below 0 is 0."""
    large = log_x > 30
    sum_of_small = (log_x.clamp_max(30).exp() + y).clamp_min(0).log()
    return torch.where(large, log_x + torch.log1p(y * (-log_x.clamp_min(30)).exp()), sum_of_small)


def _mean(log_weights: Tensor, values: Tensor, dim: int) -> Tensor:
    """Average `values` with weights given in logarithms; 0 if all weights are 0."""
    largest = log_weights.amax(dim, keepdim=True)
    weights = (log_weights - largest.masked_fill(largest == _NEVER, 0.0)).exp()
    return (weights * values).sum(dim) / weights.sum(dim).clamp_min(1e-300)


def _relative(log_x: Tensor, log_sum: Tensor, x_change: Tensor, unused_change: Tensor, log_share: Tensor) -> Tensor:
    """Find the relative change of `x + unused`; 0 if rounding left nothing of it and no probability is at stake."""
    reliable = log_share + log_sum > -30
    log_sum = log_sum.masked_fill(~reliable, 0.0)
    change = (log_x.clamp_min(-700) - log_sum).clamp_max(700).exp() * x_change - (-log_sum).exp() * unused_change
    return change.masked_fill(~reliable, 0.0)
