"""Marginals of dependency trees by the matrix-tree theorem (Koo et al. 2007; tran2018, equations 12 to 15).

All non-projective dependency trees of a sentence share the probability: that of a tree is proportional to `exp` of the
sum of its edges' scores. Two routes compute the probability of every edge in float64, outside autocast:

- the inverse of the Laplacian: fast, but it subtracts, and loses all digits if two words each prefer the other as head;
- an elimination without subtractions in logarithms (after Grassmann, Taksar and Heyman), for any scores.

Each sentence takes the first route, unless its marginals do not sum to one or the inverse is so large that digits are
lost. (The sums alone are no proof: with several roots and mutual margins of 60 they can be right and the marginals
wrong by .3.) Gradients are written by hand: the Hessian of the log-partition is symmetric, so the gradient of the
marginals is their derivative along the incoming gradient, in the memory of one pass.
"""

from typing import Any, Literal

import torch
from torch import Tensor

Roots = Literal["one", "many"]
"""Whether a tree has exactly one word below the artificial root, or one or more."""

TOLERANCE = 1e-8
"""The largest deviation of a word's marginals from a sum of one at which the inverse is trusted."""

LARGEST_INVERSE = 1e5
"""The largest entry at which the inverse is trusted: marginals are then right to 1e-6, gradients to 1e-5, or better."""

_NEVER = float("-inf")


def tree_marginals(scores_BSS: Tensor, nodes_BS: Tensor, *, roots: Roots = "one") -> tuple[Tensor, Tensor]:
    """Compute the probability of every edge, and the logarithm of the sum over all trees: (B, S, S) and (B,).

    `scores_BSS[b, i, j]` is the score of word i as the head of word j, `scores_BSS[b, j, j]` that of the artificial
    root; `nodes_BS` is True where a position is a word, and scores at other positions are ignored. Marginals are laid
    out like the scores and are 0 outside the words; each word's column sums to one. A sentence without words has the
    log-partition 0. The results are differentiable once, in the scores' precision, but at least fp32.

    Raises `ValueError` at a word whose scores are not numbers, are infinitely large, or rule out every tree.
    """
    if not scores_BSS.numel():
        return scores_BSS, scores_BSS.sum((1, 2))
    with torch.autocast(scores_BSS.device.type, enabled=False):
        exact = scores_BSS.float() if scores_BSS.dtype.itemsize < 4 else scores_BSS
        marginals_BSS, partition_B = _TreeMarginals.apply(exact, nodes_BS, roots)
    return marginals_BSS, partition_B


class _TreeMarginals(torch.autograd.Function):
    """Both routes, joined; keeps what either needs for its derivative along a direction."""

    @staticmethod
    def forward(ctx: Any, scores_BSS: Tensor, nodes_BS: Tensor, roots: Roots) -> tuple[Tensor, Tensor]:
        """Try the inverse for all sentences, and eliminate those whose sums are off."""
        pairs_BSS = nodes_BS.unsqueeze(1) & nodes_BS.unsqueeze(2)
        log_BSS = scores_BSS.detach().double().masked_fill(~pairs_BSS, _NEVER)
        inverse = _Inverse(log_BSS, nodes_BS, roots)
        marginals_BSS, partition_B = inverse.marginals_BSS, inverse.partition_B
        failed_B = ~inverse.trusted_B
        eliminated = None
        if failed_B.any():
            rows = failed_B.nonzero().squeeze(1)
            _check(log_BSS[rows], pairs_BSS[rows], rows)
            eliminated = (rows, _Elimination(log_BSS[rows], nodes_BS[rows], roots))
            _check_partition(eliminated[1].partition_B, rows)
            marginals_BSS = marginals_BSS.index_copy(0, rows, eliminated[1].marginals_BSS)
            partition_B = partition_B.index_copy(0, rows, eliminated[1].partition_B)
        ctx.inverse, ctx.eliminated, ctx.marginals_BSS = inverse, eliminated, marginals_BSS
        return marginals_BSS.to(scores_BSS.dtype), partition_B.to(scores_BSS.dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient_BSS: Tensor, gradient_B: Tensor) -> tuple[Tensor | None, ...]:
        """Differentiate the marginals along the incoming gradient; the log-partition's gradient is the marginals."""
        along_BSS = gradient_BSS.double()
        total_BSS = ctx.inverse.derivative(along_BSS)
        if ctx.eliminated is not None:
            rows, elimination = ctx.eliminated
            total_BSS = total_BSS.index_copy(0, rows, elimination.derivative(along_BSS[rows]))
        total_BSS = total_BSS + gradient_B.double()[:, None, None] * ctx.marginals_BSS
        return total_BSS.to(gradient_BSS.dtype), None, None


class _Inverse:
    """Marginals from the inverse of the Laplacian.

    The Laplacian is `L_jj = sum_i A_ij`, `L_ij = -A_ij`, with `A = exp(scores)`. For one root, the row of the first
    word is replaced by the root weights r (Koo et al., section 3.2); for many, r is added to the diagonal. With K its
    inverse, `P(i heads j) = A_ij ([j is not first] K_jj - [i is not first] K_ji)` and `P(root heads j) = r_j K_jf` (one
    root) or `r_j K_jj` (many, where no word counts as the first).
    """

    def __init__(self, log_BSS: Tensor, nodes_BS: Tensor, roots: Roots) -> None:
        # Whatever is subtracted from all scores of a dependent changes no marginal.
        largest_BS = log_BSS.amax(1).masked_fill(~nodes_BS, 0.0)
        weights_BSS = (log_BSS - largest_BS.unsqueeze(1)).exp()
        log_root_BS = log_BSS.diagonal(dim1=1, dim2=2) - largest_BS
        # With one root, every tree has one of the root's edges, so these can be scaled, too.
        scaled_B = nodes_BS.any(1) & (roots == "one")
        largest_root_B = log_root_BS.amax(1).masked_fill(~scaled_B, 0.0)
        self.root_BS = (log_root_BS - largest_root_B.unsqueeze(1)).exp()
        self.edges_BSS = weights_BSS
        self.edges_BSS.diagonal(dim1=1, dim2=2).zero_()
        self.one_root = roots == "one"
        self.first_BS = nodes_BS & (nodes_BS.cumsum(1) == 1) & self.one_root
        laplacian_BSS = self._laplacian(self.edges_BSS, self.root_BS)
        laplacian_BSS.diagonal(dim1=1, dim2=2).add_((~nodes_BS).double())
        factors_BSS, pivots_BS, _ = torch.linalg.lu_factor_ex(laplacian_BSS)
        identity_SS = torch.eye(log_BSS.size(1), dtype=torch.float64, device=log_BSS.device)
        self.inverse_BSS = torch.linalg.lu_solve(factors_BSS, pivots_BS, identity_SS.expand_as(laplacian_BSS))
        self.partition_B = factors_BSS.diagonal(dim1=1, dim2=2).abs().log().sum(1) + largest_BS.sum(1) + largest_root_B
        self.marginals_BSS = self._along_edges(self.inverse_BSS)
        sums_BS = self.marginals_BSS.sum(1) - nodes_BS.double()
        lowest_B = self.marginals_BSS.flatten(1).amin(1)
        residual_B = torch.maximum(sums_BS.abs().amax(1), -lowest_B)
        self.trusted_B = (residual_B <= TOLERANCE) & (self.inverse_BSS.abs().flatten(1).amax(1) <= LARGEST_INVERSE)
        """False also where a result is no number."""

    def _laplacian(self, edges_BSS: Tensor, root_BS: Tensor) -> Tensor:
        laplacian_BSS = torch.diag_embed(edges_BSS.sum(1)) - edges_BSS
        if self.one_root:
            return torch.where(self.first_BS.unsqueeze(2), root_BS.unsqueeze(1), laplacian_BSS)
        return laplacian_BSS + torch.diag_embed(root_BS)

    def _along_edges(self, inverse_BSS: Tensor) -> Tensor:
        """Lay out `A_ij ([j is not first] K_jj - [i is not first] K_ji)`, with the root's on the diagonal."""
        diagonal_BS = inverse_BSS.diagonal(dim1=1, dim2=2)
        own_BS = diagonal_BS.masked_fill(self.first_BS, 0.0)
        across_BSS = inverse_BSS.mT.masked_fill(self.first_BS.unsqueeze(2), 0.0)
        result_BSS = self.edges_BSS * (own_BS.unsqueeze(1) - across_BSS)
        if self.one_root:
            diagonal_BS = (inverse_BSS * self.first_BS.unsqueeze(1)).sum(2)
        result_BSS.diagonal(dim1=1, dim2=2).copy_(self.root_BS * diagonal_BS)
        return result_BSS

    def derivative(self, along_BSS: Tensor) -> Tensor:
        """Differentiate the marginals along a change of the scores: `dK = -K dL K`."""
        root_BS = self.root_BS * along_BSS.diagonal(dim1=1, dim2=2)
        change_BSS = self._laplacian(self.edges_BSS * along_BSS, root_BS)
        inverse_BSS = -(self.inverse_BSS @ change_BSS @ self.inverse_BSS)
        return self.marginals_BSS * along_BSS + self._along_edges(inverse_BSS)


class _Elimination:
    """Marginals by eliminating one word after another, in logarithms.

    With edge weights A and root weights r, eliminating word k has the pivot `p = sum_i A_ik` (plus `r_k` for many
    roots) and leaves `A_ij + A_ik A_kj / p` and `r_j + r_k A_kj / p` for the other words. The last word's pivot is its
    r, and the product of all pivots is the sum over all trees. The marginals are the gradient of its logarithm, by a
    reverse pass over the same steps; row and column k stay as they were when k was eliminated, so that everything fits
    into one matrix.
    """

    def __init__(self, log_BSS: Tensor, nodes_BS: Tensor, roots: Roots) -> None:
        # Words first, in order, so that the word eliminated last is a word wherever there is any.
        self.order_BS = nodes_BS.byte().argsort(dim=1, descending=True, stable=True)
        self.words = int(nodes_BS.sum(1).max()) if nodes_BS.numel() else 0
        self.many = roots == "many"
        self.log_BSS, self.nodes_BS = log_BSS, nodes_BS
        self.original_BWW = self._words_first(log_BSS)
        self.real_BW = nodes_BS.gather(1, self.order_BS)[:, : self.words]
        largest_BW = self.original_BWW.amax(1).masked_fill(~self.real_BW, 0.0)
        self.original_BWW = self.original_BWW - largest_BW.unsqueeze(1)
        self._eliminate()
        self.partition_B = self.pivot_BW.sum(1) + largest_BW.sum(1)
        self._reverse()
        self.marginals_BSS = self._laid_out(self.edge_BWW, self.root_BW)

    def _words_first(self, matrix_BSS: Tensor) -> Tensor:
        order_BS = self.order_BS[:, : self.words]
        rows_BWS = matrix_BSS.gather(1, order_BS.unsqueeze(2).expand(-1, -1, matrix_BSS.size(2)))
        return rows_BWS.gather(2, order_BS.unsqueeze(1).expand(-1, self.words, -1))

    def _laid_out(self, edge_BWW: Tensor, root_BW: Tensor) -> Tensor:
        edge_BWW = torch.diagonal_scatter(edge_BWW, root_BW, dim1=1, dim2=2)
        order_BS = self.order_BS[:, : self.words]
        result_BSS = edge_BWW.new_zeros(self.log_BSS.shape)
        rows_BWS = edge_BWW.new_zeros(len(edge_BWW), self.words, self.log_BSS.size(2))
        rows_BWS.scatter_(2, order_BS.unsqueeze(1).expand(-1, self.words, -1), edge_BWW)
        return result_BSS.scatter_(1, order_BS.unsqueeze(2).expand_as(rows_BWS), rows_BWS)

    def _eliminate(self) -> None:
        """Eliminate the words from the last to the first; row and column k are left as they were at step k."""
        edge_BWW, root_BW = self._start()
        pivot_BW = torch.zeros_like(root_BW)
        for k in reversed(range(1, self.words)):
            pivot_BW[:, k] = self._pivot(edge_BWW, root_BW, k)
            scaled_BW = edge_BWW[:, k, :k] - pivot_BW[:, k, None]
            root_BW[:, :k] = torch.logaddexp(root_BW[:, :k], root_BW[:, k, None] + scaled_BW)
            edge_BWW[:, :k, :k] = self._joined(edge_BWW, scaled_BW, k)
        if self.words:
            pivot_BW[:, 0] = root_BW[:, 0].masked_fill(~self.real_BW[:, 0], 0.0)
        self.left_BWW, self.left_root_BW, self.pivot_BW = edge_BWW, root_BW, pivot_BW

    def _start(self) -> tuple[Tensor, Tensor]:
        edge_BWW, root_BW = self.original_BWW.clone(), self.original_BWW.diagonal(dim1=1, dim2=2).clone()
        edge_BWW.diagonal(dim1=1, dim2=2).fill_(_NEVER)
        return edge_BWW, root_BW

    def _pivot(self, edge_BWW: Tensor, root_BW: Tensor, k: int) -> Tensor:
        pivot_B = edge_BWW[:, :k, k].logsumexp(1)
        if self.many:
            pivot_B = torch.logaddexp(pivot_B, root_BW[:, k])
        # Padding has no edges: its pivot counts as 1, and its elimination adds nothing.
        return pivot_B.masked_fill(~self.real_BW[:, k], 0.0)

    @staticmethod
    def _joined(edge_BWW: Tensor, scaled_BW: Tensor, k: int) -> Tensor:
        through_BWW = edge_BWW[:, :k, k].unsqueeze(2) + scaled_BW.unsqueeze(1)
        through_BWW.diagonal(dim1=1, dim2=2).fill_(_NEVER)
        return torch.logaddexp(edge_BWW[:, :k, :k], through_BWW)

    def _reverse(self) -> None:
        """Find the logarithms of the log-partition's derivatives by all weights (the slopes), and the marginals."""
        slope_BWW = torch.full_like(self.original_BWW, _NEVER)
        root_slope_BW = torch.full_like(self.pivot_BW, _NEVER)
        if self.words:
            root_slope_BW[:, 0] = -self.pivot_BW[:, 0]
        for k in range(1, self.words):
            step = _Step(self, slope_BWW, root_slope_BW, k)
            slope_BWW[:, :k, k] = step.into_BW - step.pivot_B.unsqueeze(1)
            slope_BWW[:, k, :k] = step.out_of_BW
            root_slope_BW[:, k] = (step.root_into_B if self.many else step.root_through_B) - step.pivot_B
        self.slope_BWW, self.root_slope_BW = slope_BWW, root_slope_BW
        self.edge_BWW = (self.original_BWW + slope_BWW).exp()
        self.root_BW = (self.original_BWW.diagonal(dim1=1, dim2=2) + root_slope_BW).exp()

    def derivative(self, along_BSS: Tensor) -> Tensor:
        """Differentiate the marginals along a change of the scores: both passes again, with relative changes."""
        along_BWW = self._words_first(along_BSS)
        change_BWW, root_change_BW, pivot_change_BW = self._eliminate_changes(along_BWW)
        slope_BWW, root_slope_BW = torch.zeros_like(change_BWW), torch.zeros_like(root_change_BW)
        if self.words:
            root_slope_BW[:, 0] = -root_change_BW[:, 0]
        for k in range(1, self.words):
            step = _Step(self, self.slope_BWW, self.root_slope_BW, k)
            pivot_B = pivot_change_BW[:, k]
            share_BW = change_BWW[:, :k, k] - pivot_B.unsqueeze(1)
            root_share_B = root_change_BW[:, k] - pivot_B
            out_BW = change_BWW[:, k, :k]
            through_BW = _mean(step.through_BWW, slope_BWW[:, :k, :k] + out_BW.unsqueeze(1), 2)
            root_through_B = _mean(step.root_through_BW, root_slope_BW[:, :k] + out_BW, 1)
            used_B = (step.used_BW * (share_BW + through_BW)).sum(1) + step.root_used_B * (
                root_share_B + root_through_B
            )
            into_BW = _relative(step.through_BW, step.into_BW, through_BW, used_B.unsqueeze(1), step.share_BW)
            slope_BWW[:, :k, k] = into_BW - pivot_B.unsqueeze(1)
            each_BWW = torch.cat([step.from_BWW, step.root_from_BW.unsqueeze(1)], dim=1)
            changes_BWW = torch.cat(
                [
                    slope_BWW[:, :k, :k] + share_BW.unsqueeze(2),
                    (root_slope_BW[:, :k] + root_share_B.unsqueeze(1)).unsqueeze(1),
                ],
                dim=1,
            )
            slope_BWW[:, k, :k] = _mean(each_BWW, changes_BWW, 1)
            if self.many:
                root_through_B = _relative(
                    step.root_through_B, step.root_into_B, root_through_B, used_B, step.root_share_B
                )
            root_slope_BW[:, k] = root_through_B - pivot_B
        root_BW = self.root_BW * (along_BWW.diagonal(dim1=1, dim2=2) + root_slope_BW)
        return self._laid_out(self.edge_BWW * (along_BWW + slope_BWW), root_BW)

    def _eliminate_changes(self, along_BWW: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Eliminate again: relative changes of the weights and roots as they were at their step, and of the pivots."""
        edge_BWW, root_BW = self._start()
        change_BWW, root_change_BW = along_BWW.clone(), along_BWW.diagonal(dim1=1, dim2=2).clone()
        pivot_change_BW = torch.zeros_like(root_BW)
        for k in reversed(range(1, self.words)):
            pivot_B = self.pivot_BW[:, k]
            share_BW = (edge_BWW[:, :k, k] - pivot_B.unsqueeze(1)).exp()
            pivot_change_B = (share_BW * change_BWW[:, :k, k]).sum(1)
            if self.many:
                pivot_change_B = pivot_change_B + (root_BW[:, k] - pivot_B).exp() * root_change_BW[:, k]
            pivot_change_BW[:, k] = pivot_change_B
            scaled_BW = edge_BWW[:, k, :k] - pivot_B.unsqueeze(1)
            out_BW = change_BWW[:, k, :k] - pivot_change_B.unsqueeze(1)
            joined_BWW = self._joined(edge_BWW, scaled_BW, k)
            kept_BWW = _quotient(edge_BWW[:, :k, :k], joined_BWW)
            through_BWW = change_BWW[:, :k, k].unsqueeze(2) + out_BW.unsqueeze(1)
            change_BWW[:, :k, :k] = through_BWW + kept_BWW * (change_BWW[:, :k, :k] - through_BWW)
            edge_BWW[:, :k, :k] = joined_BWW
            joined_BW = torch.logaddexp(root_BW[:, :k], root_BW[:, k, None] + scaled_BW)
            kept_BW = _quotient(root_BW[:, :k], joined_BW)
            through_BW = root_change_BW[:, k, None] + out_BW
            root_change_BW[:, :k] = through_BW + kept_BW * (root_change_BW[:, :k] - through_BW)
            root_BW[:, :k] = joined_BW
        return change_BWW, root_change_BW, pivot_change_BW


class _Step:
    """The reverse pass at word k, in logarithms: from the slopes of the words before k to those of its own weights.

    With shares `w_i = A_ik / p` and `w_r = r_k / p`, and what runs through k to the words j before it,
    `x_i = sum_j slope_ij A_kj`, the slope of `A_ik` is `(x_i + 1 - sum_i w_i x_i - w_r x_r) / p`.
    """

    def __init__(self, elimination: "_Elimination", slope_BWW: Tensor, root_slope_BW: Tensor, k: int) -> None:
        self.pivot_B = elimination.pivot_BW[:, k]
        out_BW = elimination.left_BWW[:, k, :k]
        self.share_BW = elimination.left_BWW[:, :k, k] - self.pivot_B.unsqueeze(1)
        self.root_share_B = elimination.left_root_BW[:, k] - self.pivot_B
        slope_BWW, root_slope_BW = slope_BWW[:, :k, :k], root_slope_BW[:, :k]
        self.through_BWW = slope_BWW + out_BW.unsqueeze(1)
        self.through_BW = self.through_BWW.logsumexp(2)
        self.root_through_BW = root_slope_BW + out_BW
        self.root_through_B = self.root_through_BW.logsumexp(1)
        self.used_BW = (self.share_BW + self.through_BW).exp()
        self.root_used_B = (self.root_share_B + self.root_through_B).exp()
        unused_B = 1 - self.used_BW.sum(1) - self.root_used_B
        self.into_BW = _log_of_sum(self.through_BW, unused_B.unsqueeze(1))
        self.root_into_B = _log_of_sum(self.root_through_B, unused_B)
        self.from_BWW = slope_BWW + self.share_BW.unsqueeze(2)
        self.root_from_BW = root_slope_BW + self.root_share_B.unsqueeze(1)
        self.out_of_BW = torch.logaddexp(self.from_BWW.logsumexp(1), self.root_from_BW)


def _log_of_sum(log_x: Tensor, y: Tensor) -> Tensor:
    """Compute `log(exp(log_x) + y)` for a y that may be negative; a sum that rounding leaves below 0 is 0."""
    large = log_x > 30
    sum_of_small = (log_x.clamp_max(30).exp() + y).clamp_min(0).log()
    return torch.where(large, log_x + torch.log1p(y * (-log_x.clamp_min(30)).exp()), sum_of_small)


def _quotient(part: Tensor, whole: Tensor) -> Tensor:
    """Compute `exp(part - whole)`, where nothing of nothing is 1."""
    return (part - whole).masked_fill(whole == _NEVER, 0.0).exp()


def _mean(log_weights: Tensor, values: Tensor, dim: int) -> Tensor:
    """Average `values` with weights given in logarithms; 0 where all weights are 0."""
    largest = log_weights.amax(dim, keepdim=True)
    weights = (log_weights - largest.masked_fill(largest == _NEVER, 0.0)).exp()
    return (weights * values).sum(dim) / weights.sum(dim).clamp_min(1e-300)


def _relative(log_x: Tensor, log_sum: Tensor, x_change: Tensor, unused_change: Tensor, log_share: Tensor) -> Tensor:
    """Find the relative change of `x + unused`; 0 where rounding left nothing of it and no probability is at stake."""
    reliable = log_share + log_sum > -30
    log_sum = log_sum.masked_fill(~reliable, 0.0)
    change = (log_x.clamp_min(-700) - log_sum).clamp_max(700).exp() * x_change - (-log_sum).exp() * unused_change
    return change.masked_fill(~reliable, 0.0)


def _check(log_BSS: Tensor, pairs_BSS: Tensor, rows: Tensor) -> None:
    wrong_B = ((log_BSS.isnan() | (log_BSS == float("inf"))) & pairs_BSS).flatten(1).any(1)
    if wrong_B.any():
        row = int(rows[wrong_B.nonzero()[0, 0]])
        raise ValueError(f"sentence {row} of the batch has scores of trees that are infinite or not numbers")


def _check_partition(partition_B: Tensor, rows: Tensor) -> None:
    impossible_B = partition_B == _NEVER
    if impossible_B.any():
        row = int(rows[impossible_B.nonzero()[0, 0]])
        raise ValueError(f"the scores of sentence {row} of the batch rule out every tree")
