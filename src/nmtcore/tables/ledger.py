"""The ledger: what our results say about each claim of a paper, from the rows of the tables' frames."""

from collections.abc import Iterable, Sequence
from typing import Any

from nmtcore.tables.cells import MARGIN, Claim, PlannedTable
from nmtcore.tables.query import Frame, Row, rows_by

ANSWERS = ("upheld", "contradicted", "not decided", "not run")
"""The verdicts."""

SINGLE_SEED = "one seed, so that training noise is unknown"
"""Why there is no verdict on a difference of which a system has one seed."""

MARKED = "Systems with a mark of significance are better"
"""What the papers claim by marks in their tables."""

DIRECTIONS = {"gain": "better", "loss": "worse", "no_gain": "not better"}

Judged = dict[str, Any]
"""A row of the ledger: a comparison that a paper makes, and what our results say of it, as plain values."""


def ledger(frames: Iterable[Frame]) -> list[Judged]:
    """Judge the claims about tables."""
    return [
        judge(frame.table, claim, *rows)
        for frame in frames
        for claim, rows in zip(frame.table.claims, rows_by(frame.claims, "claim").values(), strict=True)
    ]


def judge(table: PlannedTable, claim: Claim, ours: Row, *controls: Row) -> Judged:
    """Judge a claim, given the row of its comparison and those of its controls.

    A gain is upheld if the interval of our difference, system minus baseline, is above 0 and contradicted if it is
    below; a loss the other way round. That there is no gain is upheld if the interval is below the claim's margin, and
    contradicted if it is above 0 and not below the margin. An interval that leaves training noise out, since a system
    has one seed, decides nothing. Controls count where a gain is upheld.
    """
    delta, low, high = (ours[key] for key in ("delta", "low", "high"))
    answer, reason = "not run", ours["reason"]
    if delta is not None:
        reason = claim.undecided or reason or ("" if ours["training_noise"] else SINGLE_SEED)
        upheld, contradicted = {
            "gain": (low > 0, high < 0), "loss": (high < 0, low > 0), "no_gain": (high < claim.margin, low > 0),
        }[claim.direction]  # fmt: skip
        answer = "not decided" if reason else "upheld" if upheld else "contradicted" if contradicted else "not decided"
    is_small = answer == "upheld" and claim.direction == "no_gain" and low > 0
    gaining, controlled = _controlled(claim, answer, controls)
    runs = ("", "") if delta is None else (claim.system.runs or "", claim.baseline.runs or "")
    seeds = [len(table.runs[own].seeds) if own else None for own in runs]
    expected = {"gain": (delta or 0) > 0, "loss": (delta or 0) < 0, "no_gain": (delta or 0) < claim.margin}
    return {
        "paper": claim.paper,
        "place": claim.place,
        "claim": claim.says or f"significant gain (p < {claim.level})",
        "says": claim.says or MARKED,
        "claimed": DIRECTIONS[claim.direction] + f" (margin {claim.margin:g})" * (claim.margin != MARGIN),
        "system": ours["row"],
        "baseline": ours["baseline"],
        "dataset": claim.system.tested,
        "system_dataset": claim.system.dataset,
        "baseline_dataset": claim.baseline.dataset,
        **{key: getattr(claim.system, key) for key in ("split", "item", "metric")},
        "published": claim.difference,
        "ours": None if delta is None else [delta, low, high],
        "detectable": ours["detectable"],
        "answer": answer,
        "shown_answer": answer + f": a gain of less than {claim.margin:g}" * is_small,
        "as_claimed": expected[claim.direction],
        "reason": reason,
        "also_by": gaining,
        "controls": controlled,
        **dict(zip(("runs", "baseline_runs", "seeds", "baseline_seeds"), (*runs, *seeds), strict=True)),
        "our_dataset": None if delta is None else claim.system.ours,
        "our_split": None if delta is None else claim.system.test,
    }


def _controlled(claim: Claim, answer: str, controls: Sequence[Row]) -> tuple[list[str], str]:
    """Name the controls that gain like the system; and say which do, which do not, and why nothing is known."""
    if claim.direction != "gain" or not claim.controls:
        return [], "no gain claimed" if claim.direction != "gain" else "no control named"
    if answer != "upheld":
        return [], "no gain to explain"
    gaining, said = [], []
    for row in controls:
        reason = row["reason"] or ("" if row["training_noise"] else SINGLE_SEED)
        if reason:
            said.append(f"not known of {row['row']}: {reason}")
        elif row["low"] > 0:
            gaining.append(row["row"])
            said.append(row["row"])
        else:
            said.append(f"not by {row['row']}")
    return gaining, "; ".join(said)
