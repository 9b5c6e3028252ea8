"""The ledger: what claims of papers compare, as rows of frames, and what our results say about each.

Shapes: B sentences.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nmtcore.evaluation.subsets import FEW
from nmtcore.tables.cells import MARGIN, Cell, Claim, PlannedTable, trained_name
from nmtcore.tables.measures import measure_label
from nmtcore.tables.parts import claimed_part, parts_of
from nmtcore.tables.query import Frame, Results, Row, plain_row, rows_by

ANSWERS = ("upheld", "contradicted", "not decided", "not run")
"""The verdicts."""

SINGLE_SEED = "one seed, so that training noise is unknown"
"""Why there is no verdict on a difference of which a system has one seed."""

MARKED = "Systems with a mark of significance are better"
"""What the papers claim by marks in their tables."""

DIRECTIONS = {"gain": "better", "loss": "worse", "no_gain": "not better"}

Judged = dict[str, Any]
"""A row of the ledger: a comparison that a paper makes, and what our results say of it, as plain values."""


def claim_rows(table: PlannedTable, results: Results) -> Iterator[Row]:
    """Yield what claims compare: of each, the system and then its controls, unless there is a reason not to."""
    for number, claim in enumerate(table.claims):
        pairs = [(claim.system, claim.baseline), *claim.controls]
        for position, (cell, baseline) in enumerate(pairs[:1] if claim.reason else pairs):
            test = claim.system.tested
            row = plain_row(cell) | {"reason": claim.reason or cell.reason}
            yield (row if row["reason"] else _claimed(table, results, cell, baseline)) | {
                **{"claim": number, "control": position - 1 if position else None},
                **{"row": trained_name(cell, test), "baseline": trained_name(baseline, test)},
                "column": "/".join(filter(None, (cell.tested, cell.split, cell.metric))),
                "published": None if position else claim.difference,
            }


def _claimed(table: PlannedTable, results: Results, cell: Cell, baseline: Cell) -> Row:
    """Compare two cells of a claim, or say why nothing is compared; few sentences are compared, with a reason."""
    for compared_cell in (cell, baseline):
        if reason := results.reason(compared_cell):
            return plain_row(cell) | {"reason": reason}
        if not results.is_scored(compared_cell):
            label = measure_label(compared_cell.measure)
            reason = (
                f"{compared_cell.runs or compared_cell.system} has no {label}"
                if compared_cell.metric
                else "there is no score to compare"
            )
            return plain_row(cell) | {"reason": reason}
    if cell.ours != baseline.ours and not results.have_same_test(cell, baseline):
        return plain_row(cell) | {"reason": f"{cell.runs} and {baseline.runs} are not tested on the same sentences"}
    if cell.item is None:
        return results.compared(cell, baseline)
    name, rows_B = claimed_part(parts_of(table, results, cell), cell.item)
    if rows_B is None:
        noun = "subset by length" if table.table_kind == "lengths" else "construction"
        return plain_row(cell) | {"reason": f"{cell.item} is no {noun}"}
    few = f"the subset ({name}) has {len(rows_B):,} of the test's sentences, and fewer than {FEW} are too few"
    if len(rows_B) < 2:
        return plain_row(cell) | {"reason": few}
    return results.compared(cell, baseline, rows_B) | {"reason": few if len(rows_B) < FEW else ""}


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
    seeds = [len(table.runs[name].seeds) if name else None for name in runs]
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
