"""Sums of losses with named fields, and the vectors in which they are added up over batches and devices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nmtcore.model.losses import Losses


@dataclass(frozen=True, kw_only=True)
class UpdateSums:
    """Sums over the batches of one update."""

    objective: float
    """Each term weighted and divided by its count in the whole update."""
    nll: float
    """The translation's negative log-likelihood, without label smoothing."""
    terms: dict[str, float]
    """The sum of each term of the objective, undivided."""

    @staticmethod
    def pack(losses: Losses, objective: Tensor, names: Sequence[str]) -> Tensor:
        """Pack one batch's sums into a vector: float64, without gradient, 2 + `len(names)` entries."""
        return torch.stack([objective.detach().double(), losses.nll_sum.double(), *_term_sums(losses, names)])

    @classmethod
    def unpack(cls, vector: Sequence[float], names: Sequence[str]) -> "UpdateSums":
        """Name the entries of a vector made by `pack`, or of a sum of such vectors."""
        objective, nll, *terms = vector
        return cls(objective=objective, nll=nll, terms=dict(zip(names, terms, strict=True)))


@dataclass(frozen=True, kw_only=True)
class DevSums:
    """Sums over the batches of the dev set."""

    nll: float
    """The translation's negative log-likelihood."""
    terms: dict[str, float]
    """The sum of each term of the objective, without label smoothing."""
    counts: dict[str, float]
    """The number of tokens or words that each term is a sum over."""
    measures: dict[str, float]
    """What components measure, by "{measure}/{name}": sums over what the component's term is a sum over."""

    @staticmethod
    def pack(losses: Losses, counts: Mapping[str, int], names: Sequence[str], measures: Sequence[str] = ()) -> Tensor:
        """Pack one batch's sums into a vector: float64, without gradient, 1 + 2 * `len(names)` + `len(measures)`."""
        numbers = [losses.nll_sum.new_full((), counts.get(name, 0), dtype=torch.float64) for name in names]
        measured = _sums_by_name(losses.measures, measures, losses.nll_sum)
        return torch.stack([losses.nll_sum.double(), *_term_sums(losses, names), *numbers, *measured])

    @classmethod
    def unpack(cls, vector: Sequence[float], names: Sequence[str], measures: Sequence[str] = ()) -> "DevSums":
        """Name the entries of a vector made by `pack`, or of a sum of such vectors."""
        nll, *rest = vector
        terms, counts, measured = rest[: len(names)], rest[len(names) : 2 * len(names)], rest[2 * len(names) :]
        return cls(
            nll=nll,
            terms=dict(zip(names, terms, strict=True)),
            counts=dict(zip(names, counts, strict=True)),
            measures=dict(zip(measures, measured, strict=True)),
        )


def _term_sums(losses: Losses, names: Sequence[str]) -> list[Tensor]:
    return _sums_by_name({part.name: part.sum for part in losses.parts}, names, losses.nll_sum)


def _sums_by_name(sums: Mapping[str, Tensor], names: Sequence[str], scalar: Tensor) -> list[Tensor]:
    """List the sums `names`, float64 without gradient, on the device of `scalar`; 0 for one that the batch lacks."""
    missing = torch.zeros_like(scalar, dtype=torch.float64)
    return [sums[name].detach().double() if name in sums else missing for name in names]
