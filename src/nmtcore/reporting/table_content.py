"""What a kind of table makes of a plan: the blocks of its page, its data, and differences for the ledger of claims."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from nmtcore.config.claims import TrainedSystem, claim_from_json, claim_to_json
from nmtcore.config.planned_tables import ComparedRuns, PlannedClaim, PlannedMinus, PlannedTable
from nmtcore.evaluation.compare import Difference
from nmtcore.evaluation.verdicts import JudgedControl, Verdict, judge_claim
from nmtcore.reporting.claims_page import JudgedClaim, JudgedMinus
from nmtcore.reporting.table import Block


class Undecided(NamedTuple):
    """A difference that decides nothing, and why."""

    difference: Difference
    reason: str


Compared = Difference | Undecided | str
"""A difference, with or without the power to decide, or the reason why there is none."""

Comparer = Callable[[PlannedClaim, ComparedRuns], Compared]
"""Compares, for a claim, some runs: those that decide it, or those with a control in place of the system."""


_KEYS = ("seeds", "baseline_seeds", "runs", "dataset", "split", "baseline_dataset", "baseline_runs", "minus")
"""The fields of a `JudgedClaim` that are plain values."""


def _cannot_compare(claim: PlannedClaim, runs: ComparedRuns) -> Compared:
    return "the table has no scores to compare"


@dataclass(frozen=True, kw_only=True)
class TableContent:
    """The content of a table."""

    blocks: Sequence[Block]
    """Parts of the page, below heading and scale."""
    data: Any
    """All that is shown, as JSON."""
    compare: Comparer = field(default=_cannot_compare)
    """Differences for claims about the table."""


def judged_claims(table: PlannedTable, compare: Comparer) -> list[JudgedClaim]:
    """Judge the claims about a table."""
    return [_judged(table, planned, compare) for planned in table.claims]


def _judged(table: PlannedTable, planned: PlannedClaim, compare: Comparer) -> JudgedClaim:
    claim = claim_from_json(planned.claim)
    runs = planned.compared()
    compared: Compared = planned.reason if runs is None else compare(planned, runs)
    if isinstance(compared, str):
        return JudgedClaim(claim, judge_claim(claim, None, reason=compared))
    compared, reason = compared if isinstance(compared, Undecided) else (compared, "")
    reason = planned.undecided or reason
    controls: dict[TrainedSystem, Difference | str] = {
        claim.controls[int(position)]: why for position, why in planned.control_reasons.items()
    }
    for position in planned.controls:
        result = compare(planned, planned.compared_control(position))
        controls[claim.controls[int(position)]] = result.reason if isinstance(result, Undecided) else result
    verdict = judge_claim(claim, compared, controls=controls, reason=reason)
    seeds = [None if key is None else len(table.runs[key].seeds) for key in (planned.system, planned.baseline)]
    baseline_dataset = None if planned.baseline is None else table.runs[planned.baseline].dataset
    return JudgedClaim(
        claim,
        verdict,
        *seeds,
        runs=planned.system or "",
        dataset=planned.dataset,
        split=planned.split,
        baseline_dataset=baseline_dataset,
        baseline_runs=planned.baseline or "",
        minus=planned.minus and _judged_minus(table, planned.minus),
    )


def _judged_minus(table: PlannedTable, minus: PlannedMinus) -> JudgedMinus:
    seeds = [len(table.runs[key].seeds) for key in (minus.system, minus.baseline)]
    return JudgedMinus(*seeds, runs=minus.system, dataset=minus.dataset, split=minus.split)


def judged_to_json(judged: JudgedClaim) -> dict[str, Any]:
    """Convert a judged claim to plain values, the inverse of `judged_from_json`."""
    verdict = judged.verdict
    return {
        "claim": claim_to_json(judged.claim),
        "answer": verdict.answer,
        "reason": verdict.reason,
        "difference": None if verdict.difference is None else asdict(verdict.difference),
        "controls": [[list(control.trained), control.gains, control.reason] for control in verdict.controls],
        **{key: getattr(judged, key) for key in _KEYS},
    }


def judged_from_json(values: Mapping[str, Any]) -> JudgedClaim:
    """Make a judged claim of plain values."""
    claim = claim_from_json(values["claim"])
    difference = values["difference"]
    if difference is not None:
        difference = Difference(**{**difference, "interval": tuple(difference["interval"])})
    controls = [JudgedControl(TrainedSystem(*trained), *own) for trained, *own in values["controls"]]
    verdict = Verdict(values["answer"], values["reason"], difference, tuple(controls))
    kept = {key: values[key] for key in _KEYS}
    minus = None if kept["minus"] is None else JudgedMinus(*kept["minus"])
    return JudgedClaim(claim, verdict, **{**kept, "minus": minus})
